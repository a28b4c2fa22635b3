internal import DurableFiles
internal import Synchronization

/// The identity of a file with an open descriptor, which prevents reuse of the inode number. The version of a vault in
/// a file.
final class OpenFile: StorageVersion {
  let descriptor: Descriptor
  let identity: FileIdentity
  /// The status when the file was opened.
  let status: stat
  private let frozen = Atomic(false)
  private let durableName = Atomic(false)

  init(_ descriptor: Descriptor, _ status: stat) {
    self.descriptor = descriptor
    identity = FileIdentity(status)
    self.status = status
  }

  /// Whether all names of the file at the path are gone: it is a single-file mount whose original was replaced.
  var isFrozen: Bool {
    get { frozen.load(ordering: .relaxed) }
    set { frozen.store(newValue, ordering: .relaxed) }
  }

  /// Whether the directory is known to hold the file's name durably.
  var isNameDurable: Bool {
    get { durableName.load(ordering: .relaxed) }
    set { durableName.store(newValue, ordering: .relaxed) }
  }

  /// Reads what is behind a position and before `end`.
  func changes(since position: StoragePosition, end: Int, limit: Int) throws(VaultError) -> StorageChanges {
    guard end >= position.offset else { return .replaced(nil) }
    let known = min(position.offset, Vault.Tag.count)
    let image = try FileImage(descriptor, position.offset - known..<end, limit: limit)
    guard known == 0 || image.count >= known && Vault.Tag(image.span) == position.tag else { return .replaced(nil) }
    return .added(StoredBytes(image, from: known))
  }
}
