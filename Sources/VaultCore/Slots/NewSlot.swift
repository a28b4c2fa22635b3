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
  ///   - credential: the passphrase or key that will open the slot.
  ///   - label: a description of at most 1024 bytes of UTF-8, sealed in the file. With `nil`, a slot that replaces a
  ///     different one keeps that slot's label.
  ///   - cost: the cost of a passphrase; `nil` measures this machine (`Docs/Format.md` 5.5). Below
  ///     ``PassphraseCost/minimum`` only ``PassphraseCost/throwaway`` is accepted.
  public init(_ credential: Vault.Credential, label: String? = nil, cost: PassphraseCost? = nil) {
    self.credential = credential
    self.label = label
    self.cost = cost
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
  let kek: SealingKey
  let label: [UInt8]?

  /// - Parameter floor: the cost of the replaced slot, which is the minimum.
  init(
    _ new: NewSlot, vault: Vault.Identifier, random: RandomSource, sealer: Sealer, floor: PassphraseCost? = nil
  ) throws(VaultError) {
    guard new.label?.utf8.count ?? 0 <= 1024 else { throw VaultError(.invalidName, "a label has at most 1024 bytes") }
    var cost = try new.decidedCost()
    if let floor, let chosen = cost { cost = chosen.raised(to: floor) }
    kind = new.credential.kind
    id = Vault.Identifier(random.bytes(Vault.Identifier.count))
    salt = cost == nil ? [UInt8](repeating: 0, count: 16) : random.bytes(16)
    let root = try new.credential.root(salt: salt, cost: cost ?? .minimum)
    let id = id
    kek = try StoredSlot.kek(from: root, vault: vault, slot: id, sealer)
    self.cost = cost
    label = new.label.map { Array($0.utf8) }
  }
}
