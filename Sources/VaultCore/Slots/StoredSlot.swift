internal import VaultSealing

/// One slot with its 168 bytes in the file (`Docs/Format.md` 3.2).
struct StoredSlot: Sendable, Equatable {
  static let count = 168
  static let headerCount = 64
  static let passphraseKind: UInt8 = 1
  static let rawKeyKind: UInt8 = 2

  enum Scope: Sendable, Equatable {
    case owner
    case group(Vault.Identifier, epoch: UInt32)

    /// The id of the group; `nil` for an owner slot.
    var group: Vault.Identifier? { if case .group(let id, _) = self { id } else { nil } }
  }

  let bytes: [UInt8]

  init(_ bytes: RawSpan) {
    precondition(bytes.byteCount == Self.count)
    self.bytes = bytes.copy
  }

  var kind: UInt8 { bytes[0] }
  var id: Vault.Identifier { identifier(at: 8) }
  var groupID: Vault.Identifier { identifier(at: 24) }
  var epoch: UInt32 { integer(at: 4) }
  var cost: PassphraseCost { PassphraseCost(passes: integer(at: 40), kibibytes: integer(at: 44)) }
  var salt: [UInt8] { Array(bytes[48..<64]) }
  var scope: Scope { bytes[1] == 0 ? .owner : .group(groupID, epoch: epoch) }

  /// Makes a slot that contains `granted` sealed with `kek`.
  ///
  /// - Parameter kek: the key-encryption key, derived with the same id and salt.
  static func make(
    kind: UInt8, scope: Scope, id: Vault.Identifier, cost: PassphraseCost?, salt: [UInt8], vault: Vault.Identifier,
    granting granted: SealingKey, kek: SealingKey, sealer: Sealer
  ) -> StoredSlot {
    var header = ByteWriter()
    header.integer(kind)
    switch scope {
    case .owner:
      header.zeros(7)
      header.raw(id)
      header.zeros(Vault.Identifier.count)
    case .group(let group, let epoch):
      header.integer(UInt8(1))
      header.zeros(2)
      header.integer(epoch)
      header.raw(id)
      header.raw(group)
    }
    header.integer(cost?.passes ?? 0)
    header.integer(cost?.kibibytes ?? 0)
    header.raw(salt)
    sealer.bind(to: .slot(vault: vault, header: header.bytes.bytes))
    header.raw(granted.withSpan { sealer.seal($0, with: kek) })
    return StoredSlot(header.bytes.bytes)
  }

  /// Whether this version can make slots of the kind.
  var isKnown: Bool { kind == Self.passphraseKind || kind == Self.rawKeyKind }

  /// The same slot with a different granted key. Id, cost and salt do not change, so its credential stays valid.
  func rewrapped(
    _ scope: Scope, granting granted: SealingKey, kek: SealingKey, vault: Vault.Identifier, sealer: Sealer
  ) -> StoredSlot {
    StoredSlot.make(
      kind: kind, scope: scope, id: id, cost: kind == Self.passphraseKind ? cost : nil, salt: salt, vault: vault,
      granting: granted, kek: kek, sealer: sealer)
  }

  fileprivate var obeysRules: Bool {
    guard bytes[2] == 0, bytes[3] == 0 else { return false }
    guard isKnown else { return true }
    switch bytes[1] {
    case 0: guard epoch == 0, groupID == .zero else { return false }
    case 1: guard (1..<(1 << 31)).contains(epoch), groupID != .zero else { return false }
    default: return false
    }
    return kind == Self.passphraseKind || bytes[40..<64].allSatisfy { $0 == 0 }
  }

  private func integer(at offset: Int) -> UInt32 {
    bytes.bytes.integer(at: offset)
  }

  private func identifier(at offset: Int) -> Vault.Identifier {
    Vault.Identifier(bytes.bytes, at: offset)
  }
}

extension [StoredSlot] {
  /// Checks the rules of 3.2 and the bounds of 3.10 for all slots of a file before anything is derived (section 4, step
  /// 5).
  func check() throws(VaultError) {
    guard count <= Vault.Limits.slots else {
      throw VaultError(.limitExceeded, "more than \(Vault.Limits.slots) slots")
    }
    var seen: Set<Vault.Identifier> = []
    var work: UInt64 = 0
    var passphrases = 0
    for slot in self {
      guard slot.obeysRules, seen.insert(slot.id).inserted else { throw .malformed("a slot") }
      guard slot.kind == StoredSlot.passphraseKind else { continue }
      guard slot.cost.isAcceptable else {
        throw VaultError(.kdfRefused, "the cost of a slot is \(slot.cost), outside the accepted bounds")
      }
      work += slot.cost.work
      passphrases += 1
    }
    guard work <= PassphraseCost.acceptedTotalWork else {
      throw VaultError(.kdfRefused, "all slots together require more work than is accepted")
    }
    guard passphrases <= Vault.Limits.passphraseSlots else {
      throw VaultError(.limitExceeded, "more than \(Vault.Limits.passphraseSlots) passphrase slots")
    }
  }
}
