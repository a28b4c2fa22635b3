internal import DurableFiles
public import VaultSealing

extension Vault {
  /// A passphrase, a raw key, or an identity with the vault that it trusts. Key files and descriptors contain one of
  /// the first two.
  ///
  /// A credential may open several slots. If one of them grants the whole vault, so does the credential; otherwise it
  /// grants the groups of all of them.
  ///
  /// The bytes are in guarded memory and are wiped when the last copy of the credential is released. An open vault does
  /// not keep the credential, only the key that was derived for its slot.
  public struct Credential: Sendable {
    enum Material: Sendable {
      case passphrase(Passphrase)
      case key(SealingKey)
      /// The raw key that a holder by public key and this vault agree on, and the one for the pin that comes next.
      case agreed(SealingKey, next: SealingKey?, vault: Vault.Identifier, holder: VaultIdentity.PublicKey)
      case slot(SlotKey)
      /// For a new slot. It opens nothing.
      case publicKey(VaultIdentity.PublicKey)
    }

    /// Shares bytes that cannot be copied.
    final class Passphrase: Sendable {
      let bytes: SecretBytes
      init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
    }

    let material: Material

    /// A passphrase of 1 to 4096 bytes, which are used unchanged.
    public static func passphrase(_ bytes: consuming SecretBytes) -> Vault.Credential {
      Vault.Credential(material: .passphrase(Passphrase(bytes)))
    }

    /// A raw key.
    public static func key(_ key: SealingKey) -> Vault.Credential { Vault.Credential(material: .key(key)) }

    /// An identity, for the one vault that `pin` names (`Docs/Format.md` annex G). Opening any other vault
    /// with it throws ``VaultError/Code/tampered`` or ``VaultError/Code/credentialRejected``.
    /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory.
    public static func identity(
      _ identity: VaultIdentity, trusting pin: VaultPin
    ) throws(VaultError) -> Vault.Credential {
      try .identity(identity, trusting: pin, next: nil)
    }

    /// An identity whose vault gets new keys, or has got them: whether that write was made is not known.
    ///
    /// - Parameter next: the pin of the same vault after the write.
    /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory.
    package static func identity(
      _ identity: VaultIdentity, trusting pin: VaultPin, next: VaultPin?
    ) throws(VaultError) -> Vault.Credential {
      let nextKey: SealingKey? = if let next { try identity.key(for: next) } else { nil }
      return Vault.Credential(
        material: .agreed(
          try identity.key(for: pin), next: nextKey, vault: pin.vaultID, holder: identity.publicKey))
    }

    /// The public key of a holder, for a new slot.
    static func publicKey(_ key: VaultIdentity.PublicKey) -> Vault.Credential {
      Vault.Credential(material: .publicKey(key))
    }

    /// The keys of slots.
    package static func slot(_ key: SlotKey) -> Vault.Credential { Vault.Credential(material: .slot(key)) }

    /// A raw key from its text (`Docs/Format.md` 2.5).
    /// - Throws: ``VaultError/Code/invalidKeyText``; the message does not include the text.
    public static func key(text: RawSpan) throws(VaultError) -> Vault.Credential {
      .key(try KeyText.parse(text))
    }

    /// A passphrase from a string, for tests and examples: a string cannot be wiped.
    /// - Throws: ``VaultError/Code/invalidPassphrase`` if it is empty or longer than 4096 bytes.
    public static func passphrase(_ text: String) throws(VaultError) -> Vault.Credential {
      let utf8 = unsafe text.utf8Span.span.bytes
      guard (1...4096).contains(utf8.byteCount) else {
        throw VaultError(.invalidPassphrase, "a passphrase has 1 to 4096 bytes")
      }
      return .passphrase(try SecretBytes(copying: utf8))
    }

    /// Lends the bytes of a passphrase to `body`. Returns `nil` for a raw key.
    package func withPassphrase<R>(_ body: (RawSpan) -> R) -> R? {
      guard case .passphrase(let passphrase) = material else { return nil }
      return passphrase.bytes.withSpan(body)
    }

    /// Checks that the credential is for the vault of a snapshot, before any slot is tried.
    /// - Throws: ``VaultError/Code/tampered`` if an identity trusts a different vault.
    func check(_ snapshot: Snapshot) throws(VaultError) {
      guard case .agreed(_, next: _, let vault, _) = material, vault != snapshot.vaultID else { return }
      throw VaultError(.tampered, "this is not the vault that the pin of the identity names")
    }

    /// The public key of an identity; `nil` for any other credential.
    package var holder: VaultIdentity.PublicKey? {
      if case .agreed(_, next: _, vault: _, let holder) = material { holder } else { nil }
    }

    /// Whether it is an identity with two pins.
    package var hasNextPin: Bool { nextKey != nil }

    /// The raw key for the pin that comes next, which opens a slot as the key of ``root(salt:cost:)`` does.
    var nextKey: SealingKey? {
      if case .agreed(_, let next, vault: _, holder: _) = material { next } else { nil }
    }

    var kind: UInt8 {
      switch material {
      case .passphrase: StoredSlot.passphraseKind
      case .key, .agreed, .publicKey: StoredSlot.rawKeyKind
      case .slot: 0  // no kind of the format: it opens the slots that it names and makes none
      }
    }

    /// The root key of `Docs/Format.md` 2.1, for a slot with this salt and cost.
    func root(salt: [UInt8], cost: PassphraseCost) throws(VaultError) -> SealingKey {
      switch material {
      case .key(let key), .agreed(let key, next: _, vault: _, holder: _):
        try key.origin.check()
        return key
      case .passphrase(let passphrase):
        try passphrase.bytes.origin.check()
        return try passphrase.bytes.withSpan { (span) throws(VaultError) in
          try PassphraseCost.stretch(span, salt: salt, cost: cost)
        }
      case .slot: throw VaultError(.credentialRejected, "the key of a slot opens no other slot")
      case .publicKey: throw VaultError(.credentialRejected, "a public key opens nothing")
      }
    }
  }
}

extension HelperPool {
  /// The pool for a call with these credentials: ``deriving`` if one is a passphrase, which must be stretched.
  static func using(_ credentials: [Vault.Credential], for path: String) -> HelperPool {
    credentials.contains(where: { $0.kind == StoredSlot.passphraseKind }) ? .deriving : .waiting(for: path)
  }
}
