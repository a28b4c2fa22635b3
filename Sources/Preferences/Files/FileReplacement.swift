import DurableFiles

/// Replaces whole files atomically. Writers take turns: each edits the content that the previous one wrote.
///
/// A writer holds `flock` on the file that it replaces, while that still has the name. So no lock file is needed, and
/// no other name is used. A file that does not exist is created by the first that gets there; the others then edit it.
package struct FileReplacement {
  private let target: String
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
    target = try Self.resolved(path)
    self.isPrivate = isPrivate
    self.patience = patience
  }

  /// Calls `edit` with the file's content, `nil` if there is none, and replaces the file by the result; `nil` changes
  /// nothing. If another process creates or replaces the file meanwhile, `edit` is called again, with that file's
  /// content.
  ///
  /// Owner, permissions and access control list are kept. The new file is durable when this returns, unless this user
  /// cannot read its folder, which then cannot be synced: after a power failure the old file may be back.
  /// - Parameter limit: the largest content that is read or written, in bytes.
  /// - Throws: what `edit` throws, the codes of `RegularFile`, `unwritable`, and `durabilityUnknown`, after which
  ///   the new file is in place. With any other code the old file is.
  package func callAsFunction(
    upTo limit: Int, _ edit: ([UInt8]?) throws(PreferencesError) -> [UInt8]?
  ) throws(PreferencesError) {
    func new(from old: [UInt8]?) throws(PreferencesError) -> [UInt8]? {
      guard let new = try edit(old) else { return nil }
      guard new.count <= limit else {
        throw PreferencesError(.limitExceeded, "the file would have more than \(limit) bytes")
      }
      return new
    }
    let deadline = Deadline(after: patience)
    while true {
      if let (file, status) = try locked(until: deadline) {
        defer { file.unlock() }
        guard let new = try new(from: try RegularFile.read(file, expecting: Int(status.st_size), upTo: limit)) else {
          return
        }
        // Replaced by a program that does not take the lock, for example by Foundation while `edit` ran.
        guard file.hasName(target) else {
          guard deadline.remaining > .zero else { throw taken }
          continue
        }
        return try finish(
          try whole.replace { (fresh) throws(PreferencesError) in
            try fresh.write(new, at: 0)
            try adopt(status, fresh)
            try fresh.synchronize()
          })
      }
      // Also an edit that changes nothing fails if nothing could be written. The dot fails for a file that is in the
      // way.
      guard access(PathName.directory(of: target) + "/.", F_OK) == 0 else {
        throw PreferencesError(.create, target, errno: errno)
      }
      guard let new = try new(from: nil) else { return }
      let isCreated = try createIfAbsent { (file) throws(PreferencesError) in try file.write(new, at: 0) }
      if isCreated { return }
      guard deadline.remaining > .zero else { throw taken }
    }
  }

  /// Creates the file. It is durable when this returns.
  /// - Throws: `unwritable`, also if the path exists; `durabilityUnknown` with the file in place.
  package func create(_ content: RawSpan) throws(PreferencesError) {
    guard try createIfAbsent({ (file) throws(PreferencesError) in try file.write(content, at: 0) }) else {
      throw .system(.unwritable, "it cannot be created", EEXIST)
    }
  }

  /// Creates the file with what `fill` writes to its descriptor. It is durable when this returns.
  ///
  /// - Parameter fill: is called again, with another file, if the system cannot give the first one a name.
  /// - Throws: what `fill` throws; `unwritable`, also if the path exists; `durabilityUnknown` with the file in place.
  package func create(
    filling fill: (Int32) throws(PreferencesError) -> Void
  ) throws(PreferencesError) {
    guard try createIfAbsent({ (file) throws(PreferencesError) in try fill(file.raw) }) else {
      throw .system(.unwritable, "it cannot be created", EEXIST)
    }
  }

  /// Replaces whatever has the name by a file with `content` and `mode` that belongs to this user. A link is replaced
  /// and not followed.
  package static func replace(
    _ path: String, with content: RawSpan, mode: mode_t = 0o600
  ) throws(PreferencesError) {
    try finish(
      try WholeFile<PreferencesError>(path).replace { (file) throws(PreferencesError) in
        try write(content, mode: mode, file)
      }, path)
  }

  /// The error of a file that others keep creating or replacing.
  private var taken: PreferencesError {
    PreferencesError(.unwritable, "another process has been writing it for \(patience.components.seconds) s")
  }

  // MARK: Writing

  private var whole: WholeFile<PreferencesError> { WholeFile(target, mode: isPrivate ? 0o600 : 0o666) }

  /// Creates the file; `false` if it exists.
  private func createIfAbsent(
    _ fill: (Descriptor) throws(PreferencesError) -> Void
  ) throws(PreferencesError) -> Bool {
    var status = stat()
    guard lstat(target, &status) != 0 else { return false }
    let file: Descriptor
    do throws(PreferencesError) {
      file = try whole.create { (file) throws(PreferencesError) in
        if isPrivate { try Self.setMode(0o600, file) }
        try fill(file)
        try file.synchronize()
      }
    } catch {
      guard lstat(target, &status) != 0 else { return false }
      throw error
    }
    try finish(file)
    return true
  }

  private static func write(_ content: RawSpan, mode: mode_t, _ file: Descriptor) throws(PreferencesError) {
    try setMode(mode, file)
    try file.write(content, at: 0)
    try file.synchronize()
  }

  /// Whatever the umask is.
  private static func setMode(_ mode: mode_t, _ file: Descriptor) throws(PreferencesError) {
    guard fchmod(file.raw, mode) == 0 else { throw .system(.unwritable, "its permissions cannot be set", errno) }
  }

  private func finish(_ file: Descriptor) throws(PreferencesError) { try Self.finish(file, target) }

  /// Makes the name durable.
  private static func finish(_ file: Descriptor, _ path: String) throws(PreferencesError) {
    defer { file.unlock() }
    // Skipped in a directory that this user may not read.
    _ = try Descriptor.synchronizeDirectory(PathName.directory(of: path))
  }

  // MARK: The lock

  /// The locked file that has the name; `nil` if there is none.
  private func locked(until deadline: Deadline) throws(PreferencesError) -> (Descriptor, stat)? {
    while true {
      guard let (file, status) = try opened() else { return nil }
      // A writer that was stopped would otherwise stop all others.
      guard try file.lock(until: deadline) else { throw taken }
      if file.hasName(target) { return (file, status) }
      file.unlock()
      guard deadline.remaining > .zero else { throw taken }
    }
  }

  private func opened() throws(PreferencesError) -> (Descriptor, stat)? {
    do {
      let (file, status) = try RegularFile.open(target, isPrivate: isPrivate)
      // Network file systems lock only what is open for writing. Elsewhere, closing such a file would look like a
      // write.
      return file.lockNeedsWriting() ? try RegularFile.open(target, O_RDWR, isPrivate: isPrivate) : (file, status)
    } catch {
      guard error.code == .notFound else { throw error }
      return nil
    }
  }

  private func adopt(_ old: stat, _ file: Descriptor) throws(PreferencesError) {
    let new = try file.status()
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid), fchown(file.raw, old.st_uid, old.st_gid) != 0 {
      throw .system(.unwritable, "its owner cannot be kept", errno)
    }
    try file.keepAccess(of: target, mode: old.st_mode & 0o7777)
  }

  private static func resolved(_ path: String) throws(PreferencesError) -> String {
    if let resolved = PathName.resolved(path) { return resolved }
    var status = stat()
    guard lstat(path, &status) != 0 else { throw PreferencesError(.unwritable, "a link that leads nowhere") }
    return path
  }
}
