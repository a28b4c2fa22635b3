internal import ArgumentParser
internal import VaultCore

/// `secretprefs services`.
struct Services: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "services",
    abstract: "Lists the services of the vault.",
    usage: "secretprefs services [<options>]",
    discussion: """
      One line for each service of an access group: group, service and number of keys, and how many of these have \
      expired, ordered by the bytes of the names. Lists all access groups that the credential opens, or that of \
      --group. No value is decrypted.

      EXAMPLE:
        secretprefs services
        secretprefs services --group billing --json
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(
    name: FastPathOption.group.name, help: ArgumentHelp("Only the services of this access group.", valueName: "name"),
    completion: .groups)
  var group: String?

  func perform(_ messages: Messages) throws {
    let access = try unlock.complete(try vault.access())
    let opened = try access.open(messages)
    let groups = try group.map { [try opened.grantedGroup($0)] } ?? opened.groupsInOrder()
    let services = ServiceCount.all(
      try ListedRecord.all(service: nil, in: groups, of: opened), at: access.options.now())
    guard !vault.json else { return try Output.write(.array(services.map(\.json))) }
    try Output.write(Table(rows: services.map(\.row)).text)
  }
}
