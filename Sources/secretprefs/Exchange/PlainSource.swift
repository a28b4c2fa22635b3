internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// A file to import, or standard input, in guarded memory.
struct PlainSource: ~Copyable {
  /// The longest file that is read. It is in memory as a whole.
  private static let longest = 256 << 20

  var bytes: SecretBytes
  /// Whether the file stays on the disk after the import.
  let isOnDisk: Bool

  /// - Parameter path: the path of the file; `-` for standard input.
  static func read(_ path: String) throws -> PlainSource {
    guard path != "-" else {
      guard isatty(STDIN_FILENO) == 0 else { throw ToolError.usage("standard input is a terminal") }
      return PlainSource(
        bytes: try ValueReader.read(STDIN_FILENO, atMost: longest, "read standard input"), isOnDisk: false)
    }
    let file = try Descriptor<VaultError>.open(path, O_RDONLY | O_NOCTTY) { .io("\(path): open the file", $0) }
    defer { extendLifetime(file) }
    guard isatty(file.raw) == 0 else { throw ToolError.usage("\(path): the file is a terminal") }
    return PlainSource(
      bytes: try ValueReader.read(file.raw, atMost: longest, "\(path): read the file"),
      isOnDisk: try file.status().st_mode & S_IFMT == S_IFREG)
  }
}
