package import Preferences
import DurableFiles

/// Replaces whole files atomically. Writers take turns: each edits the content that the previous one wrote.
///
/// The new content is written to a temporary file beside the target, which is also the lock: the process that holds
/// `flock` on it while it still has its name is the writer. So no lock file is needed before the first write, and a
/// writer removes the temporary file of a killed writer.
package struct FileReplacement {
  private let target: String
  private let beside: String
  private let folder: String
  private let isPrivate: Bool
  private let patience: Duration

  /// - Parameters:
  ///   - isPrivate: whether a new file is accessible to this user only, and an existing one that other users can access
  ///     is refused.
  ///   - patience: how long to wait for other writers.
  package init(
    _ path: String, isPrivate: Bool = false, waiting patience: Duration = .seconds(30)
  ) throws(PreferencesError) {
    guard !path.utf8.contains(0) else { throw PreferencesError(.unwritable, "the path contains NUL") }
    // The rename would replace a link, so the link is resolved.
    self.init(target: try Self.resolved(path), isPrivate: isPrivate, waiting: patience)
  }

  private init(target: String, isPrivate: Bool, waiting patience: Duration = .seconds(30)) {
    let folder = PathName.directory(of: target)
    (self.target, self.folder, beside) = (target, folder, "\(folder)/.\(PathName.last(of: target)).new")
    (self.isPrivate, self.patience) = (isPrivate, patience)
  }

  /// Calls `edit` with the file's content, `nil` if there is none, and replaces the file by the result; `nil` changes
  /// nothing.
  ///
  /// Owner, permissions and access control list are kept. The new file is durable when this returns, unless this user cannot read its folder,
  /// which then cannot be synced: after a power failure the old file may be back.
  /// - Parameter limit: the largest content that is read or written, in bytes.
  /// - Throws: what `edit` throws, the codes of `RegularFile`, `unwritable`, and `durabilityUnknown`, after which
  ///   the new file is in place. With any other code the old file is.
  package func callAsFunction(
    upTo limit: Int, _ edit: ([UInt8]?) throws(PreferencesError) -> [UInt8]?
  ) throws(PreferencesError) {
    let file = try locked()
    var isReplaced = false
    defer { if !isReplaced { file.discard(beside) } }

    let old = try content(upTo: limit)
    guard let new = try edit(old?.bytes) else { return }
    guard new.count <= limit else {
      throw PreferencesError(.limitExceeded, "the file would have more than \(limit) bytes")
    }
    try file.write(new, at: 0)
    if let status = old?.status { try adopt(status, file) }
    try rename(file, replaces: true, &isReplaced)
  }

  /// Creates the file. It is durable when this returns.
  /// - Throws: `unwritable`, also if the path exists; `durabilityUnknown` with the file in place.
  package func create(_ content: RawSpan) throws(PreferencesError) {
    let file = try locked()
    var isCreated = false
    defer { if !isCreated { file.discard(beside) } }

    guard access(target, F_OK) != 0 else { throw .system(.unwritable, "it cannot be created", EEXIST) }
    try file.write(content, at: 0)
    try rename(file, replaces: false, &isCreated)
  }

  /// Replaces whatever has the name by a file with `content` that belongs to this user and that no other user can
  /// access. A link is replaced and not followed.
  package static func replacePrivately(_ path: String, with content: RawSpan) throws(PreferencesError) {
    let replacement = FileReplacement(target: path, isPrivate: true)
    let file = try replacement.locked()
    var isReplaced = false
    defer { if !isReplaced { file.discard(replacement.beside) } }
    try file.write(content, at: 0)
    try replacement.rename(file, replaces: true, &isReplaced)
  }

  /// Renames the temporary file to the target, durably.
  private func rename(_ file: Descriptor, replaces: Bool, _ isRenamed: inout Bool) throws(PreferencesError) {
    try file.synchronize()
    try Descriptor.rename(beside, to: target, replaces: replaces)
    isRenamed = true
    // A folder that this user may write to and not read cannot be synced, and never could: that is no failure.
    guard try Descriptor.synchronizeDirectory(folder) || errno == EACCES else {
      throw PreferencesError(.synchronizeDirectory, folder, errno: errno)
    }
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

  /// Creates and locks the temporary file.
  private func locked() throws(PreferencesError) -> Descriptor {
    // Private until it gets the permissions of the file that it replaces.
    let mode: mode_t = isPrivate || access(target, F_OK) == 0 ? 0o600 : 0o666
    let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK
    let deadline = Deadline(after: patience)
    while true {
      if let file = try opened(flags | O_CREAT | O_EXCL, mode, unless: EEXIST) {
        try lock(file, until: deadline)
        if file.hasName(beside) { return file }
      } else if let leftover = try opened(flags, unless: ENOENT) {
        try lock(leftover, until: deadline)
        // If it still has its name, its writer was killed.
        guard leftover.discard(beside) else {
          throw PreferencesError(.unwritable, "what a killed writer has left cannot be removed")
        }
      } else {
        guard access(folder, F_OK) == 0 else { throw unwritable(ENOENT) }
      }
    }
  }

  /// A writer that was stopped would otherwise stop all others.
  private func lock(_ file: Descriptor, until deadline: Deadline) throws(PreferencesError) {
    guard try file.lock(until: deadline) else {
      throw PreferencesError(.unwritable, "another process has been writing it for \(patience.components.seconds) s")
    }
  }

  /// Opens the temporary file; `nil` if this fails with `reason`.
  private func opened(
    _ flags: CInt, _ mode: mode_t = 0, unless reason: CInt
  ) throws(PreferencesError) -> Descriptor? {
    var isExpected = false
    do throws(PreferencesError) {
      return try Descriptor.open(beside, flags, mode: mode) { number in
        isExpected = number == reason
        return unwritable(number)
      }
    } catch {
      guard isExpected else { throw error }
      return nil
    }
  }

  private func unwritable(_ number: CInt) -> PreferencesError {
    .system(.unwritable, "no file can be written beside it", number)
  }

  // MARK: Writing

  private func adopt(_ old: stat, _ file: Descriptor) throws(PreferencesError) {
    let new = try file.status()
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid), fchown(file.raw, old.st_uid, old.st_gid) != 0 {
      throw .system(.unwritable, "its owner cannot be kept", errno)
    }
    // First, because with a list the bits of the group in the mode are those of the list's mask, and not of the group.
    guard file.copyAccessList(of: target) else {
      throw .system(.unwritable, "its access control list cannot be kept", errno)
    }
    guard fchmod(file.raw, old.st_mode & 0o7777) == 0 else {
      throw .system(.unwritable, "its permissions cannot be kept", errno)
    }
  }

  private static func resolved(_ path: String) throws(PreferencesError) -> String {
    if let resolved = PathName.resolved(path) { return resolved }
    var status = stat()
    guard lstat(path, &status) != 0 else { throw PreferencesError(.unwritable, "a link that leads nowhere") }
    return path
  }
}
