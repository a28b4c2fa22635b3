internal import Glibc
internal import VaultCore
internal import VaultSealing

/// A new raw key in a new file (`Docs/Format.md` 2.5) with mode 0600, synced before a vault depends on it.
struct NewKeyFile {
  let key: SealingKey
  private let path: String

  /// Generates the key and creates the file. Fails if the path exists.
  init(at path: String) throws {
    guard !path.isEmpty else { throw ToolError.usage("the key file's path is empty") }
    // A later write of a vault or mark could mistake the file for the leftover of a crash.
    guard !path.hasSuffix(".tmp") else {
      throw ToolError.usage("a key file's name must not end in .tmp, which is reserved for temporary files")
    }
    self.path = path
    key = try SealingKey(from: .system)
    let text = try KeyText.write(key)
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      guard errno != EEXIST else { throw Self.exists(path) }
      throw ToolError.io("\(path): create the key file", errno)
    }
    defer { close(descriptor) }
    do {
      // The umask may have removed the owner's access.
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

  /// An existing key file may belong to another vault, which cannot be checked. It is neither reused nor overwritten.
  private static func exists(_ path: String) -> ToolError {
    ToolError(
      VaultError(.alreadyExists, "\(path): the key file cannot be created: the path already exists"),
      hint: "choose a different path, or remove a key file that an interrupted command left and that opens no vault")
  }

  /// Removes the file.
  func remove() { unlink(path) }

  /// Makes the directory entry durable.
  private static func synchronizeDirectory(of path: String) throws(ToolError) {
    let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { return }  // a directory that is not readable cannot be synced
    defer { close(directory) }
    guard fsync(directory) == 0 else { throw .io("\(parent): sync the key file's directory", errno) }
  }
}
