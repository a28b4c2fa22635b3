package import DurableFiles

/// The descriptors of vaults, marks and the files that replace them.
typealias Descriptor = DurableFiles.Descriptor<VaultError>

extension VaultError: FileFailure {
  package init(_ operation: FileOperation, _ path: String, errno number: Int32) {
    let error: VaultError =
      switch operation {
      case .create where number == ENOENT:
        VaultError(.io, "\(path): the directory \(PathName.directory(of: path)) does not exist", errno: number)
      case .create: .writing("\(path): create the file", number)
      case .examine: .io("\(path): fstat", number)
      case .read: .io("\(path): read", number)
      case .write: .io("\(path): write", number)
      case .truncate: .io("\(path): truncate", number)
      case .lock: .io("\(path): flock", number)
      case .watch, .watchDirectory: .io("\(path): watch", number)
      case .synchronize, .synchronizeDirectory: .io("\(path): fsync", number)
      case .makeDirectory: .writing("\(path): make the directory", number)
      case .synchronizeData: .io("\(path): fdatasync", number)
      case .rename where number == EEXIST: VaultError(.alreadyExists, "\(path): a file already exists at this path")
      case .rename: .writing("\(path): put the new file in place", number)
      case .keepAccessList: .io("\(path): keep the access control list", number)
      case .keepMode: .io("\(path): keep the mode", number)
      }
    self.init(error.code, error.message, errno: error.errno, cause: ErrorSubject.operation(operation, path: path))
  }

  package init(refusing path: String, because reason: String) {
    self.init(.io, "\(path): \(reason): choose a different path", errno: EINVAL)
  }

  /// The error of a failed system call, with the present `errno`, which is read before the text is built.
  package static func io(_ step: @autoclosure () -> String, _ number: Int32 = DurableFiles.errno) -> VaultError {
    VaultError(.io, "\(step()): \(systemText(number))", errno: number)
  }

  /// The error of a failed system call that writes: ``VaultError/Code/readOnly`` if writing is not permitted.
  static func writing(_ step: @autoclosure () -> String, _ number: Int32 = DurableFiles.errno) -> VaultError {
    guard let refusal = refusal(number) else { return .io(step(), number) }
    return VaultError(.readOnly, "\(step()): \(refusal)", errno: number)
  }

  /// Who does not permit writing; `nil` for the number of any other error.
  private static func refusal(_ number: Int32) -> String? {
    switch number {
    case EROFS: "the file system is read-only"
    case EACCES: "this user may not write to the file or its directory"
    case EPERM: "the system forbids it, as for an immutable file or in a directory with the sticky bit"
    default: nil
    }
  }
}

extension VaultError {
  /// The message without the path of a file that is named in front of it.
  func message(without path: String) -> String {
    message.hasPrefix("\(path): ") ? String(message.dropFirst(path.count + 2)) : message
  }

  /// This error as that of an act of which an earlier step has changed something, or may have: all other codes of a
  /// failed write say that nothing has changed.
  ///
  /// - Parameter change: what has changed.
  package func after(_ change: String) -> VaultError {
    VaultError(.durabilityUnknown, "\(message); \(change)", errno: errno, cause: cause ?? self)
  }
}

/// The octal digits of a mode.
package func octal(_ mode: mode_t) -> String { "0" + String(mode & 0o7777, radix: 8) }

extension Descriptor {
  /// Takes the writer lock: `flock` on the vault file itself (`Docs/Format.md` 9.2).
  /// - Throws: ``VaultError/Code/lockTimeout`` after `deadline`.
  func acquireLock(until deadline: Deadline) throws(VaultError) {
    guard try lock(until: deadline) else {
      throw VaultError(.lockTimeout, "another process has held the writer lock for \(deadline.timeout)")
    }
  }
}
