internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// A new file with a secret text and mode 0600, synced before a vault depends on it.
struct NewSecretFile {
  /// What the file is.
  struct Content {
    static let key = Content(kind: .key, what: "the key file", name: "a key file's name")
    static let identity = Content(kind: .identity, what: "the identity file", name: "an identity file's name")

    let kind: OwnFile
    let what: String
    let name: String
  }

  private let path: String
  private let file: Descriptor<VaultError>

  /// Creates the file. Fails if the path exists.
  ///
  /// - Parameters:
  ///   - text: a line feed is added.
  ///   - access: the vault of the command.
  ///   - other: another file that the command writes.
  init(
    at path: String, _ content: Content, _ text: borrowing SecretBytes, besides access: VaultAccess,
    and other: String? = nil
  ) throws {
    // Reserved beside a vault: `Docs/Format.md` section 9.3.
    guard !path.hasSuffix(".tmp") else {
      throw ToolError.usage("\(content.name) must not end in .tmp, which is reserved for temporary files")
    }
    try access.checkOutput(path, as: content.what, kind: content.kind, reading: [other])
    self.path = path
    do throws(VaultError) {
      file = try WholeFile<VaultError>(path, kind: content.kind).create { (file) throws(VaultError) in
        // The umask may have removed the owner's access.
        guard fchmod(file.raw, 0o600) == 0 else { throw .io("\(path): set \(content.what)'s mode") }
        try text.withSpan { (text) throws(VaultError) in try file.write(text, at: 0) }
        try file.write([UInt8(ascii: "\n")], at: text.count)
        try file.synchronize()
      }
    } catch {
      throw error.code == .alreadyExists ? Self.exists(path, content) : error
    }
    do throws(VaultError) {
      // A directory that is not readable cannot be synced.
      _ = try Descriptor<VaultError>.synchronizeDirectory(PathName.directory(of: path))
    } catch {
      remove()
      throw error
    }
  }

  /// The error for an existing file. It may open a different vault, so it is neither reused nor overwritten.
  private static func exists(_ path: String, _ content: Content) -> ToolError {
    ToolError(
      VaultError(.alreadyExists, "\(path): \(content.what) cannot be created: the path already exists"),
      hint: "choose a different path, or remove \(content.kind == .key ? "a key" : "an identity") file that an "
        + "interrupted command left and that opens no vault")
  }

  func remove() { file.discard(path) }
}
