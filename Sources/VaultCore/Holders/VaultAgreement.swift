internal import VaultSealing

/// A vault's side of the agreement with holders by public key: the secret e, which follows from the vault key, and the
/// pin (`Docs/Format.md` annex G).
struct VaultAgreement {
  let pin: VaultPin
  private let secret: SealingKey

  init(of vaultID: Vault.Identifier, vaultKey: SealingKey, _ sealer: Sealer) throws(VaultError) {
    secret = try sealer.agreementSecret(of: vaultKey)
    pin = VaultPin(vaultID: vaultID, point: PublicPoint(of: secret))
  }

  /// The raw key R of a holder's slots.
  func key(of holder: VaultIdentity.PublicKey, _ sealer: Sealer) throws(VaultError) -> SealingKey {
    try Self.key(
      of: secret, with: holder.point, vault: pin.vaultID, vaultKey: pin.point, holder: holder.point, sealer)
  }

  /// R, from the secret of one side and the public key of the other one.
  static func key(
    of secret: SealingKey, with other: PublicPoint, vault: Vault.Identifier, vaultKey: PublicPoint, holder: PublicPoint,
    _ sealer: Sealer
  ) throws(VaultError) -> SealingKey {
    guard let product = try secret.agreed(with: other) else { throw .unusablePoint("the public key of the other side") }
    return try sealer.agreedKey(from: product, vault: vault.bytes.bytes, vaultKey: vaultKey, holder: holder)
  }
}
