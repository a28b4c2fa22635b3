import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Row G11: items with tag 1 of the manifest's extension that no writer of this package leaves.
  struct HolderItemTests {}
}

extension EveryStorage.HolderItemTests {
  /// Writes these items besides those that are there, as an owner.
  private static func write(_ items: [[UInt8]], _ held: HeldVault) throws {
    try held.owner.rewrite { (draft, _) throws(VaultError) in
      var kept: [Extension.OwnedItem] = []
      let field = draft.extensionField
      var fields = Extension.Items(field.bytes)
      while let item = try fields.next() { kept.append(Extension.OwnedItem(item.tag, item.data.copy)) }
      draft.extensionField = Extension.field(kept + items.map { Extension.OwnedItem(HolderKeys.tag, $0) })
      return nil
    }
  }

  @Test(arguments: [0, 15, 47, 49, 96]) func `row G11: an item of a different length is kept and says nothing`(
    count: Int
  ) throws {
    try HeldVault.with { held in
      let odd = Array(
        (held.slot.bytes + held.identity.publicKey.point.bytes + held.slot.bytes + held.slot.bytes
          + held.slot.bytes).prefix(count))
      try Self.write([odd], held)

      #expect(try held.items.contains(odd))
      #expect(try held.owner.slots().compactMap(\.publicKey) == [held.identity.publicKey])
      try held.owner.rotateVault()
      #expect(try held.items.contains(odd))
      #expect(try held.refusal(trusting: held.owner.pin()) == nil)
    }
  }

  @Test func `row G11: a public key that no holder has is kept and says nothing`() throws {
    try HeldVault.with { held in
      let two = try held.shared.slot("two")
      let odd = two.bytes + [UInt8](repeating: 0, count: 32)
      try Self.write([odd], held)

      #expect(try held.items.contains(odd))
      #expect(try held.owner.slots().first { $0.id == two }?.publicKey == nil)
      try held.owner.rotateVault()
      #expect(try Vault.refusal(at: held.path, held.shared.credential(of: "two")) == nil)
    }
  }

  @Test func `row G11: an item of a slot that is gone is dropped by the next owner write`() throws {
    try HeldVault.with { held in
      let key = try VaultIdentity.sample(2).publicKey.point.bytes
      try Self.write([[UInt8](repeating: 5, count: 16) + key], held)
      #expect(try held.items.count == 1)

      try held.owner.removeSlotWithoutRotation(held.slot)
      #expect(try held.items.isEmpty)
    }
  }

  @Test func `row G11: if items name two holders of a slot, a removal of each takes it, and no rotation renews it`()
    throws
  {
    for number in [UInt8(1), 2] {
      try HeldVault.with { held in
        try Self.write([held.slot.bytes + VaultIdentity.sample(2).publicKey.point.bytes], held)
        #expect(try held.items.count == 2)
        #expect(try held.owner.slots().allSatisfy { $0.publicKey == nil })

        #expect(try held.owner.rotateVault().renewedSlots.isEmpty)
        #expect(try held.refusal() == nil)
        try held.owner.removeSlots(of: VaultIdentity.sample(number).publicKey)
        #expect(try held.refusal() == .credentialRejected)
        #expect(try held.items.isEmpty)
      }
    }
  }

  @Test func `an item of a passphrase slot says whose it is and does not make it one of a public key`() throws {
    try HeldVault.with { held in
      let slot = try held.owner.addSlot(
        NewSlot(.passphrase("words"), cost: .throwaway), granting: held.owner.group(named: "two"))
      try Self.write([slot.bytes + VaultIdentity.sample(2).publicKey.point.bytes], held)

      try held.owner.rotateVault()
      #expect(try Vault.refusal(at: held.path, .passphrase("words")) == nil)
    }
  }
}
