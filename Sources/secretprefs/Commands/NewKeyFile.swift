internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// A new raw key in a new file (`Docs/Format.md` 2.5) with mode 0600, synced before a vault depends on it.
struct NewKeyFile {
  let key: SealingKey
  private let path: String
  private let file: Descriptor<VaultError>

  /// Generates the key and creates the file. Fails if the path exists.
  ///
  /// - Parameters:
  ///   - access: the vault of the command.
  ///   - other: another file that the command writes.
  init(at path: String, besides access: VaultAccess, and other: String? = nil) throws {
    guard !path.isEmpty else { throw ToolError.usage("the key file's path is empty") }
    // Earlier versions could mistake the file for the leftover of a crash.
    guard !path.hasSuffix(".tmp") else {
      throw ToolError.usage("a key file's name must not end in .tmp, which is reserved for temporary files")
    }
    try access.checkOutput(path, as: "the key file", kind: .key, reading: [other])
    self.path = path
    key = try SealingKey(from: .system)
    let text = try KeyText.write(key)
    do throws(VaultError) {
      file = try WholeFile<VaultError>(path, kind: .key).create { (file) throws(VaultError) in
        // The umask may have removed the owner's access.
        guard fchmod(file.raw, 0o600) == 0 else { throw .io("\(path): set the key file's mode") }
        try text.withSpan { (text) throws(VaultError) in try file.write(text, at: 0) }
        try file.write([UInt8(ascii: "\n")], at: text.count)
        try file.synchronize()
      }
    } catch {
      throw error.code == .alreadyExists ? Self.exists(path) : error
    }
    do throws(VaultError) {
      // A directory that is not readable cannot be synced.
      _ = try Descriptor<VaultError>.synchronizeDirectory(PathName.directory(of: path))
    } catch {
      remove()
      throw error
    }
  }

  /// The error for an existing file. It may be the key of a different vault, so it is neither reused nor overwritten.
  private static func exists(_ path: String) -> ToolError {
    ToolError(
      VaultError(.alreadyExists, "\(path): the key file cannot be created: the path already exists"),
      hint: "choose a different path, or remove a key file that an interrupted command left and that opens no vault")
  }

  /// Removes the file after the write of a slot with its key has failed: a key file that opens nothing would be
  /// mistaken for a working one. But if only the durability is unknown, the slot exists and needs its key.
  func remove(after error: VaultError) {
    if error.code != .durabilityUnknown { remove() }
  }

  private func remove() { file.discard(path) }
}
