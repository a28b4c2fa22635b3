internal import DurableFiles
internal import VaultSealing

/// The first bytes of a file of a log (`Docs/Format.md` F.2): whose log it is, and a sealed state.
struct AuditHeader {
  /// The number of the file in its log.
  var file: UInt64 = 1
  /// The number that the first event of the file has or will have.
  var first: UInt64 = 1
  /// The tag of the event before the first; zero if there is none.
  var before = Vault.Tag.zero
  /// The number of the last event.
  var count: UInt64 = 0
  /// The offset behind the last event.
  var end = Self.byteCount
  /// The tag of the last event.
  var last = Vault.Tag.zero
  /// A hash of the boot id under which the header was written.
  var boot = Self.presentBoot
  /// Events up to this number were on the disk.
  var synced: UInt64 = 0
  /// The epoch whose key seals the state.
  var epoch: UInt32

  static let byteCount = 256
  /// The maximum length of a file, in bytes.
  static let fileBytes = 1 << 30
  static let files: Range<UInt64> = 1..<(1 << 31)
  static let numbers: Range<UInt64> = 1..<(1 << 50)
  static let epochs: Range<UInt32> = 1..<(1 << 31)
  static let magic: [UInt8] = [0x89, 0x53, 0x50, 0x4C, 0x0D, 0x0A, 0x1A, 0x0A]
  private static let sealedOffset = 48

  /// Zero if the system has no such id.
  static let presentBoot: Vault.Tag = {
    guard let id = bootIdentifier() else { return .zero }
    let hash = checksum(id.bytes)
    return Vault.Tag(unsafe hash.span.bytes)
  }()

  /// Whether the machine may have been restarted since the header was written, so that the newest bytes may be lost.
  var mayBeRestarted: Bool { boot != Self.presentBoot || boot == .zero }

  /// Whether the event with this number is one of the file, as the header says.
  func counts(_ number: UInt64) -> Bool { first <= number && number <= count }

  /// Whether the header is of the state with this newest event, or of a later one.
  func isAhead(of point: AuditLog.Point) -> Bool { count > point.count || count == point.count && last == point.tag }

  init(epoch: UInt32) { self.epoch = epoch }

  /// The header of a file without events that continues a file with this header.
  init(after old: AuditHeader, epoch: UInt32) {
    self.epoch = epoch
    file = old.file + 1
    first = old.count + 1
    before = old.last
    count = old.count
    last = old.last
    synced = old.count
  }

  /// Why bytes are no header of a group's log.
  struct Refusal: Error {
    let code: AuditFinding.Code
    /// The stated epoch, for ``AuditFinding/Code/laterKey``.
    var epoch: UInt32 = 0
  }

  /// Whether a key of the group opens the state of a header, whatever epoch stands beside it: then no later key has
  /// sealed it.
  static func isKnown(_ bytes: RawSpan, _ keys: AuditKeys, _ sealer: Sealer) throws(VaultError) -> Bool {
    guard bytes.byteCount >= byteCount else { return false }
    for epoch in keys.epochs {
      guard let key = try keys.key(of: epoch, sealer) else { continue }
      sealer.bind(to: .logState(vault: keys.vaultID, group: keys.groupID))
      if sealer.openedBody(bytes.extracting(sealedOffset..<byteCount), with: key) != nil { return true }
    }
    return false
  }

  /// Opens the header of a file of a group's log.
  static func open(
    _ bytes: RawSpan, _ keys: AuditKeys, _ sealer: Sealer
  ) throws(VaultError) -> Result<AuditHeader, Refusal> {
    guard bytes.byteCount >= byteCount else { return .failure(Refusal(code: .noHeader)) }
    let version = bytes.integer(at: 8, UInt16.self)
    let epoch = bytes.integer(at: 12, UInt32.self)
    guard bytes.starts(with: magic), bytes.integer(at: 10, UInt16.self) == 0,
      Vault.Identifier(bytes, at: 16) == keys.vaultID, Vault.Identifier(bytes, at: 32) == keys.groupID, version != 0,
      epochs.contains(epoch)
    else { return .failure(Refusal(code: .badHeader)) }
    // Neither is sealed. No later version seals its state so, and no later key opens with one of these.
    guard version == 1 else {
      return .failure(Refusal(code: try isKnown(bytes, keys, sealer) ? .badHeader : .laterVersion))
    }
    guard epoch <= keys.epoch else {
      let isRaised = try isKnown(bytes, keys, sealer)
      return .failure(isRaised ? Refusal(code: .badHeader) : Refusal(code: .laterKey, epoch: epoch))
    }
    guard let key = try keys.key(of: epoch, sealer) else { return .failure(Refusal(code: .lostKey)) }
    sealer.bind(to: .logState(vault: keys.vaultID, group: keys.groupID))
    guard let body = sealer.openedBody(bytes.extracting(sealedOffset..<byteCount), with: key),
      let header = try AuditHeader(state: body.span, epoch: epoch)
    else { return .failure(Refusal(code: .badHeader)) }
    return .success(header)
  }

  /// `nil` for impossible numbers.
  private init?(state: RawSpan, epoch: UInt32) throws(VaultError) {
    self.epoch = epoch
    var reader = ByteReader(state)
    file = try reader.integer()
    first = try reader.integer()
    before = try reader.tag()
    count = try reader.integer()
    let end = try reader.integer(UInt64.self)
    last = try reader.tag()
    boot = try reader.tag()
    synced = try reader.integer()
    guard Self.files.contains(file), Self.numbers.contains(first), (before == .zero) == (first == 1),
      count < Self.numbers.upperBound, count >= first - 1, synced <= count,
      (UInt64(Self.byteCount)...UInt64(Self.fileBytes)).contains(end), end % 8 == 0,
      count >= first || (last == before && end == Self.byteCount)
    else { return nil }
    self.end = Int(end)
  }

  /// The bytes of the header, sealed with the key of its epoch.
  func bytes(_ keys: AuditKeys, _ key: SealingKey, _ sealer: Sealer) -> [UInt8] {
    var body = ByteWriter()
    body.integer(file)
    body.integer(first)
    body.raw(before)
    body.integer(count)
    body.integer(UInt64(end))
    body.raw(last)
    body.raw(boot)
    body.integer(synced)
    var writer = ByteWriter()
    writer.bytes.reserveCapacity(Self.byteCount)
    writer.raw(Self.magic)
    writer.integer(UInt16(1))
    writer.integer(UInt16(0))
    writer.integer(epoch)
    writer.raw(keys.vaultID)
    writer.raw(keys.groupID)
    sealer.bind(to: .logState(vault: keys.vaultID, group: keys.groupID))
    writer.raw(sealer.seal(body.bytes.bytes, with: key))
    return writer.bytes
  }
}
