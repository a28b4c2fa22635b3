internal import ArgumentParser

/// `secretprefs list`.
struct List: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the keys of a service.",
    usage: "secretprefs list [<options>]",
    discussion: """
      One key a line, ordered by bytes. Characters that do not print, or that change the direction of the \
      text, are shown as \\u{…}, and so is a backslash before u{; --json gives the exact names. With --long each line also has the revision, the \
      kind, the time of the last change, and the expiry if there is one. No value is opened.

      EXAMPLE:
        secretprefs list --service com.example.shop
        secretprefs list --long
        secretprefs list --all-services --json
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Flag(help: "List all services: service, tab, key.")
  var allServices = false

  @Flag(help: "Tell more of each key.")
  var long = false

  func perform(_ messages: Messages) throws {
    try ListKeys(
      access: try unlock.complete(try vault.access()), place: try record.place(), ofAllServices: allServices,
      isLong: long, isJSON: vault.json
    ).perform(messages)
  }
}
