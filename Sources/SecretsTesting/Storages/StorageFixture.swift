internal import FoundationEssentials
internal import VaultCore

/// The storages that one check of one rule makes.
public final class StorageFixture: Sendable {
  private let kind: StorageUnderTest
  private let directory: ThrowawayDirectory
  /// An empty folder for this check only, removed after the check. It is in the folder that the environment variable
  /// `SECRETS_TESTING_FOLDER` names, or else in memory-backed storage if there is any.
  public var folder: String { directory.path }

  init(_ kind: StorageUnderTest) throws {
    self.kind = kind
    directory = try ThrowawayDirectory()
  }

  /// Returns a name that this check has not used yet.
  public func uniqueName() -> String { UUID().uuidString }

  /// Makes an empty storage.
  func makeStorage() throws -> any VaultStorage { try kind.make(self) }

  /// Opens the place of a storage again, as another process would.
  func reopened(_ storage: any VaultStorage) throws -> any VaultStorage { try kind.reopen(storage, self) }

  /// Makes a storage with a snapshot, of which nothing needs to be a vault.
  func makeStored(_ count: Int = 4_096) throws -> StoredPieces { try StoredPieces(in: makeStorage(), count) }
}
