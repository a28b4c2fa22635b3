internal import VaultCore
internal import VaultSealing

extension Vault.Identifier {
  /// The prefix that the tool shows.
  var short: String { String(description.prefix(8)) }
}

extension VaultIdentity.PublicKey {
  /// The first digits.
  var short: String { String(description.dropFirst("spv-public-1:".count).prefix(8)) }
}

extension VaultInfo.Slot.Kind {
  var words: String {
    switch self {
    case .passphrase(let cost): "passphrase, \(cost)"
    case .rawKey: "raw key"
    case .unknown(let number): "kind \(number), of a later version"
    }
  }

  var members: [(String, JSON)] {
    switch self {
    case .passphrase(let cost):
      [
        ("kind", .string("passphrase")), ("passes", .unsigned(UInt64(cost.passes))),
        ("kibibytes", .unsigned(UInt64(cost.kibibytes))),
      ]
    case .rawKey: [("kind", .string("rawKey"))]
    case .unknown(let number): [("kind", .string("unknown")), ("number", .unsigned(UInt64(number)))]
    }
  }
}

extension VaultInfo.Slot {
  var json: JSON { .object([("id", .string(id.description))] + kind.members + [("owner", .bool(isOwner))]) }
}

extension SlotInfo {
  /// Describes how the slot is opened.
  var credential: String { publicKey.map { "public key \($0.short)" } ?? kind.words }

  /// Describes what the slot opens.
  var scope: String { isOwner ? "owner" : group.map { "group \(displayed($0.text))" } ?? "removed group" }

  /// The slot after its id.
  var words: String {
    "\(credential), \(scope)" + (label.isEmpty ? "" : ", \"\(displayed(label))\"")
  }

  var json: JSON {
    var members: [(String, JSON)] = [("id", .string(id.description))] + kind.members
    members.append(("owner", .bool(isOwner)))
    if let group { members.append(("group", .string(group.text))) }
    if let publicKey { members.append(("publicKey", .string("\(publicKey)"))) }
    members.append(("label", .string(label)))
    members.append(("created", .time(created)))
    members.append(("current", .bool(isCurrent)))
    return .object(members)
  }
}

extension RotationReport {
  /// Warns about the slots that were removed. With `--json` they are in the output instead.
  func warnOfDroppedSlots(_ messages: Messages) {
    guard !messages.isJSON else { return }
    for slot in droppedSlots {
      let reason =
        if case .unknown = slot.kind { "this version cannot rotate it" } else { "its credential was not given" }
      messages.warn("removed slot \(slot.id.short) because \(reason): \(slot.words)")
    }
  }

  /// Warns about the slots that need the new pin, and about the backups that need the former one. With `--json` both
  /// are in the output instead.
  /// - Parameter receiver: who has the new pin for the identity of this command, if its slot is one of them.
  func warnOfRenewedSlots(_ messages: Messages, own receiver: PinHandover.Receiver?) {
    guard !messages.isJSON, !renewedSlots.isEmpty else { return }
    let number = Set(renewedSlots.compactMap(\.publicKey)).count
    let count = number == 1 ? "1 holder by public key needs" : "\(number) holders by public key need"
    let subject = number == 1 ? "it is" : "one of them is"
    let own =
      switch receiver {
      case .file: "; \(subject) this identity, whose file has the new pin"
      case .output: "; \(subject) this identity, for which the new pin was printed"
      case nil: ""
      }
    messages.warn("\(count) the new pin of the vault: \"secretprefs identity trust\", or its configuration\(own)")
    if let formerPin { messages.warn(formerPin.warningOfBackups) }
  }

  /// The new pin, if a holder needs it.
  var shownPin: VaultPin? { renewedSlots.isEmpty ? nil : newPin }

  /// The former pin, if a holder needs it for a backup.
  private var shownFormerPin: VaultPin? { renewedSlots.isEmpty ? nil : formerPin }

  /// What `--json` prints of a rotation.
  var members: [(String, JSON)] {
    let pins = [("pin", shownPin), ("formerPin", shownFormerPin)].compactMap { name, pin in
      pin.map { (name, JSON.string("\($0)")) }
    }
    return [("dropped", .array(droppedSlots.map(\.json))), ("renewed", .array(renewedSlots.map(\.json)))] + pins
  }
}

extension VaultPin {
  /// Says what this pin is good for once the vault has new keys.
  var warningOfBackups: String {
    "an identity opens backups from before only with --trust \(self); keep this pin with them"
  }
}
