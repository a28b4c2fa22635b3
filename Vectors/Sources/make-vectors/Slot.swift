/// A slot as it is to be written (3.2), and its line in the manifest.
struct Slot {
  var kind: UInt8
  /// The byte, whatever it is.
  var scope: UInt8 = 0
  var zero: Bytes = [0, 0]
  var epoch: UInt32 = 0
  var id: Bytes
  var groupID = Bytes.zeros(16)
  var passes: UInt32 = 0
  var memory: UInt32 = 0
  var salt = Bytes.zeros(16)
  /// `nil` where nobody is meant to open the slot: then no passphrase is stretched, at whatever cost it asks for.
  var credential: Credential?
  /// Another key than the one that the scope grants.
  var granted: Bytes?
  var twist = Twist()
  let random: Bytes

  var label = Bytes("slot")
  var created = Draft.time
  /// Kept by the manifest in place of the right one.
  var listedKEK: Bytes?
  var listedID: Bytes?

  static let headCount = 64

  var head: Bytes {
    [kind, scope] + zero + .integer(epoch) + id + groupID + .integer(passes) + .integer(memory) + salt
  }

  /// KEK = D(32, root, "kek", vault id, slot id).
  func kek(vaultID: Bytes) -> Bytes { Sealing.derive(32, root, "kek", vaultID, id) }

  private var root: Bytes {
    switch credential {
    case .passphrase(let text): Sealing.stretch(Bytes(text), salt: salt, passes: passes, kibibytes: memory)
    case .key(let key): key
    case .identity: preconditionFailure("a slot is made with the key that was agreed on")
    case nil: Sealing.hash(32, Bytes("nobody"))
    }
  }

  func bytes(vaultID: Bytes, granting key: Bytes) -> Bytes {
    head
      + twist.seal(
        granted ?? key, key: kek(vaultID: vaultID), context: [Bytes("slot"), vaultID, head], random: random)
  }

  /// The slot's line in the manifest.
  func listed(vaultID: Bytes) -> Bytes {
    (listedID ?? id) + (listedKEK ?? (scope == 1 ? kek(vaultID: vaultID) : .zeros(32))) + .integer(created)
      + .lp16(label)
  }
}
