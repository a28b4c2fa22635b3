internal import DurableFiles
public import VaultSealing

/// The secret with which a machine or a person is a holder by public key (`Docs/Format.md` annex G).
///
/// The identity stays where it was made. An owner adds its ``publicKey`` with ``NewSlot/init(_:label:)``, and the
/// holder opens the vault with the identity and the vault's ``VaultPin``. Both of these texts are public, and both must
/// come from whom they are said to be from. One identity can be a holder of any number of vaults and groups.
///
/// The bytes are in guarded memory and are wiped when the last copy is released.
public struct VaultIdentity: Sendable {
  /// The most bytes of the note that a machine leaves with a request for access (`Docs/Decisions/0094`).
  package static let longestNote = 1024

  private let secret: SealingKey
  /// The public key, which an owner adds to a vault.
  public let publicKey: PublicKey

  /// Creates a new identity.
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory or no random bytes.
  public init(from random: RandomSource = .system) throws(VaultError) { self.init(try SealingKey(from: random)) }

  /// Reads an identity from its text: `spv-identity-1:` and 64 lower-case hex digits, with or without one line feed.
  /// - Throws: ``VaultError/Code/invalidKeyText``; the message does not include the text. ``VaultError/Code/io`` if the
  ///   system provides no guarded memory.
  public init(text: RawSpan) throws(VaultError) { self.init(try KeyText.parse(text, as: .identity)) }

  private init(_ secret: SealingKey) {
    self.secret = secret
    publicKey = PublicKey(PublicPoint(of: secret))
  }

  /// Returns the text without a line feed, in guarded memory. It is wiped when its owner releases it.
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory.
  public func text() throws(VaultError) -> SecretBytes { try KeyText.write(secret, as: .identity) }

  /// Returns the raw key that this identity and the vault of `pin` agree on, for readers without annex G. Whether a
  /// slot of the vault opens with it is not checked.
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory.
  public func key(for pin: VaultPin) throws(VaultError) -> SealingKey {
    try secret.origin.check()
    return try VaultAgreement.key(
      of: secret, with: pin.point, vault: pin.vaultID, vaultKey: pin.point, holder: publicKey.point,
      Sealer())
  }
}

extension VaultIdentity {
  /// The public key of an identity: `spv-public-1:` and 64 lower-case hex digits.
  ///
  /// It is not secret, and says nothing about which vaults it opens. But an owner who adds the public key of a
  /// different identity gives access to that one: compare all digits with those that the holder's machine shows.
  public struct PublicKey: Sendable, Hashable, CustomStringConvertible {
    let point: PublicPoint

    init(_ point: PublicPoint) { self.point = point }

    /// Reads a public key from its text, with or without one line feed.
    /// - Throws: ``VaultError/Code/invalidKeyText``; the message does not include the text, which may be an identity.
    public init(_ text: String) throws(VaultError) {
      let bytes = try KeyText.parse(Array(text.utf8).bytes, as: .publicKey)
      guard let point = bytes.withSpan({ PublicPoint($0) }) else { throw .unusablePoint("the public key") }
      self.point = point
    }

    /// The text, without a line feed.
    public var description: String { KeyText.Form.publicKey.prefix + point.bytes.hexadecimal }
  }
}

extension VaultError {
  /// - Parameter what: the subject of the sentence.
  static func unusablePoint(_ what: String) -> VaultError {
    VaultError(.invalidKeyText, "\(what) has the right form, and is one that no identity and no vault has")
  }
}
