public import Testing
public import VaultCore

/// A kind of storage to check against the rules of storages: how to make an empty one, and how another process would
/// open it.
///
/// ```swift
/// let objects = StorageUnderTest("object store") { fixture in ObjectStorage(bucket: fixture.uniqueName()) }
///
/// @Test(.timeLimit(.minutes(1)), arguments: StorageRule.all)
/// func `our storage conforms`(rule: StorageRule) async { await rule.check(objects) }
/// ```
public struct StorageUnderTest: Sendable, CustomTestStringConvertible {
  /// Makes a storage without a vault, at a place that it shares with no other.
  public typealias Making = @Sendable (StorageFixture) throws -> any VaultStorage
  /// Makes a storage at the same place, as another process would.
  public typealias Reopening = @Sendable (any VaultStorage, StorageFixture) throws -> any VaultStorage

  /// The name of the kind in failures.
  public let name: String
  let make: Making
  let reopen: Reopening

  /// Creates a kind of storage.
  ///
  /// - Parameters:
  ///   - reopen: opens the place of a storage again; `nil` for storages that end with the object.
  ///   - make: makes an empty storage; called for each storage that a rule needs.
  public init(_ name: String, reopening reopen: Reopening? = nil, make: @escaping Making) {
    self.name = name
    self.make = make
    self.reopen = reopen ?? { storage, _ in storage }
  }

  public var testDescription: String { name }
}
