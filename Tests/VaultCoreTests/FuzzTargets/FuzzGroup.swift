import Synchronization
@testable import VaultCore
@testable import VaultSealing

/// A group whose keys and ids are always the same, so that an input means the same in every run.
struct FuzzGroup {
  let key: SealingKey
  let sealer: Sealer
  /// Low enough that short inputs reach them.
  let limits: Vault.Limits

  init() throws {
    let random = RandomSource.repeating
    key = try SealingKey(from: random)
    sealer = try Sealer(random: random)
    var limits = Vault.Limits.format
    (limits.records, limits.valueBytes) = (6, 64)
    self.limits = limits
  }

  /// Reads the body of a section.
  func content(_ body: [UInt8]) throws(VaultError) -> GroupContent {
    // No longer than the body, so that the sanitizer sees what is read behind it.
    let buffer = WipedBuffer(count: max(body.count, 1))
    buffer.bytes.copyBytes(from: body)
    return try GroupContent(
      body: buffer, count: body.count, tag: .zero,
      id: Vault.Identifier([UInt8](repeating: 1, count: Vault.Identifier.count)),
      epoch: ReferenceGroup.epoch, vaultID: .zero, key: key, limits: limits, isLogged: true)
  }
}

extension RandomSource {
  /// The same bytes in every process, one after the other.
  static var repeating: RandomSource {
    let state = Mutex<UInt64>(0)
    return RandomSource { buffer in
      state.withLock { state in
        for index in buffer.indices {
          state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          buffer[index] = UInt8(state >> 56)
        }
      }
    }
  }
}

extension GroupContent {
  /// The body of a section that holds what the group does.
  func section() throws(VaultError) -> [UInt8] {
    try sectionBody(name: name, generation: generation, baseGeneration: baseGeneration, baseTag: baseTag)
  }

  /// Seals the body of the entry that follows; head and check are right.
  func entry(_ body: [UInt8], manifestTag: Vault.Tag, sealer: Sealer) -> [UInt8] {
    let sealed = sealer.sealBody(body.bytes, step: Self.entryStep, with: key, as: entryContext(manifestTag))
    var writer = ByteWriter()
    writer.integer(UInt64(sealed.count + JournalFrame.headCount + JournalFrame.checkCount))
    writer.raw(id)
    writer.raw(sealed)
    writer.raw(ReferenceFrame.hash(writer.bytes[...]))
    return writer.bytes
  }

  /// Opens and reads what ``entry(_:manifestTag:sealer:)`` made.
  func stage(_ entry: [UInt8], manifestTag: Vault.Tag, sealer: Sealer) throws(VaultError) -> Staged {
    let sealed = Array(entry[JournalFrame.headCount..<entry.count - JournalFrame.checkCount])
    return try stage(sealed: sealed.bytes, manifestTag: manifestTag, sealer: sealer)
  }

  /// A change that sets db/`key` to a value that opens.
  func put(
    _ key: String, kind: UInt8 = 2, accessibility: Vault.Accessibility = .whenUnlocked,
    edit: RecordEdit = RecordEdit(), _ value: String, _ sealer: Sealer
  ) throws -> RecordChange {
    let address = RecordAddress(try Vault.Name("db"), try Vault.Name(key))
    let cipher = try cipher(accessibility, sealer)
    let sealed = try cipher.seal(
      Array(value.utf8).span.bytes, ValueKind(rawValue: kind), for: address.name, deviceKey: nil, sealer)
    return RecordChange(address, .put(SealedValue(kind: kind, cipher: cipher, bytes: sealed), keepsClass: false), edit)
  }
}
