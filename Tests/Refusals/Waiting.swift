import PreferencesOperators
import Secrets

extension PreferenceKey<Int> {
  static let port = Self("server.port", default: 8080)
}

// In an `async` function, a call that may wait needs `await`.
func refused(_ credential: Vault.Credential, _ unlocking: Unlocking) async throws {
  _ = try Vault.open(at: "v", credential: credential)  // error: not marked with 'await'
  _ = try Vault.open(at: "v", unlocking: unlocking)  // error: not marked with 'await'
  _ = try Vault.open(unlocking: unlocking)  // error: not marked with 'await'
  _ = try Vault.create(at: "v", slots: [NewSlot(credential)])  // error: not marked with 'await'
  _ = try unlocking.credential()  // error: not marked with 'await'
  _ = try DeviceKey.file("k")  // error: not marked with 'await'
  _ = try PassphraseCost.calibrated()  // error: not marked with 'await'
}

func refused(_ file: JSONPreferences) async throws {
  try file.save()  // error: not marked with 'await'
  try file.reload()  // error: not marked with 'await'
  _ = try file.watch()  // error: not marked with 'await'
}

func refused(_ vault: Vault, _ group: AccessGroup, _ credential: Vault.Credential) async throws {
  try vault.unlock(with: credential)  // error: not marked with 'await'
  try vault.rotate(group)  // error: not marked with 'await'
  try vault.rotateVault(keeping: [credential])  // error: not marked with 'await'
  try vault.addSlot(NewSlot(credential))  // error: not marked with 'await'
  _ = try vault.verify()  // error: not marked with 'await'
  try vault.compact()  // error: not marked with 'await'
  try vault.backUp(to: "b")  // error: not marked with 'await'
  _ = try vault.readAuditLog(of: group)  // error: not marked with 'await'
  try Vault.restore("b", to: "v", credential: credential)  // error: not marked with 'await'
}

func refused(_ sealer: ValueSealer, _ sealed: SealedPreferences<JSONPreferences>) async throws {
  try sealer.createSealingKey()  // error: not marked with 'await'
  try sealer.renewSealingKey()  // error: not marked with 'await'
  try sealer.forgetPreviousSealingKeys()  // error: not marked with 'await'
  try sealed.resealAll()  // error: not marked with 'await'
}

func refused(
  _ tokens: SecretPreferences, _ layers: CompositePreferences, _ view: PreferencesView<SecretPreferences>,
  _ keychain: Keychain, _ port: Preference<Int>
) async throws {
  try tokens.set("text", forKey: "key")  // error: not marked with 'await'
  try tokens.transaction { batch in try batch.remove("key", ifRevision: 1) }  // error: not marked with 'await'
  try tokens.compareAndSet(nil, to: "text", forKey: "key")  // error: not marked with 'await'
  try layers.set(81, for: .port)  // error: not marked with 'await'
  try layers.set(encoding: [81], forKey: "ports")  // error: not marked with 'await'
  try layers.update(.port) { $0 += 1 }  // error: not marked with 'await'
  try view.compareAndSet(80, to: 81, forKey: "port")  // error: not marked with 'await'
  try keychain.set("text", key: "key")  // error: not marked with 'await'
  try port += 1  // error: not marked with 'await'
  // What is assigned cannot be awaited.
  layers[.port] = 81  // error: unavailable from asynchronous contexts
  tokens["key"] = "text"  // error: unavailable from asynchronous contexts
  keychain["key"] = "text"  // error: unavailable from asynchronous contexts
  port.value = 81  // error: unavailable from asynchronous contexts
}
