import Foundation
public import Logging
public import Secrets
public import SecretsLifecycle
import VaultPostgres

/// A vault that is open for one access group only.
///
/// A group holder cannot read, list or count the records of other groups. A process that needs two groups holds two
/// keys, and is still no owner, who could also open every other group and change the slots.
public struct GroupVault: Sendable {
  public let group: String
  public let vault: Vault
  private let unlocking: Unlocking

  /// Opens the vault that `SECRETPREFS_VAULT` names: a path, or `postgresql://host/database#vault`, as the tool takes
  /// it. The credential is `GROUP.key` of systemd, or else the key file that `TOKENS_GROUP_KEY_FILE` names.
  public init(_ group: String) async throws(VaultError) {
    self.group = group
    unlocking = .first(of: [
      .credentialsDirectory(name: group), .keyFileVariable("TOKENS_\(group.uppercased())_KEY_FILE"),
    ])
    vault =
      if let database = try Self.database { try await Vault.open(in: database, unlocking: unlocking) } else {
        try await Vault.open(unlocking: unlocking)
      }
  }

  /// The place of the vault, if it is in a database.
  private static var database: PostgresStorage? {
    get throws(VaultError) {
      guard let place = ProcessInfo.processInfo.environment["SECRETPREFS_VAULT"],
        ["postgresql://", "postgres://"].contains(where: place.hasPrefix)
      else { return nil }
      let parts = place.split(separator: "#", maxSplits: 1)
      return try .postgres(String(parts[0]), vault: parts.count == 2 ? parts[1].removingPercentEncoding ?? "" : "")
    }
  }

  /// Returns the secrets of one service in this group.
  public func secrets(_ service: String) throws(VaultError) -> SecretPreferences {
    try SecretPreferences(service: service, accessGroup: group, in: vault)
  }

  /// Returns the service that unlocks the vault again if its key was replaced, and locks it when the program ends.
  /// Services end in the opposite order, so list this one first.
  public func service(logger: Logger) throws(VaultError) -> VaultService {
    VaultService(try secrets("token-server"), unlocking: unlocking, logger: logger)
  }
}
