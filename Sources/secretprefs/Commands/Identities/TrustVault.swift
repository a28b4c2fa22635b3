internal import ArgumentParser
internal import DurableFiles
internal import Secrets
internal import VaultCore

/// `secretprefs identity trust`.
struct TrustVault: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "trust",
    abstract: "Makes an identity trust a vault.",
    usage: "secretprefs identity trust [--json] <file> <pin>",
    discussion: """
      Writes the pin to the identity file, in place of what is there. "secretprefs slots pin" prints it; it \
      changes when the keys of the vault are replaced. With "-" as the pin, it is read from standard input. Take the \
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
    if old.pin != pin || old.nextPin != nil {
      if let trusted = old.pin, trusted.vaultID != pin.vaultID {
        messages.warn("the identity trusted a different vault before: \(trusted)")
      }
      let access = try VaultAccess(try VaultLocation(option: nil))
      try access.checkOutput(path, as: "the identity file", kind: .identity)
      try IdentityFile(identity: old.identity, pin: pin).replace(path)
      Output.recordChange(by: Self.self)
    }
    guard json else { return }
    try Output.write(.object([("identityFile", .string(path)), ("pin", .string("\(pin)"))]))
  }
}
