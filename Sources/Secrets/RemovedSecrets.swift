public import FoundationEssentials
public import VaultCore

/// A removed secret that is kept for a while, so that it can be restored.
public struct RemovedSecret: Sendable, Hashable {
  /// The key of the secret.
  public let key: String
  /// When it was removed, by the clock of the writer.
  public let removed: Date
  /// The time from which a write may drop it for good.
  public let keptUntil: Date
  /// The revisions of the values that can be restored, newest first.
  public let revisions: [UInt64]

  init(_ record: RemovedRecord) {
    key = record.key.text
    removed = Date(milliseconds: record.removed)
    keptUntil = Date(milliseconds: record.keptUntil)
    revisions = record.previous.map(\.revision)
  }
}

/// Prints as the number of its values: names may be confidential.
extension RemovedSecret: CustomStringConvertible, CustomReflectable {
  public var description: String { "\(revisions.count) earlier values" }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension SecretPreferences {
  /// Returns the secrets that were removed and are kept, because the writer's ``Vault/Keeping`` said so. Opens no
  /// value.
  ///
  /// Everything else treats them as absent.
  /// - Throws: the errors of ``keys()``.
  public func removedSecrets() throws(VaultError) -> [RemovedSecret] {
    try vault.removedRecords(service: serviceName, in: group).map(RemovedSecret.init)
  }

  /// Makes a removed secret exist again, with its value, metadata and remaining earlier values. Durable when it
  /// returns.
  ///
  /// - Parameter revision: the revision of an earlier value; `nil` for the value that it had when it was removed.
  /// - Returns: `false` if there is no removed secret of that key.
  /// - Throws: ``VaultError/Code/conflict`` if the key was set in between; ``VaultError/Code/notFound`` if the secret
  ///   has no value of that revision; the errors of `apply(_:)`.
  @discardableResult
  public func restore(_ key: String, revision: UInt64? = nil) throws -> Bool {
    guard let restored = try restorable(key, revision) else { return false }
    try transaction { batch in try batch.restore(key, revision: restored, ifRevision: 0) }
    return true
  }

  /// The asynchronous form of `restore(_:revision:)`; never blocks a cooperative thread.
  @discardableResult
  public func restore(_ key: String, revision: UInt64? = nil) async throws -> Bool {
    guard let restored = try await reading({ try $0.restorable(key, revision) }) else { return false }
    try await transaction { batch in try batch.restore(key, revision: restored, ifRevision: 0) }
    return true
  }

  private func restorable(_ key: String, _ revision: UInt64?) throws(VaultError) -> UInt64? {
    guard let removed = try vault.removedRecord(service: serviceName, key: key, in: group) else { return nil }
    return revision ?? removed.previous.first?.revision
  }
}
