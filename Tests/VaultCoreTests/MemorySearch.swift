import VaultMemorySearching
import Synchronization

@testable import VaultCore
@testable import VaultSealing

extension MemorySearch {
  /// Adds all keys of a vault, and what values and sections are sealed with.
  func addKeys(of vault: Vault, prefix: String = "") throws {
    let state = try vault.handle.loaded.withLock { try $0.state }
    let sealer = try Sealer()
    if let key = state.unlocked.vaultKey { add(prefix + "vault key", key) }
    add(prefix + "slot key", state.unlocked.kek)
    for group in state.groups {
      let content = try state.content(group.id)
      let name = prefix + content.name.text
      add("\(name) group key", content.key)
      addSubkeys(
        "\(name) subkeys", content.key, .section(vault: content.vaultID, group: content.id, epoch: content.epoch),
        sealer)
      for accessibility in Vault.Accessibility.allCases {
        let key = try sealer.deriveKey("class-key", from: content.key) { $0.add(accessibility.rawValue) }
        add("\(name) class key \(accessibility.rawValue)", key)
        for value in SearchedVault.values where value.accessibility == accessibility {
          let (service, name) = (try Vault.Name("db"), try Vault.Name(value.key))
          addSubkeys(
            "\(prefix)subkeys of \(value.key)", key, .value(service: service.bytes, key: name.bytes, kind: 2), sealer)
        }
      }
    }
  }

  /// Adds what a credential becomes for a slot.
  func addCredential(_ credential: Vault.Credential, of slot: StoredSlot, in vault: Vault, prefix: String = "") throws {
    let sealer = try Sealer()
    let root = try credential.root(salt: slot.salt, cost: slot.cost)
    let key = try StoredSlot.kek(from: root, vault: vault.handle.vaultID, slot: slot.id, sealer)
    if credential.kind == StoredSlot.passphraseKind { add(prefix + "root", root) }
    add(prefix + "slot key", key)
    addSubkeys(
      prefix + "subkeys of a slot", key,
      .slot(vault: vault.handle.vaultID, header: slot.bytes.span.bytes.extracting(..<StoredSlot.headerCount)), sealer)
  }

  func addSubkeys(_ name: String, _ key: SealingKey, _ context: Context, _ sealer: Sealer) {
    withUnsafeTemporaryAllocation(byteCount: 64, alignment: 16) { out in
      sealer.derive("seal", from: key, into: out) { context.write(to: $0) }
      add(name, UnsafeRawBufferPointer(out))
    }
  }
}
