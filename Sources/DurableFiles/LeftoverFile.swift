/// A file with a ``TemporaryName``, which a killed process has left.
package struct LeftoverFile {
  package let path: String
  /// Whether it is certain that no user has made the file what it is, so that it may be removed.
  package let isCertain: Bool

  /// The leftovers in a directory that no process is writing, by name; none if the directory cannot be read.
  package static func all(in directory: String) -> [LeftoverFile] {
    let names = (PathName.names(in: directory) ?? []).filter(TemporaryName.isForm)
    return names.sorted().compactMap { name in
      examine("\(directory)/\(name)", name) { file, isCertain in
        LeftoverFile(path: file, isCertain: isCertain)
      }
    }
  }

  /// Removes the file if it is still certain. Returns `false`, with `errno`, if it is not, or cannot be removed.
  package func remove() -> Bool {
    Self.examine(path, PathName.last(of: path)) { path, isCertain in
      guard isCertain else {
        errno = EPERM
        return false
      }
      return unsafe unlink(path) == 0
    } ?? false
  }

  /// Calls `body` under the file's lock. `nil` if it is not there any more, or is being written.
  private static func examine<Result>(
    _ path: String, _ name: String, _ body: (_ path: String, _ isCertain: Bool) -> Result
  ) -> Result? {
    var named = stat()
    guard unsafe lstat(path, &named) == 0 else { return nil }
    guard named.st_mode & S_IFMT == S_IFREG else { return body(path, false) }
    let file = retrying { unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
    guard file >= 0 else { return body(path, false) }
    defer { close(file) }
    guard retrying({ flock(file, LOCK_EX | LOCK_NB) }) == 0 || errno != EWOULDBLOCK else { return nil }
    defer { flock(file, LOCK_UN) }
    var opened = stat()
    guard unsafe fstat(file, &opened) == 0, unsafe lstat(path, &named) == 0,
      FileIdentity(opened) == FileIdentity(named)
    else {
      return nil
    }
    let isOwn = TemporaryName.inode(in: name) == UInt64(opened.st_ino) || opened.st_size == 0
    return body(path, isOwn && opened.st_nlink == 1)
  }
}
