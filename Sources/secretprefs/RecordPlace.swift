internal import VaultCore

/// The service and access group that a command works on: what its options and the environment say, checked.
struct RecordPlace {
  let service: Vault.Name
  private let groupName: String?

  init(service: String?, group: String?) throws {
    let named = try service ?? VaultLocation.variable("SECRETPREFS_SERVICE")
    self.service = try Vault.Name(named ?? "default")
    groupName = group
  }

  /// The access group that was named; else `default`, or the one of a holder who has another.
  func group(in vault: Vault) throws -> AccessGroup {
    if let groupName { return try vault.grantedGroup(groupName) }
    do throws(VaultError) { return try vault.group() } catch {
      // Not for an owner: what a script puts into `default` must not reach another group's holders once that is gone.
      guard error.code == .groupNotGranted, try !vault.isOwner, let only = try vault.groups().first else { throw error }
      return only
    }
  }

  /// The error for a key that is not there. Whether another service has one may be said: any holder of the group's key
  /// can list it.
  func noSuchKey(_ key: String, in group: AccessGroup, of vault: Vault) throws(VaultError) -> ToolError {
    let name = try Vault.Name(key)
    return try vault.records(in: group).contains { $0.key == name } ? .keyOfAnotherService : .noSuchKey
  }
}
