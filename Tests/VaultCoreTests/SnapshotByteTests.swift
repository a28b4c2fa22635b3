import Testing
import VaultSealing

@testable import VaultCore

/// How a reader handles a snapshot whose bytes were changed by an attacker without a key.
struct SnapshotByteTests {
  @Test func `row 1: a flipped bit anywhere in the snapshot is damaged, or named by its header field`() throws {
    let file = try SampleFiles.snapshot()
    let key = try SealingKey.sample()
    var surprises: [String] = []

    for offset in 0..<(try Parts(file).snapshotCount) {
      let expected: VaultError.Code =
        switch offset {
        case 0..<8: .notAVault
        case 8..<10: .unsupportedVersion
        case 10..<12: .unsupportedFeature
        default: .damaged
        }
      let found = refusal { try MemoryVault(file.flipping(bit: offset % 8, at: offset), key: key) }
      if found != expected { surprises.append("byte \(offset): \(found?.rawValue ?? "opened")") }
    }

    #expect(surprises.isEmpty)
  }

  @Test func `row 2: a flipped bit under a right checksum is refused by the class of its field`() throws {
    let file = try SampleFiles.snapshot()
    let key = try SealingKey.sample()
    let parts = try Parts(file)
    let manifest = 56 + 168
    let section = manifest + parts.manifest.count
    let end = parts.snapshotCount - 32
    var surprises: [String] = []

    for offset in 0..<end {
      // All bits of what is parsed, one of each byte of what is sealed.
      let isSealed = (manifest..<section).contains(offset) || offset >= section + 32
      for bit in isSealed ? [offset % 8] : Array(0..<8) {
        let expected = Self.expected(offset, bit, manifest: manifest, section: section)
        let changed = file.flipping(bit: bit, at: offset).rechecked(count: end + 32)
        let found = refusal { try MemoryVault(changed, key: key) }
        if found != expected {
          surprises.append(
            "byte \(offset) bit \(bit): \(found?.rawValue ?? "opened"), not \(expected.rawValue)")
        }
      }
    }

    #expect(surprises.isEmpty)
  }

  private static func expected(_ offset: Int, _ bit: Int, manifest: Int, section: Int) -> VaultError.Code {
    switch offset {
    case 0..<8: .notAVault
    case 8..<10: .unsupportedVersion
    case 10: bit == 0 ? .tampered : .unsupportedFeature  // the flag of logs is known, and sealed
    case 11: .unsupportedFeature
    // Counts are 1: 65 and more slots, 1025 and more groups exceed a limit.
    case 12: bit < 6 ? .malformed : .limitExceeded
    case 13: .limitExceeded
    case 14: .malformed
    case 15: bit < 2 ? .malformed : .limitExceeded
    case 16..<32: .credentialRejected  // vault id
    case 32: bit == 0 ? .limitExceeded : .tampered  // vault_generation 0
    case 39: bit == 7 ? .limitExceeded : .tampered
    case 33..<39: .tampered
    case 40..<48: .malformed  // manifest_len
    case 48..<56: .damaged  // snapshot_len
    case 56: .credentialRejected  // kind: no slot of the credential's kind is left
    case 57..<64: .malformed  // scope, zero, epoch
    case 64..<80: .credentialRejected  // slot id
    case 80..<120: .malformed  // group id, cost, salt of an owner's raw key
    case 120..<manifest: .credentialRejected
    case manifest..<section: .tampered
    case section..<section + 16: .tampered  // group id
    case section + 16: bit == 0 ? .malformed : .tampered  // epoch 0
    case section + 19: bit == 7 ? .malformed : .tampered  // epoch 2^31
    case section + 17..<section + 19: .tampered
    case section + 20..<section + 32: .malformed  // zero, sealed_len
    default: .tampered
    }
  }

  @Test(arguments: [0, 1, 7])
  func `row 3: a file cut within the magic is not a vault`(count: Int) throws {
    let file = try SampleFiles.snapshot()

    #expect(try SampleFiles.refusal(opening: Array(file[..<count])) == .notAVault)
  }

  @Test func `row 4: a file truncated anywhere else in the snapshot is damaged`() throws {
    let file = try SampleFiles.snapshot()
    let key = try SealingKey.sample()

    let surprises = try (8..<Parts(file).snapshotCount).filter { count in
      refusal { try MemoryVault(Array(file[..<count]), key: key) } != .damaged
    }

    #expect(surprises.isEmpty)
  }

  @Test func `row 4: a truncated file is damaged when it is opened from the disk`() throws {
    let file = try SampleFiles.snapshot()

    #expect(try SampleFiles.refusal(opening: Array(file[..<500])) == .damaged)
  }

  @Test(arguments: [1, 8])
  func `row 5: bytes inserted before a right checksum are malformed`(count: Int) throws {
    let file = try SampleFiles.snapshot()
    let end = try Parts(file).snapshotCount
    var longer = file
    longer.insert(contentsOf: [UInt8](repeating: 0, count: count), at: end - 32)
    longer.store(UInt64(end + count), at: 48)

    #expect(try SampleFiles.refusal(opening: longer.rechecked(count: end + count)) == .malformed)
  }

  @Test(arguments: ["8 less", "8 more", "0", "87", "2^63", "2^64-1", "file size + 1"])
  func `row 5: a wrong snapshot_len is damaged`(length: String) throws {
    var file = try SampleFiles.snapshot()
    let end = try Parts(file).snapshotCount
    let wrong: [String: UInt64] = [
      "8 less": UInt64(end - 8), "8 more": UInt64(end + 8), "0": 0, "87": 87, "2^63": 1 << 63,
      "2^64-1": .max, "file size + 1": UInt64(file.count + 1),
    ]
    file.store(try #require(wrong[length]), at: 48)

    #expect(try SampleFiles.refusal(opening: file) == .damaged)
  }

  @Test(arguments: [0, 2, 0xFFFF] as [UInt16])
  func `row 7: another version is unsupported`(version: UInt16) throws {
    var parts = try Parts(SampleFiles.snapshot())
    parts.head.store(version, at: 8)

    #expect(try SampleFiles.refusal(opening: parts.file) == .unsupportedVersion)
  }

  @Test(arguments: (1..<16).map { 1 << UInt16($0) })
  func `row 7: an unknown feature flag is unsupported`(flags: UInt16) throws {
    var parts = try Parts(SampleFiles.snapshot())
    parts.head.store(flags, at: 10)

    #expect(try SampleFiles.refusal(opening: parts.file) == .unsupportedFeature)
  }

  @Test func `row 7: the version is judged before a broken checksum`() throws {
    var file = try SampleFiles.snapshot()
    file.store(UInt16(2), at: 8)

    #expect(try SampleFiles.refusal(opening: file) == .unsupportedVersion)
  }

  @Test(arguments: [
    ("n_slots", VaultError.Code.limitExceeded), ("n_groups", .limitExceeded), ("manifest_len", .malformed),
    ("sealed_len", .malformed),
  ])
  func `row 8: a count or length at its maximum is refused`(field: String, code: VaultError.Code) throws {
    var parts = try Parts(Parts(SampleFiles.snapshot()).file)
    switch field {
    case "n_slots": parts.head.store(UInt16.max, at: 12)
    case "n_groups": parts.head.store(UInt16.max, at: 14)
    case "manifest_len": parts.head.store(UInt64.max, at: 40)
    default: parts.sections[0].count = .max
    }

    #expect(try SampleFiles.refusal(opening: parts.fileWithHeadAsItIs) == code)
  }

  @Test(arguments: [
    ("65 slots", VaultError.Code.limitExceeded), ("64 slots", .malformed), ("1025 groups", .limitExceeded),
    ("1024 groups", .malformed),
  ])
  func `row 8: a count is compared with its limit before the bytes that remain`(
    field: String, code: VaultError.Code
  ) throws {
    var parts = try Parts(SampleFiles.snapshot())
    let number = UInt16(field.prefix { $0 != " " })!
    parts.head.store(number, at: field.hasSuffix("slots") ? 12 : 14)

    #expect(try SampleFiles.refusal(opening: parts.fileWithHeadAsItIs) == code)
  }

  @Test(arguments: [0, 72, 1088, 1095, 1097] as [UInt64])
  func `row 50a: a sealed_len that is too short or no multiple of 8 is malformed`(count: UInt64) throws {
    var parts = try Parts(SampleFiles.snapshot())
    parts.sections[0].count = count

    #expect(try SampleFiles.refusal(opening: parts.file) == .malformed)
  }

  @Test func `a file longer than the caller's limit is refused before it is read`() throws {
    var limits = Vault.Limits.format
    limits.fileBytes = 2000

    #expect(try SampleFiles.refusal(opening: SampleFiles.snapshot(), limits: limits) == .limitExceeded)
  }

  @Test func `a vault of another key is rejected as a credential`() throws {
    let file = try SampleFiles.snapshot()
    let other = try SealingKey.sample(from: 1)

    #expect(refusal { try MemoryVault(file, key: other) } == .credentialRejected)
  }
}
