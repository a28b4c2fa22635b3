/// Identifies the bytes of a storage between two replacements. Made by the storage and given back to it; two objects may
/// mean the same version.
protocol StorageVersion: AnyObject, Sendable {
  /// Whether no other process can reach the version any more, so that later changes are not seen and writes are
  /// refused. The default is `false`.
  var isFrozen: Bool { get }
}

extension StorageVersion {
  var isFrozen: Bool { false }
}

/// A place in the bytes of one version: the end of what a reader knows.
struct StoragePosition: Sendable {
  let version: any StorageVersion
  /// The number of bytes before the position.
  let offset: Int
  /// The 32 bytes before the position; zero at offset 0.
  let lastBytes: Vault.Tag

  /// The beginning of a version.
  static func start(of version: any StorageVersion) -> StoragePosition {
    StoragePosition(version: version, offset: 0, lastBytes: .zero)
  }
}

/// What a storage has behind a position.
enum StorageChanges: Sendable {
  /// Nothing new.
  case none
  /// The same version, with these bytes behind the position.
  case added(StoredBytes)
  /// A different version, or different bytes before the position: everything must be loaded again.
  case replaced
  /// There is no vault any more.
  case removed
}

/// A vault's bytes as of one moment.
struct StoredVault: Sendable {
  let version: any StorageVersion
  let bytes: StoredBytes
}

/// Bytes that a storage returns.
struct StoredBytes: Sendable {
  let image: FileImage
  /// Where they begin in `image`.
  let start: Int

  init(_ image: FileImage, from start: Int = 0) {
    self.image = image
    self.start = start
  }

  /// The number of bytes.
  var count: Int { image.count - start }
}
