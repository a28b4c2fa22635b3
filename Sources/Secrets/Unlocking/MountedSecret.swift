internal import DurableFiles

/// A secret that an orchestrator mounts into a container, readable by every process in the container.
///
/// Kubernetes and Docker give secrets mode 0644 or 0444, and Kubernetes reaches them through two symbolic links in a
/// directory of mode 1777. A file that others may read counts as such a secret only if all of these conditions hold
/// (`Docs/Decisions/0019-mounted-secrets.md`):
///
/// * the file is a regular file owned by root that neither group nor others may write;
/// * the file is on a file system in memory (tmpfs, ramfs) that is mounted read-only;
/// * links to the file stay within the directory in the path;
/// * that directory is owned by root, and is either read-only, too, or not writable by group and others.
///
/// All checks use the opened files, not names.
package enum MountedSecret {
  /// Whether the file at `path` is a mounted secret.
  package static func isAt(_ path: String) -> Bool {
    let file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return isOne(file, at: path)
  }

  /// Whether `file`, which was opened at `path`, is a mounted secret.
  static func isOne(_ file: Int32, at path: String) -> Bool {
    var (directory, name) = (".", path)
    if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
      (directory, name) = (String(path[...slash]), String(path[path.utf8.index(after: slash)...]))
    }
    let folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return false }
    defer { close(folder) }
    let found = openBeneath(folder, name)
    guard found >= 0 else { return false }
    defer { close(found) }
    guard let own = status(of: file), let same = status(of: found), let place = status(of: folder) else { return false }
    return own.st_dev == same.st_dev && own.st_ino == same.st_ino
      && own.st_mode & S_IFMT == S_IFREG && own.st_uid == 0 && own.st_mode & 0o022 == 0
      && isOnMemoryFileSystem(file) && isReadOnly(file)
      && place.st_uid == 0 && (place.st_mode & 0o022 == 0 || isReadOnly(folder))
  }

  private static func status(of descriptor: Int32) -> stat? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? status : nil
  }

  private static func isReadOnly(_ descriptor: Int32) -> Bool {
    var status = statvfs()
    return fstatvfs(descriptor, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
  }
}
