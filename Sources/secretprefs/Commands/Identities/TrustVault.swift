internal import ArgumentParser
internal import DurableFiles
internal import Secrets
internal import VaultCore
internal import VaultSealing

/// `secretprefs identity trust`.
struct TrustVault: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "trust",
    abstract: "Makes an identity trust a vault.",
    usage: "secretprefs identity trust [--json] <file> <pin>",
    discussion: """
      Writes the pin to the identity file, in place of the one that is there. "secretprefs slots pin" prints it; \
      it changes when the keys of the vault are replaced. With "-" as the pin, it is read from standard input. Take the \
      pin from an owner, and never from the place where the vault is stored: who can change it can make this machine \
      read a different vault.

      EXAMPLE:
        secretprefs identity trust /etc/shop/shop.identity spv-vault-1:...
        secretprefs slots pin | ssh web1 secretprefs identity trust /etc/shop/shop.identity -
      """)

  @Flag(help: .json)
  var json = false

  @Argument(help: ArgumentHelp("The identity file, then the pin or \"-\".", valueName: "file"), completion: .file())
  var words: [String] = []

  func perform(_ messages: Messages) throws {
    guard words.count == 2 else { throw Self.usageError("a file and a pin are required") }
    let path = words[0]
    let pin = try PublicText.pin(words[1])
    let old = try IdentityFile(at: path)
    if old.pin != pin {
      if let trusted = old.pin, trusted.vaultID != pin.vaultID {
        messages.warn("the identity trusted a different vault before: \(trusted)")
      }
      let access = try VaultAccess(try VaultLocation(option: nil))
      try access.checkOutput(path, as: "the identity file", kind: .identity)
      try replace(path, with: IdentityFile(identity: old.identity, pin: pin))
      Output.recordChange(by: Self.self)
    }
    guard json else { return }
    try Output.write(.object([("identityFile", .string(path)), ("pin", .string("\(pin)"))]))
  }

  /// Replaces the file, and keeps its owner and mode.
  private func replace(_ path: String, with content: IdentityFile) throws(VaultError) {
    // The rename would replace a link, so the link is resolved.
    let path = PathName.resolved(path) ?? path
    var status = stat()
    guard stat(path, &status) == 0 else { throw .io("\(path): fstat") }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw VaultError(.insecurePermissions, "\(path) is not a regular file, and cannot be replaced")
    }
    let text = try content.text()
    _ = try WholeFile<VaultError>(path, kind: .identity).replace { (file) throws(VaultError) in
      let new = try file.status()
      if (new.st_uid, new.st_gid) != (status.st_uid, status.st_gid) {
        guard fchown(file.raw, status.st_uid, status.st_gid) == 0 else { throw .io("\(path): keep the owner") }
      }
      guard fchmod(file.raw, status.st_mode & 0o777) == 0 else { throw .io("\(path): keep the mode") }
      try text.withSpan { (text) throws(VaultError) in try file.write(text, at: 0) }
      try file.write([UInt8(ascii: "\n")], at: text.count)
      try file.synchronize()
    }
    // A directory that is not readable cannot be synced.
    do throws(VaultError) {
      _ = try Descriptor<VaultError>.synchronizeDirectory(PathName.directory(of: path))
    } catch {
      throw VaultError(.durabilityUnknown, error.message, errno: error.errno, cause: error)
    }
  }
}
