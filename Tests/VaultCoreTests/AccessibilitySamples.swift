import VaultSealing

@testable import VaultCore

extension Vault.Transaction {
  /// Sets a text of that accessibility; the record keeps its own when nil.
  mutating func set(
    _ text: String, forKey key: String, as accessibility: Vault.Accessibility?, edit: RecordEdit = RecordEdit()
  ) throws(VaultError) {
    try set(Array(text.utf8), kind: .string, forKey: key, as: accessibility, edit: edit)
  }

  mutating func set(
    _ bytes: [UInt8], kind: ValueKind = .data, forKey key: String, as accessibility: Vault.Accessibility?,
    edit: RecordEdit = RecordEdit()
  ) throws(VaultError) {
    try set(bytes.span.bytes, kind: kind, forKey: key, accessibility: accessibility, edit: edit)
  }
}

extension Vault {
  func set(
    _ text: String, forKey key: String, in group: String = "default", as accessibility: Vault.Accessibility?,
    edit: RecordEdit = RecordEdit()
  ) throws(VaultError) {
    try transaction(service: Vault.Name("db"), in: self.group(named: group)) { batch throws(VaultError) in
      try batch.set(text, forKey: key, as: accessibility, edit: edit)
    }
  }

  func accessibility(_ key: String, in group: String = "default") throws(VaultError) -> Vault.Accessibility? {
    try record(service: Vault.Name("db"), key: key, in: self.group(named: group))?.accessibility
  }
}

extension Vault.Options {
  /// With the device key ``SealingKey/sample(from:)`` of that first byte.
  static func device(_ first: UInt8? = 0x80, seed: String = "device", reserve: Int = 64) throws -> Vault.Options {
    var options = sample(seed: seed, reserve: reserve)
    options.deviceKey = try first.map { try .sample(from: $0) }
    return options
  }
}

extension RecordEdit {
  static func keeping(_ depth: UInt16) -> RecordEdit {
    var edit = RecordEdit()
    edit.historyDepth = .set(depth)
    return edit
  }
}
