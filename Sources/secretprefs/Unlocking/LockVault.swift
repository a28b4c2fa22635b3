internal import ArgumentParser

/// `secretprefs lock`.
struct LockVault: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock",
    abstract: "Removes the key that \"unlock\" keeps.",
    usage: "secretprefs lock [<options>]",
    discussion: """
      Ends "secretprefs unlock" for the vault in this session. Succeeds also if no key is kept. Commands that have \
      already opened the vault are not interrupted.

      EXAMPLE:
        secretprefs lock
      """)

  @OptionGroup var vault: VaultOptions

  func perform(_ messages: Messages) throws {
    let path = try vault.access().location.path
    let isRemoved = try KeptKey.remove(path)
    if isRemoved { Output.recordChange(by: Self.self) }
    guard vault.json else { return }
    try Output.write(.object([("vault", .string(path)), ("removed", .bool(isRemoved))]))
  }
}
