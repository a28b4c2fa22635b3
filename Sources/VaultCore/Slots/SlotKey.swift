package import VaultSealing

/// The keys of the slots of one vault that a credential opened. They open the vault without the passphrase or key that
/// they were derived from.
package struct SlotKey: Sendable {
  package typealias Slot = (id: Vault.Identifier, kek: SealingKey, holder: VaultIdentity.PublicKey?)

  package let vault: Vault.Identifier
  /// At least one.
  package let slots: [Slot]

  init(vault: Vault.Identifier, slots: [Slot]) {
    self.vault = vault
    self.slots = slots
  }

  private static let headCount = Vault.Identifier.count + 1
  /// The id, the key, and the public key of the identity that opened the slot, or zeros.
  private static let slotCount = Vault.Identifier.count + SealingKey.count + PublicPoint.count

  /// The least and the greatest length of the form that ``write(to:)`` writes, in bytes.
  package static let leastCount = headCount + slotCount
  package static let mostCount = headCount + Vault.Limits.slots * slotCount

  /// The length of the form that ``write(to:)`` writes, in bytes.
  package var count: Int { Self.headCount + slots.count * Self.slotCount }

  /// Copies keys from the start of `bytes`, which the caller wipes. More may follow; ``count`` says where.
  ///
  /// Returns `nil` if the bytes have not this form.
  package init?(_ bytes: RawSpan) throws(VaultError) {
    guard bytes.byteCount >= Self.leastCount else { return nil }
    let number = Int(bytes.integer(at: Vault.Identifier.count, UInt8.self))
    guard (1...Vault.Limits.slots).contains(number), bytes.byteCount >= Self.headCount + number * Self.slotCount else {
      return nil
    }
    vault = Vault.Identifier(bytes)
    var slots: [Slot] = []
    for index in 0..<number {
      let start = Self.headCount + index * Self.slotCount
      let kek = start + Vault.Identifier.count
      let holder = kek + SealingKey.count
      slots.append(
        (
          Vault.Identifier(bytes, at: start),
          try SealingKey(copying: bytes.extracting(kek..<holder)),
          PublicPoint(bytes.extracting(holder..<holder + PublicPoint.count)).map { VaultIdentity.PublicKey($0) }
        ))
    }
    self.slots = slots
  }

  /// Writes the keys to guarded memory of ``count`` bytes.
  package func write(to bytes: UnsafeMutableRawBufferPointer) {
    unsafe bytes.copyBytes(from: vault.bytes + [UInt8(slots.count)])
    for (index, slot) in slots.enumerated() {
      let start = Self.headCount + index * Self.slotCount
      let place = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + Self.slotCount])
      unsafe place.copyBytes(from: slot.id.bytes)
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: place[Vault.Identifier.count...])
      slot.kek.withSpan { key in unsafe key.withUnsafeBytes { unsafe rest.copyBytes(from: $0) } }
      let holder = slot.holder?.point.bytes ?? [UInt8](repeating: 0, count: PublicPoint.count)
      unsafe UnsafeMutableRawBufferPointer(rebasing: rest[SealingKey.count...]).copyBytes(from: holder)
    }
  }
}

extension Vault {
  /// The keys of the slots that unlocked this handle.
  package func slotKey() throws(VaultError) -> SlotKey {
    let vaultID = handle.vaultID
    return try handle.withLoadedState { (_, state) throws(VaultError) in
      SlotKey(vault: vaultID, slots: state.unlocked.slots.map { ($0.id, $0.kek, $0.holder) })
    }
  }
}
