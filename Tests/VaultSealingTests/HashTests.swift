import Testing
import VaultSealing

// Expected values: Python 3.11, hashlib.blake2b (its own C code, not libsodium), over transcripts built with
// struct.pack("<Q", len(item)) + item.

struct ChecksumTests {
  @Test(arguments: Checksum.table) func `a checksum is unkeyed BLAKE2b of 32 bytes`(_ row: Checksum) {
    #expect(checksumOf(row.bytes) == row.answer)
  }

  private func checksumOf(_ bytes: [UInt8]) -> [UInt8] { array(checksum(bytes.span.bytes)) }
}

struct Checksum: Row {
  let id: String
  let bytes: [UInt8]
  let answer: [UInt8]

  init(_ id: String, _ bytes: [UInt8], _ answer: String) {
    self.id = id
    self.bytes = bytes
    self.answer = hex(answer)
  }

  static let table = [
    Checksum("abc", Array("abc".utf8), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"),
    Checksum("empty", [], "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"),
    Checksum("1 byte", run(1), "03170a2e7597b7b7e3d84c05391d139a62b157e78786d8c082f29dcf4c111314"),
    Checksum(
      "one less than a block", run(127), "f2fe67ff342e21b8f45e8f2e0bcd1d9243245d50ee6c78042e9c491388791c72"),
    Checksum("a block", run(128), "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1"),
    Checksum(
      "one more than a block", run(129), "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9"),
    Checksum("1000 bytes", run(1000), "c636324d47d89f2b2434dc2c994100663fbbaea880ff020fc5de89dd0f77a1ec"),
  ]
}

struct DerivationTests {
  @Test(arguments: Derived.table) func `a derived key is keyed BLAKE2b of the transcript`(_ row: Derived)
    throws
  {
    let sealer = try Sealer()

    #expect(sealer.derived(row.answer.count, row.label, from: try .annex(), row.context) == row.answer)
  }

  @Test func `a derived key object holds the derived bytes`() throws {
    let sealer = try Sealer()
    let key = try SealingKey.annex()

    let derived = try sealer.deriveKey("class-key", from: key) { $0.add(2 as UInt8) }

    #expect(derived.copy == sealer.derived(32, "class-key", from: key) { $0.add(2 as UInt8) })
  }

  @Test func `output lengths separate derivations`() throws {
    let sealer = try Sealer()
    let key = try SealingKey.annex()

    let long = sealer.derived(64, "seal", from: key) { $0.add("value") }
    let short = sealer.derived(32, "seal", from: key) { $0.add("value") }

    #expect(Array(long.prefix(32)) != short)
  }

  @Test func `labels separate derivations`() throws {
    let sealer = try Sealer()
    let key = try SealingKey.annex()

    #expect(sealer.derived(32, "kek", from: key) { _ in } != sealer.derived(32, "seal", from: key) { _ in })
  }

  @Test func `a derivation leaves nothing behind for the next one`() throws {
    let sealer = try Sealer()
    let key = try SealingKey.annex()
    let fresh = try Sealer().derived(32, "seal", from: key) { $0.add("b") }

    _ = sealer.derived(64, "group-key", from: try SealingKey(from: .system)) { $0.add(run(2000)) }

    #expect(sealer.derived(32, "seal", from: key) { $0.add("b") } == fresh)
  }
}

/// `D(n, k, label, items)` with k = 00…1f.
struct Derived: Row {
  let id: String
  let label: StaticString
  let context: Context
  let answer: [UInt8]

  init(_ id: String, _ label: StaticString, _ answer: String, _ context: @escaping Context) {
    self.id = id
    self.label = label
    self.context = context
    self.answer = hex(answer)
  }

  static let table = [
    Derived("16 bytes", "class-key", "79916a534fc412bdaa152f5c3a6fc392") { $0.add(2 as UInt8) },
    Derived("24 bytes", "class-key", "f606212688d71be7bea5233723e0cdb2a6782516f16fb556") {
      $0.add(2 as UInt8)
    },
    Derived("32 bytes", "class-key", "f37acc41570b2fdde007e6ba8edc6e12aa09505a3c5b805750338eebde329993") {
      $0.add(2 as UInt8)
    },
    Derived(
      "64 bytes", "class-key",
      """
      01e0745fc1f4b365ee45d4d28820d657f8ff69d2a28894a77e14dc358f3295bc
      ba867d0efd09d6aa5e5c45bdc9a301aea51156177e5d177f097c9672df6d8261
      """
    ) { $0.add(2 as UInt8) },
    Derived("two items of bytes", "kek", "ca14db7afdd1793113ee73cca8b003f8008abd739e83bfc298e55c5f5a8711f8") {
      $0.add(repeated(0xaa, 16))
      $0.add(repeated(0xbb, 16))
    },
    Derived(
      "an item longer than the transcript's first buffer", "seal",
      """
      70c6482a30a005599a8ffc2d49a725e595e40bdce76c77a8b17073e7b334039f
      d89cfa4ee1466fccf3e9b63b6f8a1133fb775557e2180d39a2a2d46c34b73b5b
      """
    ) { $0.add(run(3000)) },
    Derived(
      "integers of three widths", "seal", "f422e6853dc0310135b47095e8588f6d1e6580458eeef9b29e423f5eee3229b6"
    ) {
      $0.add(7 as UInt8)
      $0.add(0x0102_0304 as UInt32)
      $0.add(0x0102_0304_0506_0708 as UInt64)
    },
    Derived("no item", "seal", "e386117db9f0f87a772e1e8fb7bc7d5d282f400d918a5b81c80b654205aae227") { _ in },
    Derived("one empty item", "seal", "62c299f8f28da4bb51431a61b97840b68765fa3e6eb31777eec53208be4c35fa") {
      $0.add([])
    },
  ]
}
