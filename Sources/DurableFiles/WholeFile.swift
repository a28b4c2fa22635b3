internal import CDurableFiles

/// Creates or replaces a file that has no name until it is complete. The package writes whole files in no other way.
///
/// A process that is killed leaves nothing, except in the instant between the two calls that replace a file, and on a
/// file system that cannot hold a file without a name. Then it leaves one with a ``TemporaryName``, which
/// `LeftoverFile` finds. No other name is opened, locked or removed (`Docs/Decisions/0052`).
package struct WholeFile<Failure: FileFailure> {
  private let path: String
  private let kind: OwnFile?
  private let mode: mode_t

  /// - Parameters:
  ///   - kind: which of the package's own files this is; `nil` for any other file.
  ///   - mode: the mode of the new file, less the umask, until `prepare` sets it.
  package init(_ path: String, kind: OwnFile? = nil, mode: mode_t = 0o600) {
    self.path = path
    self.kind = kind
    self.mode = mode
  }

  /// Creates the file. Its directory is not synced.
  ///
  /// - Parameter prepare: writes the content and makes it durable, and sets owner and mode. It is called again, with
  ///   another file, if the system cannot give the first one a name.
  /// - Returns: the new file, locked until the caller releases it.
  /// - Throws: what `prepare` throws; the operations `create` and `rename`, the latter with `EEXIST` if the path
  /// exists; the refusal of a name that belongs to a file of this package. There is no new file then.
  package func create(
    _ prepare: (Descriptor<Failure>) throws(Failure) -> Void
  ) throws(Failure) -> Descriptor<Failure> {
    try refuse()
    if let file = try unnamed(prepare) {
      if unsafe cfiles_link_unnamed(file.raw, path) == 0 {
        announce()
        return file
      }
      guard errno != EEXIST else { throw Failure(.rename, path, errno: EEXIST) }
    }
    return try named(replaces: false, prepare)
  }

  /// Makes the end of a write known to programs that watch the directory. They do not wait for a new name, because
  /// other programs fill a file after they have named it.
  private func announce() {
    let file = retrying { unsafe open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
    if file >= 0 { close(file) }
  }

  /// Creates the file or replaces the one that has its name. Its directory is not synced. As ``create(_:)``; after an
  /// error the old file is in place.
  package func replace(
    _ prepare: (Descriptor<Failure>) throws(Failure) -> Void
  ) throws(Failure) -> Descriptor<Failure> {
    try refuse()
    if let file = try unnamed(prepare), let temporary = try temporaryPath(of: file),
      unsafe cfiles_link_unnamed(file.raw, temporary) == 0
    {
      return try rename(file, temporary, replaces: true)
    }
    return try named(replaces: true, prepare)
  }

  private func refuse() throws(Failure) {
    if let reason = OwnFile.objection(to: path, writing: kind) { throw Failure(refusing: path, because: reason) }
  }

  /// A complete file without a name; `nil` if the system provides none.
  private func unnamed(
    _ prepare: (Descriptor<Failure>) throws(Failure) -> Void
  ) throws(Failure) -> Descriptor<Failure>? {
    let raw = retrying { unsafe cfiles_open_unnamed(PathName.directory(of: path), UInt32(mode)) }
    guard raw >= 0, let file = Descriptor<Failure>(above2: raw, path) else { return nil }
    // So that no file with a temporary name is taken for a leftover while it is in use.
    guard try file.tryLock() else { return nil }
    try prepare(file)
    return file
  }

  /// The file under a temporary name. Reports why none can be made.
  private func named(
    replaces: Bool, _ prepare: (Descriptor<Failure>) throws(Failure) -> Void
  ) throws(Failure) -> Descriptor<Failure> {
    guard let first = temporaryPath(of: 0) else { throw Failure(.create, path, errno: errno) }
    let file = try Descriptor<Failure>.open(
      first, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode, named: path
    ) { Failure(.create, path, errno: $0) }
    var temporary = first
    do throws(Failure) {
      guard try file.tryLock() else { throw Failure(.create, path, errno: EBUSY) }
      // Before there is any content, so that what a killed process leaves can be recognized by its inode.
      if let second = try temporaryPath(of: file) {
        try Descriptor<Failure>.rename(first, to: second, replaces: false)
        temporary = second
      }
      try prepare(file)
    } catch {
      file.discard(temporary)
      throw error
    }
    return try rename(file, temporary, replaces: replaces)
  }

  private func rename(
    _ file: Descriptor<Failure>, _ temporary: String, replaces: Bool
  ) throws(Failure) -> Descriptor<Failure> {
    do throws(Failure) { try Descriptor<Failure>.rename(temporary, to: path, replaces: replaces) } catch {
      file.discard(temporary)
      throw error
    }
    return file
  }

  private func temporaryPath(of file: Descriptor<Failure>) throws(Failure) -> String? {
    temporaryPath(of: UInt64(try file.status().st_ino))
  }

  private func temporaryPath(of inode: UInt64) -> String? {
    TemporaryName.make(for: inode).map { PathName.directory(of: path) + "/" + $0 }
  }
}
