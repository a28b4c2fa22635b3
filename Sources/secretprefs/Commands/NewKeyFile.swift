internal import Glibc
internal import VaultCore
internal import VaultSealing

/// A new raw key in a new file (`Docs/Format.md` 2.5), 0600 and on disk before a vault depends on it.
struct NewKeyFile {
  let key: SealingKey
  private let path: String

  /// Draws the key and writes the file; whatever is at the path is left alone.
  init(at path: String) throws {
    guard !path.isEmpty else { throw ToolError.usage("the key file's path is empty") }
    // The next replacement of a vault or mark could take it for what a crash left.
    guard !path.hasSuffix(".tmp") else {
      throw ToolError.usage("a key file's name does not end in .tmp, as those of temporary files do")
    }
    self.path = path
    key = try SealingKey(from: .system)
    let text = try KeyText.write(key)
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      guard errno != EEXIST else { throw Self.exists(path) }
      throw ToolError.io("\(path): make the key file", errno)
    }
    defer { close(descriptor) }
    do {
      // The umask may have taken bits away that the owner needs.
      guard fchmod(descriptor, 0o600) == 0 else { throw ToolError.io("\(path): set the key file's mode", errno) }
      try text.withUnsafeBytes { (bytes) throws(ToolError) in
        try writeAll(bytes, to: descriptor, "\(path): write the key file")
      }
      try withUnsafeBytes(of: UInt8(ascii: "\n")) { (lineFeed) throws(ToolError) in
        try writeAll(lineFeed, to: descriptor, "\(path): write the key file")
      }
      guard fsync(descriptor) == 0 else { throw ToolError.io("\(path): sync the key file", errno) }
      try Self.synchronizeDirectory(of: path)
    } catch {
      remove()
      throw error
    }
  }

  /// Whether another vault opens with a key that is there, nothing can tell. So it is never taken up, nor overwritten.
  private static func exists(_ path: String) -> ToolError {
    ToolError(
      VaultError(.alreadyExists, "\(path): something is at the key file's path already"),
      hint: "choose another path; or, if an interrupted command left a key there that opens nothing, remove it first")
  }

  /// Takes the file away again.
  func remove() { unlink(path) }

  /// Makes the new name durable.
  private static func synchronizeDirectory(of path: String) throws(ToolError) {
    let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { return }  // writable but not readable: nothing more can be done
    defer { close(directory) }
    guard fsync(directory) == 0 else { throw .io("\(parent): sync the key file's directory", errno) }
  }
}
