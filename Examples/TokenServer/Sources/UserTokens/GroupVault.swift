public import Secrets
public import ServiceLifecycle

/// A vault that is open for one access group only.
///
/// A group holder cannot read, list or count the records of other groups. A process that needs two groups holds two
/// keys, and is still no owner, who could also open every other group and change the slots.
public struct GroupVault: Sendable {
  public let group: String
  public let vault: Vault

  /// Opens the vault with the credential `GROUP.key` of systemd, or else with the key file that `TOKENS_GROUP_KEY_FILE`
  /// names.
  public init(_ group: String) throws(VaultError) {
    self.group = group
    vault = try Vault.open(
      unlocking: .first(of: [
        .credentialsDirectory(name: group), .keyFileVariable("TOKENS_\(group.uppercased())_KEY_FILE"),
      ]))
  }

  /// Returns the secrets of one service in this group.
  public func secrets(_ service: String) throws(VaultError) -> SecretPreferences {
    try SecretPreferences(service: service, accessGroup: group, in: vault)
  }
}

/// Wipes the keys of the vaults when the program ends. Services end in the opposite order, so list this one first.
public struct LockingService: Service {
  private let vaults: [GroupVault]

  public init(_ vaults: [GroupVault]) { self.vaults = vaults }

  public func run() async throws {
    defer { for each in vaults { each.vault.lock() } }
    try await gracefulShutdown()
  }
}
