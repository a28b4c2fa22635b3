internal import CDurableFiles

/// Identifies a file independently of its name.
package struct FileIdentity: Sendable, Hashable {
  package let device: UInt64
  package let inode: UInt64

  /// Identifies the file at `path`; `nil`, with `errno`, if there is none.
  package init?(at path: String, followingLinks follows: Bool = true) {
    var status = stat()
    guard unsafe (follows ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
    self.init(status)
  }

  package init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(status.st_ino)
  }
}

/// The names of files. ``WholeFile`` gives them to new files.
extension Descriptor {
  /// Whether `name` is a name of this file. Does not follow a link.
  package func hasName(_ name: String) -> Bool {
    var named = stat()
    var own = stat()
    return unsafe lstat(name, &named) == 0 && fstat(raw, &own) == 0 && FileIdentity(named) == FileIdentity(own)
  }

  /// Removes `name` if it is a name of this file, and releases the lock. Only the process that holds the lock may
  /// remove the name.
  ///
  /// - Returns: `false`, with `errno`, if the name cannot be removed.
  @discardableResult
  package func discard(_ name: String) -> Bool {
    defer { unlock() }
    return unsafe !hasName(name) || unlink(name) == 0 || errno == ENOENT
  }

  /// Gives this file the access control list of another file, or none if that has none, and then a mode.
  ///
  /// With a list, the bits of the group in a mode are those of the list's mask, and not of the group: without the list,
  /// that mode would let the group in.
  ///
  /// - Parameters:
  ///   - other: the file whose mode this is, at least in part. A link is followed.
  ///   - mode: the new mode.
  /// - Throws: the operations `keepAccessList` and `keepMode`.
  package func keepAccess(of other: String, mode: mode_t) throws(Failure) {
    guard unsafe cfiles_copy_access_list(other, raw) == 0 else { throw Failure(.keepAccessList, path, errno: errno) }
    guard fchmod(raw, mode) == 0 else { throw Failure(.keepMode, path, errno: errno) }
  }

  /// Gives the file that has the name `temporary` its final name.
  ///
  /// - Parameter replaces: whether a file that has the name is replaced; otherwise this fails with `EEXIST`. On a file
  ///   system with neither `RENAME_NOREPLACE` nor links, a file that appears between the check and the rename is
  ///   replaced.
  package static func rename(_ temporary: String, to name: String, replaces: Bool) throws(Failure) {
    if !replaces {
      if unsafe cfiles_rename_noreplace(temporary, name) == 0 { return }
      let error = errno
      // The file system does not support this call, but may support links, which replace nothing either.
      guard error == EINVAL || error == ENOSYS || error == ENOTSUP else {
        throw Failure(.rename, name, errno: error)
      }
      if unsafe link(temporary, name) == 0 {
        unsafe unlink(temporary)
        return
      }
      guard errno != EEXIST, FileIdentity(at: name, followingLinks: false) == nil else {
        throw Failure(.rename, name, errno: EEXIST)
      }
    }
    guard unsafe DurableFiles.rename(temporary, name) == 0 else { throw Failure(.rename, name, errno: errno) }
  }

  /// Makes the names in a directory durable. Syncing takes the permission to read the directory.
  ///
  /// - Returns: `false`, with `errno`, if this user may not read it (`EACCES`): nothing was synced.
  /// - Throws: the operation `synchronizeDirectory`, also if the directory cannot be opened for another reason.
  package static func synchronizeDirectory(_ directory: String) throws(Failure) -> Bool {
    let raw = retrying { unsafe DurableFiles.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard raw >= 0 else {
      guard errno == EACCES else { throw Failure(.synchronizeDirectory, directory, errno: errno) }
      return false
    }
    defer { close(raw) }
    guard retrying({ cfiles_synchronize(raw) }) == 0 else {
      throw Failure(.synchronizeDirectory, directory, errno: errno)
    }
    return true
  }
}
