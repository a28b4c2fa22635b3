package import DurableFiles

typealias Descriptor = DurableFiles.Descriptor<PreferencesError>

extension PreferencesError: FileFailure {
  // The store adds the path.
  package init(_ operation: FileOperation, _ path: String, errno number: Int32) {
    self =
      switch operation {
      case .create where number == ENOENT:
        PreferencesError(.unwritable, "its folder does not exist", cause: SystemFailure(errno: number))
      case .create: .system(.unwritable, "no file can be written beside it", number)
      case .examine: .system(.unreadable, "cannot be examined", number)
      case .read: .system(.unreadable, "cannot be read", number)
      case .watch: .system(.unreadable, "cannot be watched", number)
      case .watchDirectory: .system(.unreadable, "its folder cannot be watched", number)
      case .lock: .system(.unwritable, "cannot be locked", number)
      case .write, .truncate: .system(.unwritable, "cannot be written", number)
      case .synchronize, .synchronizeData: .system(.unwritable, "cannot be synced", number)
      case .synchronizeDirectory:
        .system(.durabilityUnknown, "it is written, but its folder cannot be synced", number)
      case .makeDirectory: .system(.unwritable, "its folder cannot be created", number)
      case .rename: .system(.unwritable, "cannot be replaced", number)
      case .keepAccessList: .system(.unwritable, "its access control list cannot be kept", number)
      case .keepMode: .system(.unwritable, "its permissions cannot be kept", number)
      }
  }

  package init(refusing path: String, because reason: String) { self.init(.unwritable, reason) }

  static func system(_ code: Code, _ what: String, _ number: Int32) -> PreferencesError {
    PreferencesError(
      code, "\(what) (\(systemText(number)))", cause: code == .unwritable ? SystemFailure(errno: number) : nil)
  }
}

/// The error number of a system call that writes, as the cause of an error. For a watch, ENOSPC is not about a disk.
package struct SystemFailure: Error {
  package let errno: Int32
}
