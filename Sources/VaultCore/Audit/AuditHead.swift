internal import DurableFiles
internal import VaultSealing

/// The first bytes of a log (`Docs/Format.md` annex F): whose log it is, and the sealed count of its entries.
struct AuditHead {
  /// The number of entries.
  var count: UInt64 = 0
  /// The offset behind the last entry.
  var end = Self.byteCount
  /// The tag of the last entry; zero if there is none.
  var tag = Vault.Tag.zero
  /// The epoch whose key seals the head and the last entry.
  var epoch: UInt32
  /// A hash of the boot id under which the head was written.
  var boot = Self.presentBoot

  static let byteCount = 200
  private static let sealedOffset = 48
  private static let magic: [UInt8] = [0x89, 0x53, 0x50, 0x4C, 0x0D, 0x0A, 0x1A, 0x0A]

  /// Zero if the system has no such id.
  static let presentBoot: Vault.Tag = {
    guard let id = bootIdentifier() else { return .zero }
    let hash = checksum(id.bytes)
    return Vault.Tag(unsafe hash.span.bytes)
  }()

  /// Whether the machine may have been restarted since the head was written, so that the newest bytes may be lost.
  var mayBeRestarted: Bool { boot != Self.presentBoot || boot == .zero }

  init(epoch: UInt32) { self.epoch = epoch }

  /// The epoch that the head of a group's log states; `nil` if the bytes are not such a head.
  static func statedEpoch(of bytes: RawSpan, _ keys: AuditKeys) -> UInt32? {
    guard bytes.byteCount == byteCount, bytes.starts(with: magic), Vault.Identifier(bytes, at: 8) == keys.vaultID,
      Vault.Identifier(bytes, at: 24) == keys.groupID, bytes.integer(at: 44, UInt32.self) == 0
    else { return nil }
    return bytes.integer(at: 40)
  }

  /// Opens the head of a group's log.
  /// - Returns: `nil` if it is the head of a different log, does not verify, or states impossible numbers.
  init?(_ bytes: RawSpan, _ keys: AuditKeys, _ sealer: Sealer) throws(VaultError) {
    guard let epoch = Self.statedEpoch(of: bytes, keys), let key = try keys.key(of: epoch, sealer) else { return nil }
    self.epoch = epoch
    sealer.bind(to: .auditHead(vault: keys.vaultID, group: keys.groupID))
    guard let body = sealer.openedBody(bytes.extracting(Self.sealedOffset..<Self.byteCount), with: key) else {
      return nil
    }
    var reader = ByteReader(body.span)
    count = try reader.integer()
    let end = try reader.integer(UInt64.self)
    tag = try reader.tag()
    boot = try reader.tag()
    guard (UInt64(Self.byteCount)...1 << 50).contains(end), end % 8 == 0, count < 1 << 50 else { return nil }
    self.end = Int(end)
  }

  /// The bytes of the head, sealed with the key of its epoch, which must be the present one.
  func bytes(_ keys: AuditKeys, _ key: SealingKey, _ sealer: Sealer) -> [UInt8] {
    var body = ByteWriter()
    body.integer(count)
    body.integer(UInt64(end))
    body.raw(tag)
    body.raw(boot)
    var writer = ByteWriter()
    writer.bytes.reserveCapacity(Self.byteCount)
    writer.raw(Self.magic)
    writer.raw(keys.vaultID)
    writer.raw(keys.groupID)
    writer.integer(epoch)
    writer.integer(UInt32(0))
    sealer.bind(to: .auditHead(vault: keys.vaultID, group: keys.groupID))
    writer.raw(sealer.seal(body.bytes.bytes, with: key))
    return writer.bytes
  }
}

/// One entry of a log: `length u32 ‖ epoch u32 ‖ number u64 ‖ sealed body`.
struct AuditFrame {
  static let headCount = 16
  /// The least and the greatest length of an entry.
  static let counts = headCount + Sealer.overhead + AuditBody.step...4096

  let count: Int
  let epoch: UInt32
  let tag: Vault.Tag
  let body: AuditBody

  /// Whether the bytes at `offset` may be the start of an entry.
  static func isPlausible(_ bytes: RawSpan, at offset: Int, before end: Int) -> Bool {
    guard offset + headCount <= bytes.byteCount else { return false }
    let count = Int(bytes.integer(at: offset, UInt32.self))
    return counts.contains(count) && count % 8 == 0 && offset + count <= end
  }

  /// Whether the bytes at `offset` may be an entry that is sealed with a later key.
  static func isLater(
    _ file: Descriptor, at offset: Int, before end: Int, than epoch: UInt32
  ) throws(VaultError) -> Bool {
    let image = try FileImage(file, offset..<min(offset + Self.headCount, end), limit: Int.max)
    return isPlausible(image.span, at: 0, before: end - offset) && image.span.integer(at: 4, UInt32.self) > epoch
  }

  /// Reads the entry at `offset` of a log of `end` bytes; `nil` if none opens there.
  init?(
    _ file: Descriptor, at offset: Int, before end: Int, _ keys: AuditKeys, _ sealer: Sealer
  ) throws(VaultError) {
    let image = try FileImage(file, offset..<min(offset + Self.counts.upperBound, end), limit: Int.max)
    guard Self.isPlausible(image.span, at: 0, before: image.count) else { return nil }
    count = Int(image.span.integer(at: 0, UInt32.self))
    epoch = image.span.integer(at: 4)
    let number = image.span.integer(at: 8, UInt64.self)
    guard number < 1 << 50, let key = try keys.key(of: epoch, sealer) else { return nil }
    let sealed = image[Self.headCount..<count]
    tag = Vault.Tag(sealed, at: Sealer.tag.lowerBound)
    do throws(VaultError) {
      let opened = try sealer.openBody(
        sealed, step: AuditBody.step, with: key, as: .audit(vault: keys.vaultID, group: keys.groupID, number: number))
      guard let opened else { return nil }
      body = try AuditBody(opened.buffer.span.extracting(..<opened.count), number: number)
    } catch { return nil }
  }

  /// Appends an entry to `bytes`.
  /// - Returns: its tag.
  static func write(
    _ body: inout ByteWriter, number: UInt64, to bytes: inout ByteWriter, _ keys: AuditKeys, _ key: SealingKey,
    _ sealer: Sealer
  ) -> Vault.Tag {
    let sealed = sealer.sealBody(
      body.bytes.bytes, step: AuditBody.step, with: key,
      as: .audit(vault: keys.vaultID, group: keys.groupID, number: number))
    body.bytes.wipe()
    bytes.integer(UInt32(headCount + sealed.count))
    bytes.integer(keys.epoch)
    bytes.integer(number)
    bytes.raw(sealed)
    return Vault.Tag(sealed.bytes, at: Sealer.tag.lowerBound)
  }
}
