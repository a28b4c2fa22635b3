internal import DurableFiles
internal import VaultCore

/// A path and what the file system has there.
struct ExaminedPath {
  let path: String

  init(_ path: String) { self.path = path }

  /// The directory that contains the file, after following links.
  var directory: ExaminedPath {
    ExaminedPath(PathName.directory(of: PathName.resolved(path) ?? path))
  }

  /// Returns `nil` if the file does not exist or cannot be examined.
  func status(followingLinks follows: Bool = true) -> stat? {
    var status = stat()
    return (follows ? stat(path, &status) : lstat(path, &status)) == 0 ? status : nil
  }

  /// Whether the modes are those of a vault that a Unix group shares (`PathPolicy.sharedWithGroup`).
  var isSharedVault: Bool {
    guard let file = status(followingLinks: false), let directory = directory.status() else { return false }
    return file.st_mode & S_IFMT == S_IFREG && file.st_mode & 0o067 == 0o060 && file.st_gid == directory.st_gid
      && directory.st_mode & 0o022 == 0o020
  }

  /// The first bytes of a file; `nil` if it cannot be read. Does not wait for the other end of a FIFO.
  func start(_ count: Int) -> [UInt8]? {
    do throws(VaultError) {
      let file = try Descriptor<VaultError>.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY) { .io("\(path): open", $0) }
      defer { extendLifetime(file) }
      var bytes = [UInt8](repeating: 0, count: count)
      let found = pread(file.raw, &bytes, count, 0)
      return found >= 0 ? Array(bytes.prefix(found)) : nil
    } catch { return nil }
  }

  /// Whether this user may write to it.
  var isWritable: Bool { access(path, W_OK) == 0 }

  /// Whether something is mounted at this path, which is not a link: a file there cannot be replaced.
  var isMountPoint: Bool { DurableFiles.isMountPoint(PathName.last(of: path), in: directory.path) }

  var isOnReadOnlyFileSystem: Bool {
    var status = statvfs()
    return statvfs(path, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
  }
}
