extension Descriptor {
  /// Creates `directory` and its missing parents. Their names are durable when this returns, if this user may read the
  /// directories that they are in. One that cannot be completed is removed.
  ///
  /// - Parameter isPrivate: whether what is created has mode 0700. Otherwise the umask of the process decides.
  package static func makeDirectory(_ directory: String, isPrivate: Bool) throws(Failure) {
    var missing: [String] = []
    var path = directory
    while unsafe access(path, F_OK) != 0 {
      let (number, parent) = (errno, PathName.directory(of: path))
      // A parent that is its own child is a working directory that was removed.
      guard number == ENOENT, parent != path else { throw Failure(.makeDirectory, path, errno: number) }
      missing.append(path)
      path = parent
    }
    for directory in missing.reversed() {
      if unsafe mkdir(directory, isPrivate ? 0o700 : 0o777) != 0 {
        guard errno == EEXIST else { throw Failure(.makeDirectory, directory, errno: errno) }
        continue
      }
      do throws(Failure) { try finish(directory, isPrivate: isPrivate) } catch {
        // A later call would take it for complete.
        unsafe rmdir(directory)
        throw error
      }
    }
  }

  private static func finish(_ directory: String, isPrivate: Bool) throws(Failure) {
    // mkdir obeys the umask, which may remove even the owner's rights.
    // Who may write to the parent may have put a link in its place.
    if isPrivate, unsafe fchmodat(AT_FDCWD, directory, 0o700, AT_SYMLINK_NOFOLLOW) != 0 {
      throw Failure(.makeDirectory, directory, errno: errno)
    }
    _ = try synchronizeDirectory(PathName.directory(of: directory))
  }
}
