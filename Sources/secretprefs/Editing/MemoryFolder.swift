internal import DurableFiles
internal import FoundationEssentials
internal import VaultCore
internal import VaultSealing

/// A new directory in memory that only this user can open. Removed with everything in it, also what an editor has
/// written beside its file; if this process fails to do so, ``removeAbandoned()`` does.
final class MemoryFolder {
  private static let prefix = "secretprefs-files-"
  private static let keptPrefix = "secretprefs-kept-"
  private static let fileName = "value"

  private let path: String
  // Locked as long as the directory is in use.
  private let folder: Descriptor<VaultError>
  private var isKept = false

  /// Creates the directory in `$XDG_RUNTIME_DIR`, or else in `/dev/shm`: the first that is on a file system in memory,
  /// and in which no other user can exchange it. After `su`, the variable may name the directory of another user.
  ///
  /// - Parameter purpose: what it is for, in errors.
  init(_ purpose: String) throws {
    Self.removeAbandoned()
    let made = try Self.make(in: try Self.place(for: purpose), purpose)
    path = made.path
    folder = made.folder
  }

  private static var candidates: [String] {
    let runtime = getenv("XDG_RUNTIME_DIR").flatMap { String(validatingCString: $0) }
    return [runtime, "/dev/shm"].compactMap(\.self).filter { $0.hasPrefix("/") }
  }

  /// Where directories may be.
  private static var places: [String] {
    candidates.compactMap { path -> String? in
      do throws(VaultError) { return try examined(path) } catch { return nil }
    }
  }

  /// The first place in which this user can make a directory.
  ///
  /// - Throws: why the first one that exists cannot be examined or written to.
  private static func place(for purpose: String) throws -> String {
    var failure: VaultError?
    for path in candidates {
      do throws(VaultError) {
        guard let place = try examined(path) else { continue }
        guard access(place, W_OK | X_OK) == 0 else { throw .io("\(place): write to the directory") }
        return place
      } catch { failure = failure ?? error }
    }
    let cause = failure.map { ": \($0.message)" } ?? ""
    let error = VaultError(.io, "there is no directory in memory for \(purpose)\(cause)", errno: failure?.errno)
    // No other directory helps a process that cannot look at one.
    guard failure == nil || [EACCES, EROFS].contains(failure?.errno) else { throw error }
    throw ToolError(
      error,
      hint: "mount a tmpfs on /dev/shm, or name a directory of this user on one with XDG_RUNTIME_DIR; nothing is "
        + "written to a disk"
    )
  }

  /// The path without links; `nil` if there is no directory in memory that no other user can exchange.
  ///
  /// - Throws: why it cannot be examined.
  private static func examined(_ path: String) throws(VaultError) -> String? {
    guard let place = PathName.resolved(path) else {
      guard [ENOENT, ENOTDIR].contains(errno) else { throw .io("\(path): find the directory") }
      return nil
    }
    return try isInMemory(place) && isSafe(place) ? place : nil
  }

  /// Removes the directories of processes that were killed and whose commands have ended.
  static func removeAbandoned() { for place in places { removeAbandoned(in: place) } }

  /// The path of the file of ``add(_:named:)`` without a name.
  var file: String { path + "/" + Self.fileName }

  /// Makes room for a content of this many bytes in the file of ``add(_:named:)`` without a name, so that the file
  /// system is full now, if it is, and not when the content is there.
  func reserve(_ count: Int) throws {
    try [UInt8](repeating: 0, count: count).withUnsafeBytes { _ = try add($0) }
  }

  /// Writes a file that only this user can open. A file with the name gets this content.
  /// - Returns: its path.
  @discardableResult
  func add(_ content: UnsafeRawBufferPointer, named name: String = fileName) throws(VaultError) -> String {
    let path = path + "/" + name
    let file = try Descriptor<VaultError>.open(path, O_WRONLY | O_CREAT | O_NOFOLLOW, mode: 0o600) {
      .io("\(path): create the file", $0)
    }
    try file.write(content.bytes, at: 0)
    try file.truncate(to: content.count)
    return path
  }

  /// Lets the programs that this process starts inherit the lock: the directory is not taken for abandoned before they
  /// have ended.
  func shareLock() { _ = fcntl(folder.raw, F_SETFD, 0) }

  /// Creates a directory. It is locked before it has the name by which it would be taken for abandoned.
  private static func make(
    in place: String, _ purpose: String
  ) throws(VaultError) -> (path: String, folder: Descriptor<VaultError>) {
    var template = Array("\(place)/\(prefix)\(getuid())-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw VaultError.io("\(place): create a directory for \(purpose)") }
    let first = String(cString: made)
    do throws(VaultError) {
      let folder = try open(first)
      guard try folder.tryLock() else { throw VaultError(.io, "\(first): the directory is in use") }
      let path = first + "-" + String(try folder.status().st_ino, radix: 16)
      try Descriptor<VaultError>.rename(first, to: path, replaces: false)
      return (path, folder)
    } catch {
      rmdir(first)
      throw error
    }
  }

  deinit { if !isKept { Self.remove(path) } }

  /// The names in the directory, or that of the file if they cannot be read. An editor that is killed, or replaces the
  /// file by a link, leaves text under names of its own.
  var names: [String] { PathName.names(in: path) ?? [Self.fileName] }

  /// Keeps the directory under a name that no later use removes.
  /// - Returns: the path of the directory.
  private func keep() -> String {
    isKept = true
    let slash = path.utf8.count - PathName.last(of: path).utf8.count
    let kept = path.prefix(slash) + Self.keptPrefix + PathName.last(of: path).dropFirst(Self.prefix.count)
    do throws(VaultError) { try Descriptor<VaultError>.rename(path, to: String(kept), replaces: false) } catch {
      return path
    }
    return String(kept)
  }

  /// Leaves the directory to ``removeAbandoned()``, because a program that has inherited the lock may still use it.
  func leave() { isKept = true }

  /// Keeps the directory, and warns where it is, or where its file is if it has no other, and that the user removes it.
  ///
  /// - Parameter what: what it has, at the beginning of the message.
  /// - Returns: the path of the file.
  @discardableResult
  func keep(_ what: String, _ messages: Messages) -> String {
    let isSole = names == [Self.fileName]
    let kept = keep()
    let file = kept + "/" + Self.fileName
    messages.warn("\(what) is kept in memory, in \(displayed(isSole ? file : kept)); \(Self.removal(of: kept))")
    return file
  }

  /// Tells which directories of this user were kept and are not removed yet.
  static func noteKept(_ messages: Messages) {
    for folder in places.flatMap({ kept(in: $0) }) {
      messages.note("what could not be saved is kept in memory, in \(displayed(folder)); \(removal(of: folder))")
    }
  }

  /// The directories of this user in `place` that ``keep(_:_:)`` has kept. Any user can make one of such a name.
  private static func kept(in place: String) -> [String] {
    let names = (PathName.names(in: place) ?? []).filter { $0.hasPrefix("\(keptPrefix)\(getuid())-") }
    return names.sorted().map { place + "/" + $0 }.filter { path in
      ExaminedPath(path).status(followingLinks: false).map { $0.st_mode & S_IFMT == S_IFDIR && $0.st_uid == getuid() }
        ?? false
    }
  }

  private static func removal(of folder: String) -> String {
    "when you are done with it, remove it: rm -r \(shellPath(folder))"
  }

  /// Reads the file. An editor may have replaced it by a new file.
  func content() throws -> SecretBytes {
    let descriptor = try Descriptor<VaultError>.open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) {
      .io("open the edited file", $0)
    }
    defer { extendLifetime(descriptor) }
    guard try descriptor.status().st_mode & S_IFMT == S_IFREG else {
      throw VaultError(.io, "the edited file is not a regular file")
    }
    return try ValueReader.read(descriptor.raw, atMost: ValueReader.longest, "read the edited file")
  }

  /// Removes the directories of this user whose process was killed, which are not locked.
  private static func removeAbandoned(in place: String) {
    // Best effort: the new directory does not depend on the others. Any user can make one that does not open.
    for name in PathName.names(in: place) ?? [] {
      guard let inode = Self.inode(in: name) else { continue }
      let path = place + "/" + name
      do {
        let folder = try open(path)
        if try isOwn(folder, inode), try folder.tryLock() { remove(path) }
      } catch {}
    }
  }

  /// The inode in the name of a directory that ``init(_:)`` has made; `nil` for a name of a different form. A directory
  /// of a user that happens to have such a name, and a copy, have another inode.
  private static func inode(in name: String) -> UInt64? {
    let own = "\(prefix)\(getuid())-"
    guard name.hasPrefix(own) else { return nil }
    let parts = name.dropFirst(own.count).split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count == 6, let inode = UInt64(parts[1], radix: 16) else { return nil }
    return String(inode, radix: 16) == parts[1] ? inode : nil
  }

  private static func open(_ path: String) throws(VaultError) -> Descriptor<VaultError> {
    try .open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) { .io("\(path): open the directory", $0) }
  }

  private static func isOwn(_ folder: Descriptor<VaultError>, _ inode: UInt64) throws(VaultError) -> Bool {
    let status = try folder.status()
    return UInt64(status.st_ino) == inode && status.st_uid == getuid() && status.st_mode & 0o077 == 0
  }

  private static func isInMemory(_ path: String) throws(VaultError) -> Bool {
    guard let status = ExaminedPath(path).status(), status.st_mode & S_IFMT == S_IFDIR else { return false }
    let folder = try open(path)
    defer { extendLifetime(folder) }
    guard let isInMemory = isOnMemoryFileSystem(folder.raw) else { throw .io("\(path): examine the file system") }
    return isInMemory
  }

  /// Whether only this user and root can rename what is in a directory, or exchange the directory.
  ///
  /// - Parameter path: Without links.
  private static func isSafe(_ path: String) -> Bool {
    var path = path
    while true {
      guard let status = ExaminedPath(path).status(), [0, getuid()].contains(status.st_uid),
        status.st_mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0
      else { return false }
      guard path != "/" else { return true }
      path = PathName.directory(of: path)
    }
  }

  private static func remove(_ path: String) {
    do { try FileManager.default.removeItem(atPath: path) } catch {}  // the next use tries again
  }
}
