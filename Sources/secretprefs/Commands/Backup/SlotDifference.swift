internal import VaultCore
internal import VaultSealing

/// The slots that differ between a backup and the vault that it replaces.
struct SlotDifference {
  /// A slot, and what the list of slots says about it, which only an owner can read.
  struct Slot {
    let slot: VaultInfo.Slot
    let info: SlotInfo?

    fileprivate var words: String {
      "slot \(slot.id.short), \(info?.words ?? "\(slot.kind.words)\(slot.isOwner ? ", owner" : ", one access group")")"
    }

    fileprivate var json: JSON { info?.json ?? slot.json }
  }

  /// The slots that only the backup has: their credentials open the vault again.
  private let returning: [Slot]
  /// The slots that only the vault has: their credentials will not open it any more.
  private let leaving: [Slot]

  /// - Parameters:
  ///   - vault: The vault; `nil` if its slots cannot be read.
  ///   - infos: The slots of the backup with their labels, if they are known.
  init?(vault: VaultInfo?, backup: VaultInfo, _ infos: [SlotInfo]) {
    guard let vault else { return nil }
    func only(_ slots: [VaultInfo.Slot], besides others: [VaultInfo.Slot]) -> [Slot] {
      slots.filter { slot in !others.contains { $0.id == slot.id } }
        .map { slot in Slot(slot: slot, info: infos.first { $0.id == slot.id }) }
    }
    returning = only(backup.slots, besides: vault.slots)
    leaving = only(vault.slots, besides: backup.slots)
  }

  /// Says which credentials open the vault again, and which do not any more.
  static func warn(_ difference: SlotDifference?, _ messages: Messages) {
    guard let difference else {
      return messages.warn(
        "the slots of the vault cannot be read: a credential that was removed since the backup opens it again")
    }
    for slot in difference.returning {
      messages.warn("the backup has \(slot.words), which the vault does not have: it opens the vault again")
    }
    for slot in difference.leaving {
      messages.warn("the backup does not have \(slot.words): it will no longer open the vault")
    }
  }

  /// The members of the answer.
  static func members(_ difference: SlotDifference?) -> [(String, JSON)] {
    [
      ("slotsBack", difference.map { .array($0.returning.map(\.json)) } ?? .null),
      ("slotsGone", difference.map { .array($0.leaving.map(\.json)) } ?? .null),
    ]
  }
}
