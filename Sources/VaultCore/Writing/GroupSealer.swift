internal import VaultSealing

/// A sealed value, with the record class and keys for which it was sealed.
struct SealedValue: Sendable {
  let kind: UInt8
  let cipher: ValueCipher
  let bytes: [UInt8]
}

/// The keys and the limit with which a batch seals values for one access group, so that sealing needs no lock of the
/// handle.
struct GroupSealer {
  /// One for each accessibility class.
  private let ciphers: [ValueCipher]
  let deviceKey: SealingKey?
  /// The maximum length of a value, in bytes.
  let limit: Int
  let sealer: Sealer

  init(_ content: GroupContent, _ options: Vault.Options, _ sealer: Sealer) throws(VaultError) {
    var ciphers: [ValueCipher] = []
    for accessibility in Vault.Accessibility.allCases { ciphers.append(try content.cipher(accessibility, sealer)) }
    self.ciphers = ciphers
    deviceKey = options.deviceKey
    limit = options.limits.writtenValueBytes
    self.sealer = sealer
  }

  /// The keys and ids with which values of a class are sealed.
  func cipher(_ accessibility: Vault.Accessibility) -> ValueCipher { ciphers[Int(accessibility.rawValue)] }
}
