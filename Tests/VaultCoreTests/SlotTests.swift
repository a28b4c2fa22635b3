import CVaultSodium
import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// The rules of slots, and what unlocking makes of them.
  struct SlotTests {}
}

extension EveryStorage.SlotTests {
  /// A vault that a passphrase of throwaway cost and the raw sample key open, in this order.
  private static func file(passphrases: [String] = ["right"]) throws -> [UInt8] {
    try TemporaryDirectory.with { directory in
      let slots =
        try passphrases.map { NewSlot(try .passphrase($0), cost: .throwaway) } + [NewSlot(.key(.sample()))]
      _ = try Vault.create(in: stored(directory + "/vault.spv"), slots: slots, options: .sample())
      return try VaultBytes.read(directory + "/vault.spv")
    }
  }

  private static func unlock(_ file: [UInt8], passphrase: String) throws -> VaultError.Code? {
    try TemporaryDirectory.with { directory in
      try VaultBytes.write(file, to: directory + "/vault.spv")
      return refusal {
        try Vault.open(in: stored(directory + "/vault.spv"), credential: .passphrase(passphrase)).status()
      }
    }
  }

  struct Cost: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let passes, kibibytes: UInt32

    static let refused = [
      Cost(testDescription: "2 GiB", passes: 1, kibibytes: 2 << 20),
      Cost(testDescription: "4 TiB", passes: 1, kibibytes: .max),
      Cost(testDescription: "4 MiB", passes: 1, kibibytes: 4 << 10),
      Cost(testDescription: "1 KiB below 8 MiB", passes: 1, kibibytes: (8 << 10) - 1),
      Cost(testDescription: "no memory", passes: 1, kibibytes: 0),
      Cost(testDescription: "no passes", passes: 0, kibibytes: 8 << 10),
      Cost(testDescription: "2^32-1 passes", passes: .max, kibibytes: 8 << 10),
      Cost(testDescription: "5 GiB passes", passes: 5, kibibytes: 1 << 20),
      Cost(testDescription: "both at their maximum", passes: .max, kibibytes: .max),
    ]
  }

  @Test(arguments: Cost.refused)
  func `row 9: a cost outside the bounds is refused, also when a raw key unlocks`(cost: Cost) throws {
    var parts = try Parts(Self.file())
    parts.slots[0].store(cost.passes, at: 40)
    parts.slots[0].store(cost.kibibytes, at: 44)

    #expect(try SampleFiles.refusal(opening: parts.file) == .kdfRefused)
    #expect(try Self.unlock(parts.file, passphrase: "right") == .kdfRefused)
  }

  @Test func `row 9: three slots of 4 GiB passes are refused together`() throws {
    var parts = try Parts(Self.file())
    parts.slots[0].store(UInt32(4), at: 40)
    parts.slots[0].store(UInt32(1 << 20), at: 44)
    for id in 1...2 { parts.slots.append(parts.slots[0].renamed(UInt8(id))) }

    #expect(try SampleFiles.refusal(opening: parts.file) == .kdfRefused)
  }

  @Test func `row 9: the bounds of every slot are checked before their sum`() throws {
    var parts = try Parts(Self.file())
    parts.slots[0].store(UInt32(4), at: 40)
    parts.slots[0].store(UInt32(1 << 20), at: 44)
    for id in 1...7 { parts.slots.append(parts.slots[0].renamed(UInt8(id))) }
    parts.slots[8][2] = 1

    #expect(try SampleFiles.refusal(opening: parts.file) == .malformed)
  }

  @Test func `row 11: nine passphrase slots exceed the limit`() throws {
    var parts = try Parts(Self.file())
    for id in 1...8 { parts.slots.append(parts.slots[0].renamed(UInt8(id))) }

    #expect(try SampleFiles.refusal(opening: parts.file) == .limitExceeded)
  }

  @Test func `row 11: eight passphrase slots are within the limit`() throws {
    var parts = try Parts(Self.file())
    for id in 1...7 { parts.slots.append(parts.slots[0].renamed(UInt8(id))) }

    // The slots are accepted; that the manifest does not list them is found after unlocking.
    #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
  }

  @Test(arguments: [1, 2, 3, 200] as [UInt8])
  func `row 12: a slot id that occurs twice is malformed for every kind`(kind: UInt8) throws {
    var parts = try Parts(SampleFiles.snapshot())
    var slot = parts.slots[0]
    slot[0] = kind
    if kind == 1 { slot.store(UInt32(1), at: 40) }
    if kind == 1 { slot.store(UInt32(8 << 10), at: 44) }
    parts.slots.append(slot)

    #expect(try SampleFiles.refusal(opening: parts.file) == .malformed)
  }

  @Test func `row 13: a slot of an unknown kind is skipped, listed and kept by writes`() throws {
    let file = try SampleFiles.snapshot()
    var parts = try Parts(file)
    let holder = try KeyHolder(file)
    var body = try holder.manifestBody(parts)
    let unknown = [200] + [UInt8](repeating: 0, count: 7) + (1...160).map { UInt8($0) }
    parts.slots.append(unknown)
    // The manifest lists the slot behind the first: id, KEK, created, empty label; then the empty extension.
    body.removeLast(4)
    body.store(UInt16(2), at: body.count - (2 + 16 + 32 + 8 + 2 + 5))
    body += Array(unknown[8..<24]) + [UInt8](repeating: 0, count: 32 + 8 + 2 + 4)
    holder.replaceManifest(&parts, padded: KeyHolder.padded(body, step: 1024))

    try SampleFiles.with(parts.file) { vault, path throws in
      try vault.fold()
      #expect(try Parts(VaultBytes.read(path)).slots == parts.slots)
      #expect(try VaultInfo(in: stored(path)).slots.map(\.kind) == [.rawKey, .unknown(200)])
      #expect(try Vault.opened(at: path).text("password") == "s3cret")
    }
  }

  @Test(arguments: ["byte 2", "byte 3"])
  func `row 50a: the zero bytes of a slot of an unknown kind are checked`(field: String) throws {
    var parts = try Parts(SampleFiles.snapshot())
    var slot = parts.slots[0].renamed(1)
    slot[0] = 200
    slot[field == "byte 2" ? 2 : 3] = 1
    parts.slots.append(slot)

    #expect(try SampleFiles.refusal(opening: parts.file) == .malformed)
  }

  @Test(arguments: [
    "scope 2", "epoch of an owner", "group of an owner", "scope 1 with epoch 0", "scope 1 with epoch 2^31",
    "scope 1 without group", "passes of a raw key", "memory of a raw key", "salt of a raw key",
  ])
  func `row 50a: a slot that breaks a rule is malformed`(rule: String) throws {
    var parts = try Parts(SampleFiles.snapshot())
    var slot = parts.slots[0].renamed(1)
    let isGroup = rule.hasPrefix("scope 1")
    if isGroup {
      slot[1] = 1
      slot.store(UInt32(1), at: 4)
      slot[24] = 7
    }
    switch rule {
    case "scope 2": slot[1] = 2
    case "epoch of an owner": slot[4] = 1
    case "group of an owner": slot[39] = 1
    case "scope 1 with epoch 0": slot.store(UInt32(0), at: 4)
    case "scope 1 with epoch 2^31": slot.store(UInt32(1) << 31, at: 4)
    case "scope 1 without group": slot[24] = 0
    case "passes of a raw key": slot[40] = 1
    case "memory of a raw key": slot[44] = 1
    default: slot[63] = 1
    }
    parts.slots.append(slot)

    #expect(try SampleFiles.refusal(opening: parts.file) == .malformed)
  }

  @Test func `row 27: a wrong passphrase is rejected`() throws {
    #expect(try Self.unlock(Self.file(), passphrase: "wrong") == .credentialRejected)
  }

  @Test(arguments: [48, 64, 100, 167])
  func `row 27: the right passphrase with a flipped slot is rejected alike`(offset: Int) throws {
    var parts = try Parts(Self.file())
    parts.slots[0][offset] ^= 1

    #expect(try Self.unlock(parts.file, passphrase: "right") == .credentialRejected)
  }

  @Test func `the second of two passphrases opens the vault`() throws {
    #expect(
      try Self.unlock(Self.file(passphrases: ["right", "also right"]), passphrase: "also right") == nil)
  }

  @Test func `row 62: a box that opens under a second key without that key's tag is rejected`() throws {
    let file = try SampleFiles.snapshot()
    var parts = try Parts(file)
    let snapshot = try MemoryVault(file, key: .sample()).state.snapshot
    let (slot, first, second) = (snapshot.slots[0], try SealingKey.sample(), try SealingKey.sample(from: 1))
    // Nonce and tag as the first key wants them, the box as the second key's secretbox makes it.
    let (_, firstTagKey) = try Self.subkeys(first, slot, snapshot)
    let (secondBoxKey, _) = try Self.subkeys(second, slot, snapshot)
    let nonce = Array(slot.bytes[64..<88])
    var box = [UInt8](repeating: 0, count: 48)
    crypto_secretbox_easy(&box, [UInt8](repeating: 7, count: 32), 32, nonce, secondBoxKey)
    var tag = [UInt8](repeating: 0, count: 32)
    crypto_generichash(&tag, 32, nonce + box, 72, firstTagKey, 32)
    parts.slots[0] = Array(slot.bytes[..<64]) + nonce + tag + box

    #expect(refusal { try MemoryVault(parts.file, key: second) } == .credentialRejected)
    #expect(refusal { try MemoryVault(parts.file, key: first) } == .credentialRejected)
  }

  private static func subkeys(
    _ root: SealingKey, _ slot: StoredSlot, _ snapshot: Snapshot
  ) throws -> ([UInt8], [UInt8]) {
    let sealer = try Sealer()
    let kek = try StoredSlot.kek(from: root, vault: snapshot.vaultID, slot: slot.id, sealer)
    var keys = [UInt8](repeating: 0, count: 64)
    keys.withUnsafeMutableBytes { keys in
      sealer.derive("seal", from: kek, into: keys) {
        Context.slot(vault: snapshot.vaultID, header: slot.bytes.span.bytes.extracting(..<64)).write(to: $0)
      }
    }
    return (Array(keys[..<32]), Array(keys[32...]))
  }

  @Test(arguments: [
    [UInt8](repeating: 0x70, count: 4096), Array("a\u{0}b".utf8), [0xFF, 0xFE, 0x00], [0x20], [0x0A],
  ])
  func `row 71: a passphrase is used byte for byte`(passphrase: [UInt8]) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let slot = NewSlot(.passphrase(try Self.secret(passphrase)), cost: .throwaway)
      _ = try Vault.create(in: stored(path), slots: [slot])

      #expect(try Vault.open(in: stored(path), credential: .passphrase(Self.secret(passphrase))).status().isOwner)
      #expect(
        refusal {
          let nearly = try Self.secret(passphrase.dropLast() + [passphrase.last! ^ 1])
          _ = try Vault.open(in: stored(path), credential: .passphrase(nearly))
        } == .credentialRejected)
    }
  }

  private static func secret(_ bytes: [UInt8]) throws -> SecretBytes {
    try bytes.withUnsafeBytes { bytes in Result { Box(try SecretBytes(copying: bytes)) } }.get().take()
  }

  private final class Box {
    private var bytes: SecretBytes?
    init(_ bytes: consuming SecretBytes) { self.bytes = consume bytes }
    func take() -> SecretBytes { bytes.take()! }
  }

  @Test(arguments: ["", String(repeating: "p", count: 4097)])
  func `an empty or overlong passphrase is invalid`(text: String) {
    #expect(refusal { _ = try Vault.Credential.passphrase(text) } == .invalidPassphrase)
  }

  @Test(arguments: [
    "", "spv-key-1:", "spv-key-1:" + String(repeating: "A", count: 64),
    "spv-key-1:" + String(repeating: "a", count: 63),
    "spv-key-1:" + String(repeating: "a", count: 64) + "\r\n",
  ])
  func `key text in any other form is invalid`(text: String) {
    #expect(refusal { _ = try Vault.Credential.key(text: Array(text.utf8).span.bytes) } == .invalidKeyText)
  }
}

extension [UInt8] {
  /// A slot with another id.
  fileprivate func renamed(_ id: UInt8) -> [UInt8] {
    var slot = self
    slot.replaceSubrange(8..<24, with: [UInt8](repeating: id, count: 16))
    return slot
  }
}
