internal import DurableFiles
internal import VaultSealing

/// The cause of an error that concerns a log.
package struct AuditRefusal: Error { let error: VaultError }

/// The files of one access group's log: their names, and the rules by which they are opened and made
/// (`Docs/Format.md` F.2).
struct AuditFiles {
  private let vault: VaultPath
  let current: VaultPath
  private let options: Vault.Options

  /// - Parameter vault: the path of the vault's file, beside which the log is.
  init(of group: Vault.Identifier, beside vault: VaultPath, _ options: Vault.Options) {
    self.vault = vault
    self.options = options
    current = vault.beside(".audit-\(group)")
  }

  /// A file that was handed over, with the number in its name.
  struct Numbered {
    let number: UInt64
    let path: VaultPath
  }

  /// The path of a handed-over file.
  func handedOver(_ number: UInt64) -> VaultPath {
    let digits = String(number)
    return current.beside("." + String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits)
  }

  /// The files that were handed over, the oldest first.
  func handedOver() throws(VaultError) -> [Numbered] {
    guard let names = directoryNames(current.directory) else { throw .io("\(current.directory): list the directory") }
    let start = PathName.last(of: current.file) + "."
    var found: [Numbered] = []
    for name in names where name.utf8.starts(with: start.utf8) {
      guard let number = UInt64(String(name.dropFirst(start.count))), AuditHeader.files.contains(number) else {
        continue
      }
      let path = handedOver(number)
      // Names with other digits do not belong to the log.
      if PathName.last(of: path.file) == name { found.append(Numbered(number: number, path: path)) }
    }
    return found.sorted { $0.number < $1.number }
  }

  // MARK: Opening

  /// Opens a file of the log; `nil` if there is none.
  func open(_ path: VaultPath, forWriting: Bool) throws(VaultError) -> OpenFile? {
    do throws(VaultError) {
      let flags = (forWriting ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK
      let file = try Descriptor.open(path.file, flags) { number in
        forWriting ? .writing("open", number) : .io("open", number)
      }
      let status = try file.status()
      guard status.st_mode & S_IFMT == S_IFREG else { throw VaultError(.io, "it is not a regular file") }
      let isAlone = status.st_nlink <= 1
      guard try isAlone ? true : isBeingHandedOver(status) else {
        throw VaultError(.hardLinked, "the file has several hard links")
      }
      try path.judge(status)
      return OpenFile(file, status)
    } catch {
      guard error.errno == ENOENT else { throw error }
      return nil
    }
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
  func isSame(_ old: Numbered, _ current: OpenFile) throws(VaultError) -> Bool {
    guard let other = try open(old.path, forWriting: false) else { return false }
    if other.identity == current.identity { return true }
    let (size, otherSize) = (Int(try current.descriptor.status().st_size), Int(try other.descriptor.status().st_size))
    guard size == otherSize, size <= AuditHeader.fileBytes else { return false }
    let image = try FileImage(current.descriptor, 0..<size, limit: size)
    let otherImage = try FileImage(other.descriptor, 0..<size, limit: size)
    return compareBytes(image.span, otherImage.span) == 0
  }

  /// Whether a handed-over file is the current one in the same or an earlier state: its handing over was interrupted,
  /// and perhaps the two names were copied one after the other.
  func isEarlierState(
    _ old: Numbered, of current: OpenFile, _ keys: AuditKeys, _ sealer: Sealer
  ) throws(VaultError) -> Bool {
    if try isSame(old, current) { return true }
    guard let other = try open(old.path, forWriting: false) else { return false }
    let (opened, otherOpened) = (
      try Self.header(current.descriptor, keys, sealer), try Self.header(other.descriptor, keys, sealer)
    )
    guard case .success(let header) = opened, case .success(let otherHeader) = otherOpened,
      header.file == otherHeader.file, otherHeader.count <= header.count
    else { return false }
    let range = AuditHeader.byteCount..<otherHeader.end
    let image = try FileImage(current.descriptor, range, limit: AuditHeader.fileBytes)
    let otherImage = try FileImage(other.descriptor, range, limit: AuditHeader.fileBytes)
    return image.count == range.count && compareBytes(image.span, otherImage.span) == 0
  }

  // MARK: Making

  private var replacement: Replacement { Replacement(path: current, kind: .auditLog) }

  /// Gives `bytes` the name of the current file, durably.
  ///
  /// - Parameter old: the file with that name, whose lock the caller holds; `nil` if there is none.
  /// - Returns: the new file, locked.
  /// - Throws: ``VaultError/Code/alreadyExists`` if another process was faster.
  func make(_ bytes: [UInt8], replacing old: Descriptor?) throws(VaultError) -> OpenFile {
    try current.judgeDirectory()
    if let old { return try replacement.replace(try old.status(), with: bytes) }
    return try replacement.create(bytes, like: try newStatus())
  }

  /// The owner of a new file is the vault's. With the relaxed policy a user who may read the vault may log the reads.
  private func newStatus() throws(VaultError) -> stat? {
    guard var status = try vault.status() else { return nil }
    let isShared = current.policy == .relaxed && status.st_mode & 0o040 != 0
    status.st_mode = isShared ? 0o660 : 0o600
    return status
  }

  /// Gives the current file its name as a file that was handed over, unless it has it.
  func link(_ file: OpenFile, as number: UInt64) throws(VaultError) {
    let path = handedOver(number)
    guard unsafe DurableFiles.link(current.file, path.file) != 0 else { return }
    let failure = VaultError.writing("\(path.file): hand over the log")
    guard failure.errno == EEXIST, try isSame(Numbered(number: number, path: path), file) else { throw failure }
  }

  /// Whether a new file would find its space and its directory.
  func expectRoom(_ count: Int) throws(VaultError) {
    try current.judgeDirectory()
    guard unsafe access(current.directory, W_OK) == 0 else {
      throw .writing("\(current.directory): make a file of the log")
    }
    if let available = availableBytes(current.directory), available < UInt64(count) {
      throw .io("\(current.directory): make a file of the log", ENOSPC)
    }
  }

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
