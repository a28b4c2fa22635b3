internal import VaultCore
internal import VaultSealing

/// The slots that differ between a backup and the vault that it replaces, and the pin.
struct SlotDifference {
  /// A slot, and what the list of slots says about it, which only an owner can read.
  struct Slot {
    let slot: VaultInfo.Slot
    let info: SlotInfo?

    fileprivate var words: String {
      let unlisted = slot.kind.wordsOfUnlisted + (slot.isOwner ? ", owner" : ", one access group")
      return "slot \(slot.id.short), \(info?.words ?? unlisted)"
    }

    fileprivate var json: JSON { info?.json ?? slot.json }
  }

  /// The slots that only the backup has: their credentials open the vault again. The slots that only the vault has:
  /// their credentials will not open it any more. `nil` if the slots of the vault cannot be read.
  private let slots: (returning: [Slot], leaving: [Slot])?
  /// The pin of the backup, if it may be a different one than that of the vault, and the number of holders by public
  /// key that need it.
  private let needed: (pin: VaultPin, holders: Int)?

  /// - Parameters:
  ///   - vault: The vault; `nil` if its slots cannot be read.
  ///   - readOwned: What an owner knows of the vault. It is not read if both have the same slots.
  init(vault: VaultInfo?, _ readOwned: () -> OwnedSlots, backup: VaultInfo, _ ownedBackup: OwnedSlots) {
    let isSame = vault.map { Set($0.slots.map(\.id)) == Set(backup.slots.map(\.id)) } ?? true
    let owned = isSame ? OwnedSlots() : readOwned()
    let returning = ownedBackup.slots(of: backup.slots, besides: vault?.slots ?? [])
    let leaving = owned.slots(of: vault?.slots ?? [], besides: backup.slots)
    slots = vault.map { _ in
      // A holder whose slots were renewed keeps its access, and needs a different pin.
      (
        returning: returning.filter { !$0.isRenewal(in: leaving) },
        leaving: leaving.filter { !$0.isRenewal(in: returning) }
      )
    }
    let holders = Set(returning.compactMap { $0.info?.publicKey }).count
    needed = if let pin = ownedBackup.pin, pin != owned.pin, holders > 0 { (pin: pin, holders: holders) } else { nil }
  }

  /// Says which credentials open the vault again, which do not any more, and which need another pin.
  func warn(_ messages: Messages) {
    if let slots {
      for slot in slots.returning {
        messages.warn("the backup has \(slot.words), which the vault does not have: it opens the vault again")
      }
      for slot in slots.leaving {
        messages.warn("the backup does not have \(slot.words): it will no longer open the vault")
      }
    } else {
      messages.warn(
        "the slots of the vault cannot be read: a credential that was removed since the backup opens it again")
    }
    guard let needed else { return }
    messages.warn(
      "\(counted(needed.holders, "holder by public key needs", "holders by public key need")) the pin of the backup: "
        + "\"secretprefs identity trust\", or its configuration: \(needed.pin)")
  }

  /// The members of the answer.
  var members: [(String, JSON)] {
    var members: [(String, JSON)] = [
      ("slotsBack", slots.map { .array($0.returning.map(\.json)) } ?? .null),
      ("slotsGone", slots.map { .array($0.leaving.map(\.json)) } ?? .null),
    ]
    if let needed { members.append(("pin", .string("\(needed.pin)"))) }
    return members
  }
}

extension SlotDifference.Slot {
  /// Whether the others have a slot of the same holder that opens the same.
  fileprivate func isRenewal(in others: [Self]) -> Bool {
    guard let info, let holder = info.publicKey else { return false }
    return others.contains {
      $0.info?.publicKey == holder && $0.info?.isOwner == info.isOwner && $0.info?.group == info.group
    }
  }
}

extension VaultInfo.Slot.Kind {
  /// The words without the list of slots, which says whose slot it is.
  fileprivate var wordsOfUnlisted: String { self == .rawKey ? "raw key or public key" : words }
}

/// What only an owner of a vault can read: the list of its slots, and the pin.
struct OwnedSlots {
  private var infos: [SlotInfo] = []
  private(set) var pin: VaultPin?

  /// Nothing is known.
  fileprivate init() {}

  /// Nothing is known to the holder of a group.
  init(of vault: Vault) throws(VaultError) {
    guard try vault.isOwner else { return }
    infos = try vault.slots()
    pin = try vault.pin()
  }

  /// What is known of the vault that a backup replaces, which the credential of the backup may open, or the identity's
  /// own pin: nothing if neither does.
  static func replaced(
    _ access: VaultAccess, _ credential: Vault.Credential, _ options: Vault.Options
  ) -> OwnedSlots {
    var credentials = [credential]
    do throws(VaultError) {
      if let own = try access.identityFile(credential)?.credential() { credentials.append(own) }
    } catch {}
    for credential in credentials {
      do throws(VaultError) {
        return try OwnedSlots(
          of: try Vault.open(in: access.location.storage(options), credential: credential, options: options))
      } catch {}
    }
    return OwnedSlots()
  }

  fileprivate func slots(of slots: [VaultInfo.Slot], besides others: [VaultInfo.Slot]) -> [SlotDifference.Slot] {
    slots.filter { slot in !others.contains { $0.id == slot.id } }
      .map { slot in SlotDifference.Slot(slot: slot, info: infos.first { $0.id == slot.id }) }
  }
}
