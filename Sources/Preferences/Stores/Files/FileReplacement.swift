import Glibc

/// Replaces whole files: everybody sees the old or the new content, and of several writers each works on what the one
/// before has left.
///
/// The new content is written to a file beside, which is the lock, too: whoever holds `flock` on it while it still has its
/// name is the writer. So nothing needs to be there before the first write, and what a killed writer leaves is taken away by
/// the next.
package struct FileReplacement {
  private let target: String
  private let beside: String
  private let folder: String
  private let isPrivate: Bool

  /// - Parameter isPrivate: whether nobody but this user may be able to read the file: a new one is created so, and one
  ///   that others may read is refused.
  package init(_ path: String, isPrivate: Bool = false) throws(PreferencesError) {
    guard !path.utf8.contains(0) else { throw PreferencesError(.unwritable, "the path contains NUL") }
    // A link is followed, else it would be replaced by a file.
    let target = try Self.resolved(path)
    let slash = target.lastIndex(of: "/")
    let name = slash.map { target[target.index(after: $0)...] } ?? target[...]
    let folder = slash.map { String(target[...$0]) } ?? "./"
    (self.target, self.folder, beside) = (target, folder, folder + "." + name + ".new")
    self.isPrivate = isPrivate
  }

  /// Calls `edit` with the present file, nil when there is none, and puts in its place what it gives; nil for nothing.
  ///
  /// Permissions and owner stay. The new file is on disk when this returns.
  /// - Parameter limit: the most bytes that are read and written.
  /// - Throws: what `edit` throws, the codes of `RegularFile`, and `unwritable`; the old file is still there then.
  package func callAsFunction(
    upTo limit: Int, _ edit: ([UInt8]?) throws(PreferencesError) -> [UInt8]?
  ) throws(PreferencesError) {
    let descriptor = try locked()
    defer { close(descriptor) }
    var isReplaced = false
    defer { if !isReplaced { unlink(beside) } }

    let old = try content(upTo: limit)
    guard let new = try edit(old?.bytes) else { return }
    guard new.count <= limit else {
      throw PreferencesError(.limitExceeded, "the file would have more than \(limit) bytes")
    }
    try write(new, descriptor)
    if let status = old?.status { try adopt(status, descriptor) }
    guard fsync(descriptor) == 0 else { throw .system(.unwritable, "cannot be synced", errno) }
    guard rename(beside, target) == 0 else { throw .system(.unwritable, "cannot be replaced", errno) }
    isReplaced = true
    try syncFolder()
  }

  private func content(upTo limit: Int) throws(PreferencesError) -> RegularFile.Content? {
    do {
      return try RegularFile.read(target, upTo: limit, isPrivate: isPrivate)
    } catch {
      guard error.code == .notFound else { throw error }
      return nil
    }
  }

  // MARK: The lock

  /// A new file beside that nobody else writes to.
  private func locked() throws(PreferencesError) -> CInt {
    // What replaces a file is nobody else's to read before it has that file's permissions.
    let mode: mode_t = isPrivate || access(target, F_OK) == 0 ? 0o600 : 0o666
    while true {
      let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
      var descriptor = open(beside, flags | O_CREAT | O_EXCL, mode)
      let isNew = descriptor >= 0
      if !isNew, errno == EEXIST { descriptor = open(beside, flags) }
      guard descriptor >= 0 else {
        if errno == ENOENT, access(folder, F_OK) == 0 { continue }
        throw .system(.unwritable, "no file can be written beside it", errno)
      }
      while flock(descriptor, LOCK_EX) != 0 {
        guard errno == EINTR else {
          let error = PreferencesError.system(.unwritable, "cannot be locked", errno)
          close(descriptor)
          throw error
        }
      }
      let isNamed = isBeside(descriptor)
      if isNamed, isNew { return descriptor }
      // Locked, still named and not new: its writer was killed.
      let isStuck = isNamed && unlink(beside) != 0
      close(descriptor)
      if isStuck { throw PreferencesError(.unwritable, "what a killed writer has left cannot be removed") }
    }
  }

  /// Whether the open file still has its name: it loses it when it has become the file, or was given up.
  private func isBeside(_ descriptor: CInt) -> Bool {
    var (opened, named) = (stat(), stat())
    return fstat(descriptor, &opened) == 0 && lstat(beside, &named) == 0
      && (opened.st_dev, opened.st_ino) == (named.st_dev, named.st_ino)
  }

  // MARK: Writing

  private func write(_ bytes: [UInt8], _ descriptor: CInt) throws(PreferencesError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR { continue }
        throw .system(.unwritable, "cannot be written", errno)
      }
      rest = rest.dropFirst(count)
    }
  }

  private func adopt(_ old: stat, _ descriptor: CInt) throws(PreferencesError) {
    var new = stat()
    guard fstat(descriptor, &new) == 0 else { throw .system(.unwritable, "cannot be examined", errno) }
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid), fchown(descriptor, old.st_uid, old.st_gid) != 0 {
      throw .system(.unwritable, "its owner cannot be kept", errno)
    }
    guard fchmod(descriptor, old.st_mode & 0o7777) == 0 else {
      throw .system(.unwritable, "its permissions cannot be kept", errno)
    }
  }

  private func syncFolder() throws(PreferencesError) {
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    guard descriptor >= 0 else { throw .system(.unwritable, "its folder cannot be opened", errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .system(.unwritable, "its folder cannot be synced", errno) }
  }

  private static func resolved(_ path: String) throws(PreferencesError) -> String {
    if let resolved = realpath(path, nil) {
      defer { free(resolved) }
      return String(cString: resolved)
    }
    var status = stat()
    guard lstat(path, &status) != 0 else { throw PreferencesError(.unwritable, "a link that leads nowhere") }
    return path
  }
}
