internal import VaultSealing

/// The keys that one group's values are sealed with, one for each accessibility class: CK = D(32, GK, "class-key",
/// class) of `Docs/Format.md` 2.1. Each is derived on first use.
struct ClassKeys {
  private let groupKey: SealingKey
  private var derived: [SealingKey?]

  init(of groupKey: SealingKey) {
    self.groupKey = groupKey
    derived = Vault.Accessibility.allCases.map { _ in nil }
  }

  mutating func key(_ accessibility: Vault.Accessibility, _ sealer: Sealer) throws(VaultError) -> SealingKey {
    let index = Int(accessibility.rawValue)
    if let key = derived[index] { return key }
    let key = try sealer.deriveKey("class-key", from: groupKey) { $0.add(accessibility.rawValue) }
    derived[index] = key
    return key
  }
}
