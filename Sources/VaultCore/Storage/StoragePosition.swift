/// Identifies the bytes of a storage between two replacements. Made by the storage and given back to it; two objects
/// may mean the same version.
public protocol StorageVersion: AnyObject, Sendable {
  /// Whether no other process can reach the version any more, so that later changes are not seen and writes are
  /// refused. The default is `false`.
  var isFrozen: Bool { get }
  /// Whether the place has returned to a different history since it returned bytes of this version, as a database does
  /// whose replica was promoted without its newest commits. What was read may then be lost, also if there is more now.
  /// The default is `false`.
  var mayBeLost: Bool { get }
}

extension StorageVersion {
  public var isFrozen: Bool { false }
  public var mayBeLost: Bool { false }
}

/// A place in the bytes of one version: the end of what a reader knows.
public struct StoragePosition: Sendable {
  /// The version, as the storage has returned it.
  public let version: any StorageVersion
  /// The number of bytes before the position.
  public let offset: Int
  /// The 32 bytes before the position; zero at offset 0.
  let tag: Vault.Tag

  init(version: any StorageVersion, offset: Int, tag: Vault.Tag) {
    self.version = version
    self.offset = offset
    self.tag = tag
  }

  /// - Parameter lastBytes: the 32 bytes before the offset.
  package init(version: any StorageVersion, offset: Int, lastBytes: [UInt8]) {
    self.init(version: version, offset: offset, tag: Vault.Tag(lastBytes.bytes))
  }

  /// The bytes before the position, of which a storage compares with its own: 32, or none at offset 0.
  public var lastBytes: [UInt8] { offset == 0 ? [] : tag.withSpan { $0.copy } }

  /// Whether `bytes`, which are those of a version from its start, have these last bytes at the offset.
  public func isInside(_ bytes: [UInt8]) -> Bool {
    guard offset <= bytes.count else { return false }
    return offset == 0 || offset >= Vault.Tag.count && Vault.Tag(bytes.bytes, at: offset - Vault.Tag.count) == tag
  }

  /// The beginning of a version.
  package static func start(of version: any StorageVersion) -> StoragePosition {
    StoragePosition(version: version, offset: 0, tag: .zero)
  }
}

/// What a storage has behind a position.
public enum StorageChanges: Sendable {
  /// Nothing new.
  case none
  /// The same version, with these bytes behind the position.
  case added(StoredBytes)
  /// A different version, or different bytes before the position: everything must be loaded again. With the new
  /// version if the storage has it at hand, for a read that must not wait, and otherwise `nil`.
  case replaced(StoredVault?)
  /// There is no vault any more.
  case removed
}

/// A vault's bytes as of one moment.
public struct StoredVault: Sendable {
  /// The version of the bytes.
  public let version: any StorageVersion
  /// All bytes of the version.
  public let bytes: StoredBytes

  /// Creates what a storage returns.
  public init(version: any StorageVersion, bytes: StoredBytes) {
    self.version = version
    self.bytes = bytes
  }
}

/// Bytes that a storage returns.
public struct StoredBytes: Sendable {
  let image: FileImage
  /// Where they begin in `image`.
  let start: Int

  init(_ image: FileImage, from start: Int = 0) {
    self.image = image
    self.start = start
  }

  /// Copies bytes.
  public init(_ bytes: [UInt8]) { self.init(FileImage(bytes)) }

  /// The number of bytes.
  public var count: Int { image.count - start }

  /// A copy of the bytes.
  public var bytes: [UInt8] { image[start..<image.count].copy }
}
