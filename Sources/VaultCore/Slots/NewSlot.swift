public import VaultSealing

/// A slot that is to be made: a credential and what is written down about it.
public struct NewSlot: Sendable {
  let credential: Credential
  let label: String
  let cost: PassphraseCost?

  /// - Parameters:
  ///   - credential: what will open the slot.
  ///   - label: for people, at most 1024 bytes of UTF-8; sealed in the file.
  ///   - cost: of a passphrase; measured on this machine when `nil` (`Docs/Format.md` 5.5). Below
  ///     ``PassphraseCost/minimum`` only ``PassphraseCost/throwaway`` is accepted.
  public init(_ credential: Credential, label: String = "", cost: PassphraseCost? = nil) {
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
    return try VaultError.sealing { () throws(SealingError) in
      try PassphraseCost.calibrated(availableKibibytes: availableKibibytes())
    }
  }
}
