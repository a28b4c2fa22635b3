internal import DurableFiles
internal import VaultSealing

/// A secret that an orchestrator mounts into a container, readable by every process in the container.
///
/// Kubernetes and Docker give secrets mode 0644 or 0444, and Kubernetes reaches them through two symbolic links in a
/// directory of mode 1777. A file that others may read counts as such a secret only if all of these conditions hold
/// (`Docs/Decisions/0019-key-files-mounted-by-kubernetes-and-docker.md`):
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
    do throws(VaultError) { return isOne(try opened(path, O_NONBLOCK | O_NOCTTY), at: path) } catch { return false }
  }

  /// Whether `file`, which was opened at `path`, is a mounted secret.
  static func isOne(_ file: Descriptor<VaultError>, at path: String) -> Bool {
    // A file that cannot be examined is not accepted as a mounted secret.
    do throws(VaultError) { return try meetsConditions(file, at: path) } catch { return false }
  }

  private static func meetsConditions(_ file: Descriptor<VaultError>, at path: String) throws(VaultError) -> Bool {
    let folder = try opened(PathName.directory(of: path), O_DIRECTORY)
    let raw = openBeneath(folder.raw, PathName.last(of: path))
    guard raw >= 0 else { return false }
    let found = Descriptor<VaultError>(raw, path)
    let (own, same, place) = (try file.status(), try found.status(), try folder.status())
    defer { extendLifetime((file, folder)) }
    return own.st_dev == same.st_dev && own.st_ino == same.st_ino
      && own.st_mode & S_IFMT == S_IFREG && own.st_uid == 0 && own.st_mode & 0o022 == 0
      && isOnMemoryFileSystem(file.raw) == true && isReadOnly(file.raw)
      && place.st_uid == 0 && (place.st_mode & 0o022 == 0 || isReadOnly(folder.raw))
  }

  private static func opened(_ path: String, _ flags: Int32) throws(VaultError) -> Descriptor<VaultError> {
    try Descriptor.open(path, O_RDONLY | flags) { .io("open \(path)", $0) }
  }

  private static func isReadOnly(_ descriptor: Int32) -> Bool {
    var status = statvfs()
    return fstatvfs(descriptor, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
  }
}
