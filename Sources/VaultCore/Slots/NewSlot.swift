public import VaultSealing

/// A slot that is to be made: a credential and what is written down about it.
public struct NewSlot: Sendable {
  let credential: Vault.Credential
  let label: String?
  let cost: PassphraseCost?

  /// - Parameters:
  ///   - credential: what will open the slot.
  ///   - label: for people, at most 1024 bytes of UTF-8; sealed in the file. A slot that replaces another keeps its
  ///     label when this is nil.
  ///   - cost: of a passphrase; measured on this machine when `nil` (`Docs/Format.md` 5.5). Below
  ///     ``PassphraseCost/minimum`` only ``PassphraseCost/throwaway`` is accepted.
  public init(_ credential: Vault.Credential, label: String? = nil, cost: PassphraseCost? = nil) {
    self.credential = credential
    self.label = label
    self.cost = cost
  }

  /// The cost of a passphrase slot, decided; `nil` for a raw key.
  func decidedCost() throws(VaultError) -> PassphraseCost? {
    guard credential.kind == Slot.passphraseKind else { return nil }
    if let cost {
      let isEnough = cost.passes >= PassphraseCost.minimum.passes && cost.kibibytes >= PassphraseCost.minimum.kibibytes
      guard cost.isAcceptable, isEnough || cost == .throwaway else {
        throw VaultError(.kdfRefused, "\(cost) is less than \(PassphraseCost.minimum), or more than a reader accepts")
      }
      return cost
    }
    return try PassphraseCost.calibrated(availableKibibytes: availableKibibytes())
  }
}

extension PassphraseCost {
  /// The same, or dearer where `floor` is: neither memory nor work is ever less.
  fileprivate func raised(to floor: PassphraseCost) -> PassphraseCost {
    if kibibytes >= floor.kibibytes, work >= floor.work { return self }
    let both = PassphraseCost(passes: max(passes, floor.passes), kibibytes: max(kibibytes, floor.kibibytes))
    return both.isAcceptable ? both : floor
  }
}

/// A slot's credential after derivation, which takes long and so happens before any lock is taken.
struct PreparedSlot: Sendable {
  let kind: UInt8
  let id: Vault.Identifier
  let cost: PassphraseCost?
  let salt: [UInt8]
  let kek: SealingKey
  let label: [UInt8]?

  /// - Parameter floor: the cost of the slot it replaces, which it never goes below.
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
    kek = try Slot.kek(from: root, vault: vault, slot: id, sealer)
    self.cost = cost
    label = new.label.map { Array($0.utf8) }
  }
}
