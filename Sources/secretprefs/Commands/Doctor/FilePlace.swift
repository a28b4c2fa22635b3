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
}
