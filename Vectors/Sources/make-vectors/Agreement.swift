import CSodium

/// What a holder by public key and a vault agree on (annex G).
enum Agreement {
  /// H, or E.
  static func point(of secret: Bytes) -> Bytes {
    var out = Bytes.zeros(32)
    crypto_scalarmult_base(&out, secret)
    return out
  }

  /// q; `nil` if it is zero.
  static func product(_ secret: Bytes, _ point: Bytes) -> Bytes? {
    var out = Bytes.zeros(32)
    return crypto_scalarmult(&out, secret, point) == 0 ? out : nil
  }

  /// e.
  static func vaultSecret(of vaultKey: Bytes) -> Bytes { Sealing.derive(32, vaultKey, "agree-secret") }

  /// R as an owner computes it.
  static func ownerKey(vaultKey: Bytes, vaultID: Bytes, holder: Bytes) -> Bytes {
    let secret = vaultSecret(of: vaultKey)
    guard let product = product(secret, holder) else { preconditionFailure("no holder has this public key") }
    return Sealing.derive(32, product, "agree", vaultID, point(of: secret), holder)
  }

  /// R as the holder computes it.
  static func holderKey(_ secret: Bytes, vaultID: Bytes, vaultPoint: Bytes) throws -> Bytes {
    let product = try require(product(secret, vaultPoint), "a public key")
    return Sealing.derive(32, product, "agree", vaultID, vaultPoint, point(of: secret))
  }

  static func text(ofIdentity secret: Bytes) -> String { "spv-identity-1:" + secret.hexadecimal }
  static func text(ofPublicKey point: Bytes) -> String { "spv-public-1:" + point.hexadecimal }
  static func pin(vaultID: Bytes, point: Bytes) -> String { "spv-vault-1:\(vaultID.hexadecimal):\(point.hexadecimal)" }

  static func parsed(pin: String) throws -> (vaultID: Bytes, point: Bytes) {
    let parts = pin.split(separator: ":").map(String.init)
    try require(parts.count == 3 && parts[0] == "spv-vault-1", "a pin")
    return (try bytes(parts[1], 16), try bytes(parts[2], 32))
  }

  private static func bytes(_ digits: String, _ count: Int) throws -> Bytes {
    try require(digits.count == 2 * count, "a pin")
    return try (0..<count).map { index in
      let start = digits.index(digits.startIndex, offsetBy: 2 * index)
      return try require(UInt8(digits[start...].prefix(2), radix: 16), "a pin")
    }
  }
}

extension Draft {
  /// The text of the vault's pin, with the present vault key and id.
  var pin: String {
    Agreement.pin(vaultID: vaultID, point: Agreement.point(of: Agreement.vaultSecret(of: vaultKey)))
  }

  /// Adds the slot of a holder by public key and its item in the manifest.
  /// - Parameter group: `nil` for the whole vault.
  @discardableResult
  mutating func addAgreed(_ identity: Bytes, of group: Int?) -> Int {
    let holder = Agreement.point(of: identity)
    let key = Agreement.ownerKey(vaultKey: vaultKey, vaultID: vaultID, holder: holder)
    let index = group.map { addHolder(.key(key), of: $0) } ?? addSlot(.key(key))
    manifest.extensionField += Record.item(1, slots[index].id + holder)
    return index
  }
}
