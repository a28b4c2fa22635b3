import Testing
import VaultSealing

/// The vectors of `Docs/Format.md` Annex A, with k = 00…1f.
struct AnnexTests {
  private let sealer: Sealer
  private let key: SealingKey

  init() throws {
    sealer = try Sealer(random: .zero)
    key = try .annex()
  }

  @Test func `row 72: the transcript has the annex's bytes`() {
    // The bytes are seen through the hash: B(32, k, T), T copied from the annex,
    // 0900000000000000535056312f7365616c050000000000000076616c7565020000000000000064620000000000000000,
    // computed with Python's hashlib.blake2b.
    let derived = sealer.derived(32, "seal", from: key) {
      $0.add("value")
      $0.add("db")
      $0.add("")
    }

    #expect(derived == hex("cad972e4a188d7582871b2d3de2e48619a09e78f59a99ea439201da5b9a18c7b"))
  }

  @Test func `row 72: a group key is the annex's`() {
    let derived = sealer.derived(32, "group-key", from: key) {
      $0.add(repeated(0, 16))
      $0.add(1 as UInt32)
    }

    #expect(derived == hex("3a2bd735f904f104e94ac5f4ea13b3f31da583b7c04c74791ec7478690577bfb"))
  }

  @Test func `row 72: the subkeys of a seal are the annex's`() {
    let derived = sealer.derived(64, "seal", from: key) {
      $0.add("value")
      $0.add("db")
    }

    let expected = hex(
      """
      22f64844fcec7a57f8ebea97b48dbc480821d0c7fc0ca84213464cfbc00ed350
      26f7fe1a96b7fe86aff705a480d21701c6878ea64f685c431f2db7eb7a57fa8d
      """)
    #expect(derived == expected)
  }

  @Test func `row 72: a sealed value is the annex's`() {
    let sealed = sealer.sealed(Array("hello".utf8), with: key) {
      $0.add("value")
      $0.add("db")
    }

    let expected = hex(
      """
      c088c45975b7b19f42adb3ee1e63272d549c71e9eaeda8453d6ec67578daefe9b8db722a531ecd4e9bba3590d944ab03
      ae6d2e931b0b6bae01a5152579facd2881e04a2bf8c9de4241236e06b9
      """)
    #expect(sealed == expected)
  }

  @Test func `row 72: a sealed empty entry is the annex's`() {
    let sealed = sealer.sealed([], with: key) {
      $0.add("entry")
      $0.add(repeated(0, 16))
      $0.add(repeated(0, 16))
      $0.add(1 as UInt32)
      $0.add(repeated(1, 32))
      $0.add(repeated(2, 32))
    }

    let expected = hex(
      """
      3b9c971a87d44323b53c7474ece467a6865c9a72b7367efabd448fa7776d7f7a83f61ed5
      7076de5c6afc7d8a7e3a0dd4d12453f6f485e3ace9c814da7e97dc7529fb4d82d07f21c8
      """)
    #expect(sealed == expected)
  }

  @Test func `row 72: a stretched passphrase is the annex's`() throws {
    let root = try PassphraseCost.stretch(
      Array("correct horse battery staple".utf8).span.bytes, salt: run(16),
      cost: PassphraseCost(passes: 1, kibibytes: 8192))

    #expect(root.copy == hex("9aeef75313e585f492c33c5e12d82e9ad253b7dd78632d537e899cd4eddd789c"))
  }

  @Test func `row 72: a key-encryption key is the annex's`() throws {
    let derived = try sealer.deriveKey("kek", from: key) {
      $0.add(repeated(0, 16))
      $0.add(repeated(0, 16))
    }

    #expect(derived.copy == hex("c61a575b716dffed4df3da8c0dd2f95fe97372fb77bdf65e31882be822d097e7"))
  }

  @Test(
    arguments: zip(
      [0, 1022, 1023, 1024, 32766, 32767, 32768, 65535, 1_048_576],
      [1024, 1024, 1024, 2048, 32768, 32768, 34816, 65536, 1_114_112]))
  func `row 72: a body padded by 1024 has the annex's length`(_ count: Int, _ padded: Int) {
    #expect(Padding.paddedCount(count, step: 1024) == padded)
  }

  @Test(
    arguments: zip(
      [0, 254, 255, 256, 8190, 8191, 8192, 16383, 16384],
      [256, 256, 256, 512, 8192, 8192, 8704, 16384, 17408]))
  func `row 72: a body padded by 256 has the annex's length`(_ count: Int, _ padded: Int) {
    #expect(Padding.paddedCount(count, step: 256) == padded)
  }

  @Test func `row 72: the text of a key is the annex's`() throws {
    let text = try KeyText.write(key)

    #expect(
      String(decoding: text.copy, as: UTF8.self)
        == "spv-key-1:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")
  }
}
