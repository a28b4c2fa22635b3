internal import ArgumentParser

/// `secretprefs list`.
struct List: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the keys of a service.",
    usage: "secretprefs list [<options>]",
    discussion: """
      One key per line, ordered by bytes. Characters that are not printable or change the direction of text are \
      shown as \\u{…}, and so is a backslash before u{; --json writes the exact names. With --long each line also \
      has the revision, the kind, the time of the last change and the expiry. No value is decrypted.

      EXAMPLE:
        secretprefs list --service com.example.shop
        secretprefs list --long
        secretprefs list --all-services --json
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Flag(help: "List the keys of all services; each line is service, tab, key.")
  var allServices = false

  @Flag(help: "Also show revision, kind, time and expiry.")
  var long = false

  func perform(_ messages: Messages) throws {
    try ListKeys(
      access: try unlock.complete(try vault.access()), place: try record.place(), ofAllServices: allServices,
      isLong: long, isJSON: vault.json
    ).perform(messages)
  }
}
