internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// A file to import, a password store of pass, or standard input, in guarded memory.
struct PlainInput: ~Copyable {
  /// The longest file that is read. It is in memory as a whole.
  static let longest = 256 << 20

  var bytes: SecretBytes
  /// The entries in `bytes`, if the source is a password store of pass and not a file.
  var store: PassStore?
  /// Whether the file stays on the disk after the import.
  let isOnDisk: Bool

  /// - Parameters:
  ///   - path: the path of the file or the password store; `-` for standard input.
  ///   - format: its format, if the user has named it.
  ///   - encoding: its encoding, if the user has named it.
  static func read(_ path: String, as format: PlainFormat?, in encoding: TextEncoding?) throws -> PlainInput {
    guard path != "-" else {
      guard isatty(STDIN_FILENO) == 0 else { throw ToolError.usage("standard input is a terminal") }
      let bytes = try whole(STDIN_FILENO, "read standard input")
      return PlainInput(bytes: try decoded(bytes, in: encoding), isOnDisk: false)
    }
    let file = try Descriptor<VaultError>.open(path, O_RDONLY | O_NOCTTY) { .io("\(path): open the file", $0) }
    defer { extendLifetime(file) }
    guard isatty(file.raw) == 0 else { throw ToolError.usage("\(path): the file is a terminal") }
    guard try file.status().st_mode & S_IFMT != S_IFDIR else {
      guard format ?? .pass == .pass else { throw ToolError.usage("\(path): a directory is not a file") }
      return try PassStore.read(path)
    }
    let bytes = try whole(file.raw, "\(path): read the file")
    return PlainInput(
      bytes: try decoded(bytes, in: encoding), isOnDisk: try file.status().st_mode & S_IFMT == S_IFREG)
  }

  /// Reads to the end. A file that is too long is bad: no argument is wrong, as it would be for a value.
  static func whole(_ descriptor: Int32, atMost limit: Int = longest, _ step: String) throws -> SecretBytes {
    do { return try ValueReader.read(descriptor, atMost: limit, step) } catch let error as VaultError
      where error.code == .valueTooLarge
    {
      throw VaultError(
        .limitExceeded, error.message, cause: Cure(hint: "split the file, or take out what is not needed"))
    }
  }

  /// The text in UTF-8. Bytes that are not UTF-8 stay if no encoding is named, by the user or in the file.
  private static func decoded(_ bytes: consuming SecretBytes, in encoding: TextEncoding?) throws -> SecretBytes {
    let named = try encoding ?? bytes.withUnsafeBytes { (bytes) throws(PlainFault) in try TextEncoding.ofFile(bytes) }
    return named == .utf8 ? bytes : try named.decoded(bytes)
  }
}
