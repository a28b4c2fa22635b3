/// Holders by public key (annex G): what an identity opens with which pin, and what is made for it by others.
enum HolderVectors {
  static let identity = Bytes.run(from: 0)

  static var all: [Vector] { opened + pins + forged + items }

  private static func attempt(
    _ draft: Draft, _ view: Attempt.View, pin: String? = nil
  ) -> Attempt {
    Attempt(name: "identity", credential: .identity(identity, pin: pin ?? draft.pin), view: view)
  }

  private static var opened: [Vector] {
    [
      Vector(
        "holder-group", "a slot that was agreed on, opened by the identity and by the agreed key", .opens,
        from: Draft.house
      ) {
        $0.addAgreed(identity, of: 1)
        let key = Agreement.ownerKey(vaultKey: $0.vaultKey, vaultID: $0.vaultID, holder: Agreement.point(of: identity))
        $0.attempts += [
          attempt($0, .holder(of: [1])), Attempt(name: "key", credential: .key(key), view: .holder(of: [1])),
        ]
      },
      Vector("holder-groups", "an identity in two groups: both are open", .opens, from: Draft.house) {
        $0.addAgreed(identity, of: 1)
        $0.addAgreed(identity, of: 0)
        $0.attempts.append(attempt($0, .holder(of: [0, 1])))
      },
      Vector("holder-owner", "an owner slot that was agreed on", .opens, from: Draft.house) {
        $0.addAgreed(identity, of: 1)
        $0.addAgreed(identity, of: nil)
        $0.attempts.append(attempt($0, .owner))
      },
      Vector("holder-unlisted", "a slot that was agreed on, without an item", .opens, from: Draft.house) {
        $0.addAgreed(identity, of: 1)
        $0.manifest.extensionField = []
        $0.attempts.append(attempt($0, .holder(of: [1])))
      },
      Vector(
        "holder-kind-1", "the agreed key as a passphrase is not tried", .each(["identity": .credentialRejected]),
        from: Draft.house
      ) {
        $0.addAgreed(identity, of: 1)
        let key = Agreement.ownerKey(vaultKey: $0.vaultKey, vaultID: $0.vaultID, holder: Agreement.point(of: identity))
        $0.slots.removeLast()
        $0.manifest.extensionField = []
        $0.addHolder(.passphrase(key.hexadecimal), of: 1)
        $0.attempts.append(attempt($0, .none))
      },
      Vector(
        "holder-stale", "an agreed slot of an earlier epoch", .each(["identity": .staleCredential]), from: Draft.house
      ) {
        $0.addAgreed(identity, of: 0)
        $0.groups[0].epoch = 2
        $0.attempts.append(attempt($0, .none))
      },
    ]
  }

  private static var pins: [Vector] {
    [
      Vector(
        "holder-pin-vault", "a pin of a different vault with the right key", .each(["identity": .tampered]),
        from: Draft.house
      ) {
        $0.addAgreed(identity, of: 1)
        let point = Agreement.point(of: Agreement.vaultSecret(of: $0.vaultKey))
        $0.attempts.append(attempt($0, .none, pin: Agreement.pin(vaultID: .run(from: 1, count: 16), point: point)))
      },
      Vector(
        "holder-pin-key", "a pin of the vault with its key of before a rotation",
        .each(["identity": .credentialRejected]), from: Draft.house
      ) {
        $0.addAgreed(identity, of: 1)
        let point = Agreement.point(of: Agreement.vaultSecret(of: .run(from: 3)))
        $0.attempts.append(attempt($0, .none, pin: Agreement.pin(vaultID: $0.vaultID, point: point)))
      },
      Vector(
        "holder-pin-before-slots", "a pin of a different vault, and no slot for the identity",
        .each(["identity": .tampered]), from: Draft.house
      ) {
        let point = Agreement.point(of: Agreement.vaultSecret(of: $0.vaultKey))
        $0.attempts.append(attempt($0, .none, pin: Agreement.pin(vaultID: .run(from: 1, count: 16), point: point)))
      },
      Vector(
        "holder-pin-behind-slots", "a pin of a different vault, and a slot that breaks a rule", .refused(.malformed),
        from: Draft.house
      ) {
        let point = Agreement.point(of: Agreement.vaultSecret(of: $0.vaultKey))
        $0.attempts.append(attempt($0, .none, pin: Agreement.pin(vaultID: .run(from: 1, count: 16), point: point)))
        $0.slots[0].zero = [1, 0]
      },
    ]
  }

  /// What is made by someone who knows the vault's id and pin and the holder's public key.
  private static var forged: [Vector] {
    [
      Vector(
        "holder-substituted", "a vault of someone else with the id of the trusted one",
        .each(["identity": .credentialRejected]),
        from: Draft.house
      ) {
        let pin = $0.pin
        $0.vaultKey = .run(from: 3)
        $0.addAgreed(identity, of: 1)
        $0.attempts = [.owner, attempt($0, .none, pin: pin)]
      },
      Vector(
        "holder-planted", "a slot and a section of someone else in the genuine file", .owner(.tampered),
        from: Draft.bare
      ) {
        $0.addAgreed(identity, of: 1)
        $0.attempts.append(attempt($0, .holder(of: [1])))
        let point = Agreement.point(of: identity)
        let key = Agreement.ownerKey(vaultKey: .run(from: 3), vaultID: $0.vaultID, holder: point)
        $0.groups.append(Group(id: Bytes(repeating: 0xFF, count: 16), name: Bytes("billing")))
        let index = $0.addHolder(.key(key), of: 2)
        $0.slots[index].granted = .run(from: 9)
        // The manifest is the genuine one.
        $0.manifest.lines = { groups, slots in
          groups.removeLast()
          slots.removeLast()
        }
        $0.manifest.twist.context = {
          $0[1].store(UInt16(3), at: 12)
          $0[1].store(UInt16(2), at: 14)
          $0[2].removeLast(168)
        }
      },
    ]
      + [0, 1, 3, 255].map { (kind: UInt8) in
        Vector(
          "holder-kind-changed-\(kind)", "the agreed slot with kind \(kind)",
          kind == 1 ? .refused(.kdfRefused) : .each(["owner": .tampered, "identity": .credentialRejected]),
          from: Draft.house
        ) {
          let index = $0.addAgreed(identity, of: 1)
          $0.attempts = [.owner, attempt($0, .none)]
          let head = 56 + 168 * index
          $0.finished = { file in
            file[head] = kind
            file.mendChecksum()
          }
        }
      }
  }

  private static var items: [Vector] {
    [
      Vector(
        "holder-items", "items of 0, 47 and 49 bytes, of a slot that is not there, of no point, and two of one slot",
        .opens,
        from: Draft.house
      ) {
        let index = $0.addAgreed(identity, of: 1)
        let (slot, point) = ($0.slots[index].id, Agreement.point(of: .run(from: 0x40)))
        for item in [
          [], slot + point.dropLast(), slot + point + [0], .run(from: 7, count: 16) + point, slot + .zeros(32),
          slot + point,
        ] { $0.manifest.extensionField += Record.item(1, item) }
        $0.attempts.append(attempt($0, .holder(of: [1])))
      },
      Vector("holder-item-owner", "an item of the owner's slot", .opens, from: Draft.house) {
        $0.manifest.extensionField += Record.item(1, $0.slots[0].id + Agreement.point(of: identity))
      },
    ]
  }
}
