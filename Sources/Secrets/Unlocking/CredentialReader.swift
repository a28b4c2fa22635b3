internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// Reads credentials from files and descriptors straight into guarded memory, with a bound on every read.
enum CredentialReader {
  private static let longestPassphrase = 4096

  static func exists(_ path: String) throws(VaultError) -> Bool {
    try VaultError.refuseNUL(in: path)
    // A symbolic link without a target counts as existing, so that reading it fails and no later way is used.
    var status = stat()
    return lstat(path, &status) == 0 || errno != ENOENT
  }

  static func key(at path: String, kind: CredentialFile = .key) throws(VaultError) -> SealingKey {
    let text = try contents(of: path, atMost: KeyText.count + 2, kind)
    do throws(VaultError) {
      return try text.withSpan { (span) throws(VaultError) in try KeyText.parse(span) }
    } catch { throw error.about("\(kind.rawValue) \(path)") }
  }

  static func passphrase(at path: String) throws(VaultError) -> SecretBytes {
    let kind = CredentialFile.passphrase
    let text = try contents(of: path, atMost: longestPassphrase + 3, kind)
    do throws(VaultError) { return try withoutLineEnd(text) } catch { throw error.about("\(kind.rawValue) \(path)") }
  }

  static func passphrase(from descriptor: Int32, step: String) throws(VaultError) -> SecretBytes {
    try withoutLineEnd(try contents(of: descriptor, atMost: longestPassphrase + 3, what: step))
  }

  /// Opens a file and checks the opened file (`Docs/Format.md` section 6). Only a ``MountedSecret`` may be readable by
  /// others.
  static func contents(
    of path: String, atMost limit: Int, _ kind: CredentialFile
  ) throws(VaultError) -> SecretBytes {
    try VaultError.refuseNUL(in: path)
    guard !path.isEmpty else { throw VaultError(.io, "the path of \(kind.rawValue) is empty", errno: ENOENT) }
    let what = "\(kind.rawValue) \(path)"
    let subject = ErrorSubject.credential(kind, path: path)
    // Opening a FIFO waits for its writer; opening anything else must not block.
    var named = stat()
    let waits = stat(path, &named) == 0 && named.st_mode & S_IFMT == S_IFIFO
    let file = try Descriptor<VaultError>.open(path, O_RDONLY | O_NOCTTY | (waits ? 0 : O_NONBLOCK), named: what) {
      .io("open \(what)", $0)
    }
    defer { extendLifetime(file) }
    let status = try file.status()
    guard [S_IFREG, S_IFIFO].contains(status.st_mode & S_IFMT) else {
      throw VaultError(.insecurePermissions, "\(what) is neither a regular file nor a FIFO", cause: subject)
    }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw VaultError(
        .insecurePermissions,
        "\(what) belongs to user \(status.st_uid), and must belong to user \(geteuid()) or root", errno: EPERM,
        cause: subject)
    }
    guard status.st_mode & 0o026 == 0 || MountedSecret.isOne(file, at: path) else {
      throw VaultError(
        .insecurePermissions,
        "\(what) can be read by others, or written by group or others: its mode is \(octal(status.st_mode)), and 0640 "
          + "is the widest accepted", cause: subject)
    }
    return try contents(of: file.raw, atMost: limit, what: what)
  }

  private static func contents(
    of descriptor: Int32, atMost limit: Int, what: String
  ) throws(VaultError) -> SecretBytes {
    var bytes = try SecretBytes(count: limit)
    var count = 0
    while count < limit {
      let more = bytes.withUnsafeMutableBytes { bytes in
        readWaiting(descriptor, into: UnsafeMutableRawBufferPointer(rebasing: bytes[count..<limit]))
      }
      guard more >= 0 else { throw .io("read \(what)") }
      if more == 0 { break }
      count += more
    }
    return try bytes.prefix(count)
  }

  /// Drops exactly one trailing LF or CRLF (2.5).
  private static func withoutLineEnd(_ bytes: consuming SecretBytes) throws(VaultError) -> SecretBytes {
    let count = bytes.count
    let length = bytes.withUnsafeBytes { bytes in
      guard count > 0, bytes[count - 1] == 0x0A else { return count }
      return count > 1 && bytes[count - 2] == 0x0D ? count - 2 : count - 1
    }
    guard (1...longestPassphrase).contains(length) else {
      throw VaultError(.invalidPassphrase, "a passphrase has 1 to \(longestPassphrase) bytes")
    }
    return try bytes.prefix(length)
  }
}

extension VaultError {
  /// The same error with `part` in front of the message.
  func about(_ part: String) -> VaultError {
    VaultError(code, "\(part): \(message)", errno: errno, cause: cause)
  }
}

/// The process's environment, one variable at a time.
package enum Environment {
  /// The variable's text; `nil` if it is not set. An empty variable counts as set, so that the user sees the mistake.
  /// - Throws: ``VaultError/Code/invalidName`` if it is not valid UTF-8: repaired text would name a different file.
  package static func text(_ name: String) throws(VaultError) -> String? {
    guard let bytes = getenv(name) else { return nil }
    guard let text = String(validatingCString: bytes) else {
      throw VaultError(.invalidName, "\(name) is not valid UTF-8", errno: EILSEQ)
    }
    return text
  }

  /// The directory where systemd stores a service's credentials. An empty path counts as `nil`: it would mean the root
  /// directory.
  package static var credentialsDirectory: String? {
    get throws(VaultError) { try text("CREDENTIALS_DIRECTORY").flatMap { $0.isEmpty ? nil : $0 } }
  }

  /// Takes a secret out of the environment: copies it to guarded memory, wipes the original and removes the variable.
  static func take(_ name: String) throws(VaultError) -> SecretBytes? {
    guard let text = getenv(name) else { return nil }
    let count = strlen(text)
    let result = Result { () throws(VaultError) in
      Held(try SecretBytes(copying: UnsafeRawBufferPointer(start: text, count: count)))
    }
    remove(name)
    guard count > 0 else { throw VaultError(.invalidPassphrase, "the variable \(name) is empty") }
    return try result.get().bytes.take()
  }

  /// Wipes a secret in the environment in place, and removes the variable.
  package static func remove(_ name: String) {
    guard let text = getenv(name) else { return }
    wipe(UnsafeMutableRawBufferPointer(start: text, count: strlen(text)))
    unsetenv(name)
  }

  /// Carries noncopyable bytes through a `Result`.
  private final class Held {
    var bytes: SecretBytes?
    init(_ bytes: consuming SecretBytes) { self.bytes = consume bytes }
  }
}
