internal import DurableFiles
internal import VaultSealing

/// The cause of an error that concerns a log.
package struct AuditRefusal: Error {
  let error: VaultError
  /// Whether an event was written before the error, and may be in the log all the same.
  let mayBeWritten: Bool

  /// Whether what has the name of the log is no file that a program of this package would have left there.
  package var isOfForeignFile: Bool { error.isOfForeignLog }
}

extension VaultError {
  /// Whether a log may have got an event although this error was thrown.
  var mayBeInLog: Bool { (cause as? AuditRefusal)?.mayBeWritten ?? false }

  fileprivate var isOfForeignLog: Bool {
    if case .file = subject { true } else { errno == EACCES }
  }
}

/// The files of one access group's log: their names, and the rules by which they are opened and made
/// (`Docs/Format.md` F.2).
struct AuditFiles {
  private let location: AuditLogLocation
  let current: VaultPath

  init(of group: Vault.Identifier, in location: AuditLogLocation) {
    self.location = location
    current = location.path.beside(".audit-\(group)")
  }

  /// Whether other machines have logs of the same group.
  var areOfOneMachine: Bool { !location.isBesideVault }

  /// A file that was handed over, with the number in its name.
  struct Numbered {
    let number: UInt64
    let path: VaultPath
  }

  /// The path of a handed-over file.
  func handedOver(_ number: UInt64) -> VaultPath {
    current.beside(Self.suffix(number))
  }

  /// The files that were handed over, the oldest first.
  func handedOver() throws(VaultError) -> [Numbered] {
    let start = PathName.last(of: current.file) + "."
    var found: [Numbered] = []
    for name in try Self.names(in: current.directory) where name.utf8.starts(with: start.utf8) {
      guard let number = Self.number(name.dropFirst(start.count)) else { continue }
      found.append(Numbered(number: number, path: handedOver(number)))
    }
    return found.sorted { $0.number < $1.number }
  }

  private static func names(in directory: String) throws(VaultError) -> [String] {
    if let names = PathName.names(in: directory) { return names }
    // A folder for logs is created by the first of them.
    guard errno == ENOENT else { throw .io("\(directory): list the directory") }
    return []
  }

  /// The number that digits behind the name of a log stand for; `nil` for names that do not belong to the log.
  private static func number(_ digits: Substring) -> UInt64? {
    guard let number = UInt64(digits), AuditHeader.files.contains(number), suffix(number) == "." + digits else {
      return nil
    }
    return number
  }

  private static func suffix(_ number: UInt64) -> String {
    let digits = String(number)
    return "." + String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits
  }

  /// The files at a place that have a name of a log, and are not part of the log of one of these groups. Those that
  /// were set aside are the last.
  static func unread(in location: AuditLogLocation, groups: Set<Vault.Identifier>) throws(VaultError)
    -> [UnreadAuditLog]
  {
    let vault = location.path
    let start = PathName.last(of: vault.file) + ".audit-"
    let logs = Set(groups.map(\.description))
    var found: [UnreadAuditLog] = []
    for name in try names(in: vault.directory).sorted() where name.utf8.starts(with: start.utf8) {
      let parts = name.dropFirst(start.count).split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      let isOfGroup = logs.contains(String(parts[0]))
      if isOfGroup, parts.count == 1 || number(parts[1]) != nil { continue }
      found.append(
        UnreadAuditLog(
          path: vault.directory + "/" + name,
          isSetAside: isOfGroup && parts.last?.hasPrefix("aside-") == true))
    }
    return found.filter { !$0.isSetAside } + found.filter(\.isSetAside)
  }

  /// The handed-over file that a new current file continues, and its header if that opens; `nil` if there is none.
  /// Above ``unlikelyNumber`` only a file counts whose header has the number of its name, because a copy under a high
  /// name would leave no numbers for new files.
  func newest(
    _ keys: AuditKeys, _ sealer: Sealer
  ) throws(VaultError) -> (number: UInt64, header: AuditHeader?)? {
    for old in try handedOver().reversed() {
      var header: AuditHeader?
      if let file = try readable(old), case .success(let found) = try Self.header(file.descriptor, keys, sealer) {
        header = found
      }
      if old.number <= Self.unlikelyNumber || header?.file == old.number { return (old.number, header) }
    }
    return nil
  }

  /// No log has so many files.
  private static let unlikelyNumber: UInt64 = 1 << 30

  // MARK: Delivering

  /// The file that has the id under which the log is delivered.
  private var deliveryPath: VaultPath { location.path.beside(".delivered-" + current.file.suffix(32)) }

  /// The id under which the log is delivered; `nil` if there is none, or the file has something else.
  func deliveryID() throws(VaultError) -> String? {
    guard let file = try open(deliveryPath, forWriting: false) else { return nil }
    let count = Vault.Identifier.count * 2
    // One byte more than the line has, so that a longer file is none.
    let image = try FileImage(file.descriptor, 0..<count + 2, limit: Int.max)
    let line = image.span.copy
    guard line.count == count + 1, line.last == UInt8(ascii: "\n") else { return nil }
    let id = String(decoding: line.dropLast(), as: UTF8.self)
    return id.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) } ? id : nil
  }

  /// Replaces the id. The caller holds the lock of the current file.
  /// - Throws: ``VaultError/Code/io`` if what has the name of its file is not an id: it is not ours to replace.
  func setDeliveryID(_ id: String) throws(VaultError) {
    let replacement = Replacement(path: deliveryPath, kind: .auditLog)
    let bytes = Array((id + "\n").utf8)
    let made: OpenFile
    if let old = try deliveryPath.status() {
      guard try deliveryID() != nil else {
        throw VaultError(
          .io, "\(deliveryPath.file) has the name of the file with the id of the log, and has no id: move it away",
          errno: EEXIST)
      }
      made = try replacement.replace(old, with: bytes)
    } else {
      made = try replacement.create(bytes)
    }
    made.descriptor.unlock()
  }

  // MARK: Opening

  /// Opens a file of the log; `nil` if there is none.
  func open(_ path: VaultPath, forWriting: Bool) throws(VaultError) -> OpenFile? {
    do throws(VaultError) {
      let flags = (forWriting ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK
      let file = try Descriptor.open(path.file, flags) { number in
        switch number {
        case ELOOP: VaultError(.io, "it is a symbolic link", cause: ErrorSubject.file)
        case EISDIR, ENXIO, ENODEV: Self.notRegular
        default: forWriting ? .writing("open", number) : .io("open", number)
        }
      }
      let status = try file.status()
      guard status.st_mode & S_IFMT == S_IFREG else { throw Self.notRegular }
      let isAlone = status.st_nlink <= 1
      guard try isAlone ? true : isBeingHandedOver(status) else {
        throw VaultError(.hardLinked, "the file has several hard links", cause: ErrorSubject.file)
      }
      try path.judge(status)
      return OpenFile(file, status)
    } catch {
      guard error.errno == ENOENT else { throw error }
      return nil
    }
  }

  private static var notRegular: VaultError { VaultError(.io, "it is not a regular file", cause: ErrorSubject.file) }

  /// What is at a name of the log, for reading.
  enum Opened {
    case file(OpenFile)
    /// No file that a program of this package would have left there.
    case refused(VaultError)
    case absent
  }

  /// Opens a file for reading.
  /// - Throws: what does not depend on the file, such as a lack of descriptors.
  func opened(_ path: VaultPath) throws(VaultError) -> Opened {
    do throws(VaultError) {
      guard let file = try open(path, forWriting: false) else { return .absent }
      return .file(file)
    } catch {
      guard try path.status() != nil else { return .absent }
      guard error.isOfForeignLog else {
        throw VaultError(
          error.code, "\(path.file): \(error.message(without: path.file))", errno: error.errno, cause: error)
      }
      return .refused(error)
    }
  }

  /// A handed-over file, open for reading; `nil` if none can be read.
  func readable(_ old: Numbered) throws(VaultError) -> OpenFile? {
    guard case .file(let file) = try opened(old.path) else { return nil }
    return file
  }

  /// Whether the file has exactly the two names that it has while it is handed over.
  private func isBeingHandedOver(_ status: stat) throws(VaultError) -> Bool {
    let identity = FileIdentity(status)
    guard status.st_nlink == 2, try current.identity()?.identity == identity else { return false }
    for file in try handedOver() {
      if try file.path.identity()?.identity == identity { return true }
    }
    return false
  }

  /// The header of a file; a refusal if it is none.
  static func header(
    _ file: Descriptor, _ keys: AuditKeys, _ sealer: Sealer
  ) throws(VaultError) -> Result<AuditHeader, AuditHeader.Refusal> {
    let image = try FileImage(file, 0..<AuditHeader.byteCount, limit: AuditHeader.byteCount)
    return try AuditHeader.open(image.span, keys, sealer)
  }

  /// Whether a handed-over file is the current one, whose handing over was interrupted: also as a copy, which has two
  /// files with the same bytes.
  private func isSame(_ other: OpenFile, _ current: OpenFile) throws(VaultError) -> Bool {
    if other.identity == current.identity { return true }
    let (size, otherSize) = (Int(try current.descriptor.status().st_size), Int(try other.descriptor.status().st_size))
    guard size == otherSize, size <= AuditHeader.fileBytes else { return false }
    return try current.descriptor.isEqual(to: other.descriptor, 0..<size)
  }

  /// Whether a handed-over file is the current one in the same or an earlier state: its handing over was interrupted,
  /// and perhaps the two names were copied one after the other.
  func isEarlierState(
    _ old: Numbered, of current: OpenFile, _ keys: AuditKeys, _ sealer: Sealer
  ) throws(VaultError) -> Bool {
    guard let other = try readable(old) else { return false }
    if try isSame(other, current) { return true }
    let (opened, otherOpened) = (
      try Self.header(current.descriptor, keys, sealer), try Self.header(other.descriptor, keys, sealer)
    )
    guard case .success(let header) = opened, case .success(let otherHeader) = otherOpened,
      header.file == otherHeader.file, otherHeader.count <= header.count
    else { return false }
    return try current.descriptor.isEqual(to: other.descriptor, AuditHeader.byteCount..<otherHeader.end)
  }

  // MARK: Making

  /// Refuses a folder that others may write to; creates it unless it is that of a vault in a file.
  func judgeFolder() throws(VaultError) { try location.judgeFolder() }

  private var replacement: Replacement { Replacement(path: current, kind: .auditLog) }

  /// Gives `bytes` the name of the current file, durably.
  ///
  /// - Parameter old: the file with that name, whose lock the caller holds; `nil` if there is none.
  /// - Returns: the new file, locked.
  /// - Throws: ``VaultError/Code/alreadyExists`` if another process was faster.
  func make(_ bytes: [UInt8], replacing old: Descriptor?) throws(VaultError) -> OpenFile {
    try judgeFolder()
    if let old { return try replacement.replace(try old.status(), with: bytes) }
    return try replacement.create(bytes, like: try model())
  }

  /// The owner of a new file is the vault's. Unless the policy is strict, a user who may read the vault may log the
  /// reads.
  private func model() throws(VaultError) -> (path: String, status: stat)? {
    guard var status = try location.vaultStatus() else { return nil }
    let isShared = current.policy != .strict && status.st_mode & 0o040 != 0
    status.st_mode = isShared ? 0o660 : 0o600
    return (location.path.file, status)
  }

  /// Gives the current file its name as a file that was handed over, unless it has it.
  ///
  /// - Parameter isWritten: whether the file will be written once more. A copy that has the name would not get that,
  ///   and is removed: its bytes are those of the current file, in which the log goes on if the link cannot be made.
  func link(_ file: OpenFile, as number: UInt64, isWritten: Bool) throws(VaultError) {
    let path = handedOver(number)
    guard unsafe DurableFiles.link(current.file, path.file) != 0 else { return }
    let failure = VaultError.writing("\(path.file): hand over the log")
    guard failure.errno == EEXIST else { throw failure }
    try expectFree(path, number, for: file)
    guard isWritten, try path.identity()?.identity != file.identity else { return }
    try remove(Numbered(number: number, path: path))
    guard unsafe DurableFiles.link(current.file, path.file) == 0 else {
      throw .writing("\(path.file): hand over the log")
    }
  }

  /// Takes back the name that ``link(_:as:isWritten:)`` gave, if the file is still the current one.
  func removeSecondName(of file: OpenFile, _ number: UInt64) throws(VaultError) {
    let path = handedOver(number)
    guard try current.identity()?.identity == file.identity, try path.identity()?.identity == file.identity else {
      return
    }
    try remove(Numbered(number: number, path: path))
  }

  /// Refuses the name of a handed-over file that another file has.
  private func expectFree(_ path: VaultPath, _ number: UInt64, for file: OpenFile) throws(VaultError) {
    guard try path.status() != nil else { return }
    guard let old = try readable(Numbered(number: number, path: path)), try isSame(old, file) else {
      throw VaultError(
        .io, "\(path.file) is not of the log, and has the name that its file gets when it is handed over: move it away",
        errno: EEXIST)
    }
  }

  /// Whether handing over would find its space, its directory and its name.
  func expectHandOver(of file: OpenFile, as number: UInt64) throws(VaultError) {
    try expectRoom(AuditAppend.reserveBytes + AuditHeader.byteCount)
    try expectFree(handedOver(number), number, for: file)
  }

  /// Whether a new file would find its space and its directory.
  func expectRoom(_ count: Int) throws(VaultError) {
    try judgeFolder()
    guard unsafe access(current.directory, W_OK) == 0 else {
      throw .writing("\(current.directory): make a file of the log")
    }
    if let available = availableBytes(current.directory), available < UInt64(count) {
      throw .io("\(current.directory): make a file of the log", ENOSPC)
    }
  }

  /// Whether a reserve of `count` bytes leaves as much space again, so that the write that is logged finds its own.
  /// `true` if the space is unknown.
  func leavesRoom(besides count: Int) -> Bool {
    availableBytes(current.directory).map { $0 >= 2 * UInt64(count) } ?? true
  }

  /// The warning of a reserve that would not leave enough space.
  var scarcity: VaultError { .io("\(current.file): extend the reserve", ENOSPC) }

  /// Removes a handed-over file.
  func remove(_ file: Numbered) throws(VaultError) {
    guard unsafe unlink(file.path.file) == 0 || errno == ENOENT else {
      throw .writing("\(file.path.file): remove an old file of the log")
    }
  }

  /// Renames a file so that it is no part of the log.
  /// - Returns: the new name.
  func setAside(_ path: VaultPath) throws(VaultError) -> String {
    for number in 1...1_000 {
      let aside = current.beside(".aside-\(number)")
      guard try aside.status() == nil else { continue }
      try Descriptor.rename(path.file, to: aside.file, replaces: false)
      return aside.file
    }
    throw VaultError(.alreadyExists, "1,000 files of the log were set aside already")
  }

  /// Makes the names durable.
  func synchronize() throws(VaultError) {
    guard try current.synchronizeDirectory() else { throw .io("\(current.directory): open the directory") }
  }
}
