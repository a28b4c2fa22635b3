internal import DurableFiles

/// A path and what the file system has there.
struct FilePlace {
  let path: String

  init(_ path: String) { self.path = path }

  /// The directory that contains the file, after following links.
  var directory: FilePlace {
    FilePlace(PathName.directory(of: PathName.resolved(path) ?? path))
  }

  /// Returns `nil` if the file does not exist or cannot be examined.
  func status(followingLinks follows: Bool = true) -> stat? {
    var status = stat()
    return (follows ? stat(path, &status) : lstat(path, &status)) == 0 ? status : nil
  }

  var isOnReadOnlyFileSystem: Bool {
    var status = statvfs()
    return statvfs(path, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
  }

  /// Whether a temporary file exists although no process is replacing the vault: such a process would hold the lock.
  var hasLeftover: Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return false }
    defer { flock(descriptor, LOCK_UN) }
    var locked = stat()
    guard fstat(descriptor, &locked) == 0, let named = status(), named.st_ino == locked.st_ino else { return false }
    return FilePlace(path + ".tmp").status(followingLinks: false) != nil
  }
}
