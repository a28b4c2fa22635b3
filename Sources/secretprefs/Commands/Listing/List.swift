internal import ArgumentParser

/// `secretprefs list`.
struct List: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the keys of a service.",
    usage: "secretprefs list [<options>] [<pattern>]",
    discussion: """
      One key per line, ordered by bytes. Characters that are not printable or change the direction of text are \
      shown as \\u{…}, and so is a backslash before u{; --json writes the exact names. With --long each line also \
      has the revision, the kind, the time of the last change, the expiry, and the value if it is no secret \
      ("secretprefs set --not-secret"); --json has that as well. No other value is decrypted.

      With a pattern, lists the keys that match it as a whole: * stands for any characters, ? for one, and a backslash \
      makes the next character an ordinary one. A pattern that ends with a slash or a dot lists the keys that begin \
      with it. If no key matches, the exit code is 1. Put the pattern in quotes, or the shell replaces it by the names \
      of files. "secretprefs find" also finds parts of names, labels and comments.

      With --expires-within, lists the keys that have expired, and those that will within the time. A value without an \
      expiry is not among them.

      With --tree, keys are split at their dots and slashes. A line that ends with one is not a key: joined with the \
      lines below it, it gives their keys.

      EXAMPLE:
        secretprefs list --service com.example.shop
        secretprefs list 'database.*'
        secretprefs list --long
        secretprefs list --tree
        secretprefs list --expires-within 14d --long --all-services
        secretprefs list --all-services --json
        secretprefs list --references --all-services --all-groups
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Flag(help: "List the keys of all services; each line is service, tab, key.")
  var allServices = false

  @Flag(help: "List the keys of all access groups; each line begins with the group and a tab.")
  var allGroups = false

  @Flag(help: "Write the reference of each key, as \"run\" and \"inject\" read it.")
  var references = false

  @Option(
    help: ArgumentHelp(
      "Only the keys that have expired, or expire within this time, such as 14d or 2w.", valueName: "duration"))
  var expiresWithin: String?

  @Flag(help: "Also show revision, kind, time and expiry.")
  var long = false

  @Flag(help: "Show the keys as a tree; with --all-services, below their services.")
  var tree = false

  @Argument(help: ArgumentHelp("The pattern of the keys.", valueName: "pattern"), completion: .keys)
  var patterns: [String] = []

  func perform(_ messages: Messages) throws {
    guard patterns.count <= 1 else {
      throw ToolError.usage(
        "at most one pattern is accepted", hint: "put it in quotes: secretprefs list 'database.*'")
    }
    try ScopeOptions.check(
      allServices: allServices, allGroups: allGroups, service: record.service, group: record.group)
    try ListKeys(
      access: try unlock.complete(try vault.access()), place: try record.place(),
      listing: try KeyListing(
        isLong: long, isTree: tree, isReferences: references, isJSON: vault.json, namesServices: allServices,
        namesGroups: allGroups),
      expiry: try expiresWithin.map { (text) throws(ToolError) in try ExpiryRule(text) },
      pattern: try patterns.first.map { try KeyPattern(prefix: $0) }
    ).perform(messages)
  }
}
