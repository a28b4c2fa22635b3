internal import DurableFiles
public import VaultSealing

/// A slot to add to a vault: a credential with its metadata.
public struct NewSlot: Sendable {
  let credential: Vault.Credential
  let label: String?
  let cost: PassphraseCost?

  /// Creates a slot that is not in a vault yet.
  ///
  /// - Parameters:
  ///   - credential: the passphrase or key that will open the slot. An identity is refused: it gets a slot by its
  ///     ``VaultIdentity/publicKey``.
  ///   - label: a description of at most 1024 bytes of UTF-8, sealed in the file. With `nil`, a slot that replaces a
  ///     different one keeps that slot's label.
  ///   - cost: the cost of a passphrase; `nil` measures this machine (`Docs/Format.md` 5.5). Below
  ///     ``PassphraseCost/minimum`` only ``PassphraseCost/throwaway`` is accepted.
  public init(_ credential: Vault.Credential, label: String? = nil, cost: PassphraseCost? = nil) {
    self.credential = credential
    self.label = label
    self.cost = cost
  }

  /// Creates a slot for a holder by public key (`Docs/Format.md` annex G). Nothing secret was sent for it: the holder
  /// opens the slot with its identity and the vault's ``Vault/pin()``.
  ///
  /// - Parameters:
  ///   - publicKey: its identity gets access. Compare all its digits with those that the holder shows.
  ///   - label: as in the other initialiser.
  public init(_ publicKey: VaultIdentity.PublicKey, label: String? = nil) {
    self.init(.publicKey(publicKey), label: label)
  }

  /// The cost of a passphrase slot, given or measured; `nil` for a raw key.
  func decidedCost() throws(VaultError) -> PassphraseCost? {
    guard credential.kind == StoredSlot.passphraseKind else { return nil }
    if let cost {
      let isEnough = cost.passes >= PassphraseCost.minimum.passes && cost.kibibytes >= PassphraseCost.minimum.kibibytes
      guard cost.isAcceptable, isEnough || cost == .throwaway else {
        throw VaultError(
          .kdfRefused, "the cost of \(cost) is below \(PassphraseCost.minimum), or above what a reader accepts")
      }
      return cost
    }
    return try PassphraseCost.calibrated(availableKibibytes: availableKibibytes())
  }
}

extension PassphraseCost {
  /// This cost, raised so that neither memory nor work is less than in `floor`.
  fileprivate func raised(to floor: PassphraseCost) -> PassphraseCost {
    if kibibytes >= floor.kibibytes, work >= floor.work { return self }
    let both = PassphraseCost(passes: max(passes, floor.passes), kibibytes: max(kibibytes, floor.kibibytes))
    return both.isAcceptable ? both : floor
  }
}

/// A new slot with its derived key. The derivation takes long and therefore happens before any lock is taken.
struct PreparedSlot: Sendable {
  let kind: UInt8
  let id: Vault.Identifier
  let cost: PassphraseCost?
  let salt: [UInt8]
  let access: Access
  let label: [UInt8]?

  /// What opens the slot.
  enum Access: Sendable {
    /// The key-encryption key.
    case kek(SealingKey)
    /// The agreement with this holder, which depends on the vault key at the time of the write.
    case agreement(VaultIdentity.PublicKey)
  }

  /// - Parameter floor: the cost of the replaced slot, which is the minimum.
  init(
    _ new: NewSlot, vault: Vault.Identifier, random: RandomSource, sealer: Sealer, floor: PassphraseCost? = nil
  ) throws(VaultError) {
    guard new.label?.utf8.count ?? 0 <= 1024 else { throw VaultError(.invalidName, "a label has at most 1024 bytes") }
    // As a raw key, nothing would say whose slot it is, and no rotation would renew it.
    guard new.credential.holder == nil else {
      throw VaultError(.invalidKeyText, "an identity gets a slot by its public key")
    }
    var cost = try new.decidedCost()
    if let floor, let chosen = cost { cost = chosen.raised(to: floor) }
    kind = new.credential.kind
    id = Vault.Identifier(random.bytes(Vault.Identifier.count))
    salt = cost == nil ? [UInt8](repeating: 0, count: 16) : random.bytes(16)
    if case .publicKey(let holder) = new.credential.material {
      access = .agreement(holder)
    } else {
      let root = try new.credential.root(salt: salt, cost: cost ?? .minimum)
      access = .kek(try StoredSlot.kek(from: root, vault: vault, slot: id, sealer))
    }
    self.cost = cost
    label = new.label.map { Array($0.utf8) }
  }
}
