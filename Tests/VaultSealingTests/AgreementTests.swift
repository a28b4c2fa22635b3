import Testing
import VaultSealing

/// Public keys, and the key that a holder and a vault agree on (`Docs/Format.md` annex G).
struct AgreementTests {
  private let sealer: Sealer

  init() throws { sealer = try Sealer(random: .zero) }

  @Test func `G.5: both sides agree on the annex's keys`() throws {
    let vaultKey = try SealingKey.of(hex("cb9c3ccf0a6a7a333471a50264cb3b928ba0d923c64d25481a6650dc884e2498"))
    let vault = hex("efaa4335a150eb9ca12496a9eb33c55d")
    let holder = try SealingKey.of(run(32))

    let secret = try sealer.agreementSecret(of: vaultKey)
    let (own, other) = (PublicPoint(of: secret), PublicPoint(of: holder))
    let products = [try #require(try secret.agreed(with: other)), try #require(try holder.agreed(with: own))]
    let keys = try products.map { product in
      try vault.withUnsafeBytes {
        try sealer.agreedKey(from: product, vault: $0.bytes, vaultKey: own, holder: other)
      }
    }
    let kek = try sealer.deriveKey("kek", from: keys[0]) {
      $0.add(vault)
      $0.add(run(16))
    }

    #expect(secret.copy == hex("9c1d9624f1aadcbbc413fecda6af91d16460326e03d40c2569ddb196bff33d83"))
    #expect(own.bytes == hex("82f09ee3ac7b37272fc3b6f4d1580d132b1e89790e9e33391c677c6c65584f0d"))
    #expect(other.bytes == hex("8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f"))
    #expect(
      products.map(\.copy)
        == Array(repeating: hex("4bda9838d4a2f83ddf9d8859715f08a4aa62a50d7c8b0dcb83d281f5e576d83e"), count: 2))
    #expect(
      keys.map(\.copy)
        == Array(repeating: hex("25e106a629c9b72d4d16676cffcb526ff330e2aeec840ce9903a13309ff3d3a0"), count: 2))
    #expect(kek.copy == hex("0650aee330b28cb92f56c258f1191f9579a6c8f9bc7c8073a12ec497f8a19bff"))
  }

  @Test func `products are those of RFC 7748`() throws {
    // Section 5.2, and the public key of Bob in section 6.1.
    let scalar = try SealingKey.of(hex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"))
    let point = try #require(
      Self.point(hex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c")))
    let bob = try SealingKey.of(hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"))

    #expect(
      try scalar.agreed(with: point)?.copy
        == hex("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"))
    #expect(
      PublicPoint(of: bob).bytes == hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"))
  }

  @Test func `row G4: numbers from p on are no public keys, with any top bit`() {
    let prime = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
    // p … p + 18 are 0 … 18 otherwise written: 19 numbers, up to all ones below the top bit.
    let beyond = (0..<19).map { [prime[0] + UInt8($0)] + prime[1...] }
    for number in beyond { #expect(Self.point(number) == nil, "\(number)") }
    // Nothing above 2^255, whatever the rest is.
    for byte in UInt8(0x80)...0xFF {
      #expect(Self.point(run(31, step: 7) + [byte]) == nil)
    }
    // The number before p is −1, which has small order; the next below is accepted.
    #expect(Self.point([prime[0] - 1] + prime[1...]) == nil)
    #expect(Self.point([prime[0] - 2] + prime[1...]) != nil)
  }

  @Test func `row G4: points of small order are no public keys`() {
    for number in Self.smallOrder { #expect(Self.point(number) == nil, "\(number)") }
    #expect(Set(Self.smallOrder).count == 5)
  }

  @Test func `a public key has 32 bytes`() {
    for count in [0, 31, 33, 64] { #expect(Self.point(run(count, step: 3)) == nil) }
  }

  @Test func `the public key of every secret is accepted`() throws {
    for _ in 0..<200 {
      let point = PublicPoint(of: try SealingKey(from: .system))
      #expect(Self.point(point.bytes) == point)
    }
  }

  /// The numbers below p whose points have an order of at most 8, on the curve or its twist: 0, 1, −1, and the two of
  /// order 8 (RFC 7748 section 6.1, and the list of https://cr.yp.to/ecdh.html).
  private static let smallOrder = [
    repeated(0, 32), [1] + repeated(0, 31), [0xEC] + repeated(0xFF, 30) + [0x7F],
    hex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
    hex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
  ]

  private static func point(_ bytes: [UInt8]) -> PublicPoint? {
    bytes.withUnsafeBytes { PublicPoint($0.bytes) }
  }
}
