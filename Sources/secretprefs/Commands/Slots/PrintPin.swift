internal import ArgumentParser
internal import VaultCore

/// `secretprefs slots pin`.
struct PrintPin: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "pin",
    abstract: "Prints the pin of the vault.",
    usage: "secretprefs slots pin [<options>]",
    discussion: """
      Holders by public key trust this text. It is the same for all of them, and not secret, but must reach them \
      unchanged: with the program, its image or its configuration. It changes when the keys of the vault are replaced.

      EXAMPLE:
        secretprefs slots pin > shop.pin
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  func perform(_ messages: Messages) throws {
    let pin = try unlock.complete(try vault.access()).open(messages).pin()
    try vault.json ? Output.write(.object([("pin", .string("\(pin)"))])) : Output.write("\(pin)\n")
  }
}
