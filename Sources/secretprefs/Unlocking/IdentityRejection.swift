internal import VaultCore

/// The cause of an error about an identity that opens no slot.
struct IdentityRejection: Error {
  static let hint =
    "the keys of the vault may have been replaced: the command that did so printed the present pin, and an owner's "
    + "\"secretprefs slots pin\" prints it; a backup from before opens with the pin of that time: --trust"

  /// Says that the pin can be the reason, too.
  static func explained(_ error: VaultError) -> VaultError {
    guard error.code == .credentialRejected else { return error }
    return VaultError(error.code, "no slot opens with this identity and pin", cause: IdentityRejection())
  }
}
