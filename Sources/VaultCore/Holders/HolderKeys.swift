internal import VaultSealing

/// The public keys of the holders whose slots were agreed on: items with tag 1 of the manifest's extension
/// (`Docs/Format.md` annex G).
///
/// Such an item can tell less than it should, and never makes a file unreadable: one of a different length, or without
/// a usable public key, is kept and says nothing.
struct HolderKeys {
  static let tag: UInt16 = 1
  private static let count = Vault.Identifier.count + PublicPoint.count

  private typealias Item = (slot: Vault.Identifier, key: VaultIdentity.PublicKey)
  private var items: [Item] = []

  /// - Parameter field: the extension of a manifest.
  init(in field: [UInt8]) throws(VaultError) {
    var fields = Extension.Items(field.bytes)
    while let item = try fields.next() {
      guard item.tag == Self.tag, item.data.byteCount == Self.count,
        let point = PublicPoint(item.data.extracting(Vault.Identifier.count...))
      else { continue }
      items.append((Vault.Identifier(item.data), VaultIdentity.PublicKey(point)))
    }
  }

  /// Whose slot it is; `nil` if that is not known, or if several items say different things.
  func key(of slot: Vault.Identifier) -> VaultIdentity.PublicKey? {
    let keys = Set(items.filter { $0.slot == slot }.map(\.key))
    return keys.count == 1 ? keys.first : nil
  }

  /// All slots that an item says to be of this holder.
  func slots(of key: VaultIdentity.PublicKey) -> Set<Vault.Identifier> {
    Set(items.filter { $0.key == key }.map(\.slot))
  }

  /// The field with one more item.
  static func adding(
    _ key: VaultIdentity.PublicKey, of slot: Vault.Identifier, to field: [UInt8]
  ) throws(VaultError) -> [UInt8] {
    try changing(field, adding: [Extension.OwnedItem(tag, slot.bytes + key.point.bytes)]) { _ in true }
  }

  /// The field without the items of slots that are gone.
  static func keeping(_ slots: Set<Vault.Identifier>, in field: [UInt8]) throws(VaultError) -> [UInt8] {
    try changing(field) { slots.contains($0) }
  }

  private static func changing(
    _ field: [UInt8], adding new: [Extension.OwnedItem] = [], keeping isKept: (Vault.Identifier) -> Bool
  ) throws(VaultError) -> [UInt8] {
    var kept: [Extension.OwnedItem] = []
    var items = Extension.Items(field.bytes)
    while let item = try items.next() {
      let isOfSlot = item.tag == tag && item.data.byteCount == count
      if !isOfSlot || isKept(Vault.Identifier(item.data)) { kept.append(Extension.OwnedItem(item.tag, item.data.copy)) }
    }
    return Extension.field(kept + new)
  }
}
