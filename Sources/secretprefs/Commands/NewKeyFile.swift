internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// A new raw key in a new file (`Docs/Format.md` 2.5).
struct NewKeyFile {
  let key: SealingKey
  private let file: NewSecretFile

  /// Generates the key and creates the file. Fails if the path exists.
  ///
  /// - Parameters:
  ///   - access: the vault of the command.
  ///   - other: another file that the command writes.
  init(at path: String, besides access: VaultAccess, and other: String? = nil) throws {
    key = try SealingKey(from: .system)
    file = try NewSecretFile(at: path, .key, try KeyText.write(key), besides: access, and: other)
  }

  /// Removes the file after the write of a slot with its key has failed: a key file that opens nothing would be
  /// mistaken for a working one. But if only the durability is unknown, the slot exists and needs its key.
  func remove(after error: VaultError) {
    if error.code != .durabilityUnknown { file.remove() }
  }
}
