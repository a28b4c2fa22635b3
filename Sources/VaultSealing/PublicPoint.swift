internal import CVaultSodium

/// The public half of an X25519 key pair: 32 bytes that passed the checks of `Docs/Format.md` annex G.
package struct PublicPoint: Sendable, Hashable {
  /// The length in bytes.
  package static let count = 32

  package let bytes: [UInt8]

  /// Copies a public key. Returns `nil` for one that no key pair has, or whose products do not depend on the secret: a
  /// number that is not below 2^255 − 19, and a point of small order.
  package init?(_ bytes: RawSpan) {
    guard bytes.byteCount == Self.count else { return nil }
    self.bytes = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    guard isBelowPrime, !hasSmallOrder else { return nil }
  }

  /// The public key of a secret.
  package init(of secret: SealingKey) {
    defer { wipeStack(16 << 10) }
    bytes = unsafe secret.withUnsafeBytes { secret in
      unsafe [UInt8](unsafeUninitializedCapacity: Self.count) { out, count in
        count = Self.count
        _ = unsafe crypto_scalarmult_base(out.baseAddress!, secret.bytePointer!)
      }
    }
  }

  /// Whether the bytes, as a little-endian number, are below 2^255 − 19. They are public.
  private var isBelowPrime: Bool {
    let prime: [UInt8] = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
    return bytes.reversed().lexicographicallyPrecedes(prime.reversed())
  }

  /// Whether the product with a multiple of the cofactor is zero.
  private var hasSmallOrder: Bool {
    var scalar = [UInt8](repeating: 0, count: 31) + [0x40]
    var product = [UInt8](repeating: 0, count: Self.count)
    return unsafe crypto_scalarmult(&product, &scalar, bytes) != 0
  }
}

extension SealingKey {
  /// The product of this secret and a public key, in guarded memory; `nil` if the product is zero.
  ///
  /// The product is not a key: derive one from it.
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory.
  package func agreed(with other: PublicPoint) throws(VaultError) -> SealingKey? {
    defer { wipeStack(16 << 10) }
    return try unsafe SealingKey(fillingIf: { product in
      unsafe withUnsafeBytes { secret in
        unsafe crypto_scalarmult(
          product.baseAddress!.assumingMemoryBound(to: UInt8.self), secret.bytePointer!, other.bytes) == 0
      }
    })
  }
}

extension Sealer {
  /// The vault's X25519 secret e = D(32, VK, "agree-secret").
  package func agreementSecret(of vaultKey: SealingKey) throws(VaultError) -> SealingKey {
    try deriveKey("agree-secret", from: vaultKey) { _ in }
  }

  /// The raw key R = D(32, q, "agree", vault id, E, H) of a slot that a holder and a vault agree on.
  ///
  /// - Parameter product: q, the product of one side's secret and the other side's public key.
  package func agreedKey(
    from product: SealingKey, vault: RawSpan, vaultKey: PublicPoint, holder: PublicPoint
  ) throws(VaultError) -> SealingKey {
    try deriveKey("agree", from: product) { transcript in
      transcript.add(vault)
      transcript.add(vaultKey.bytes.bytes)
      transcript.add(holder.bytes.bytes)
    }
  }
}
