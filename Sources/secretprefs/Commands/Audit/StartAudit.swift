internal import ArgumentParser
internal import VaultCore

/// `secretprefs audit on`.
struct StartAudit: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "on",
    abstract: "Switches the logs of all access groups on, or changes what happens if they fail.",
    usage: "secretprefs audit on [<options>] [--fail-open]",
    discussion: """
      Without --fail-open, a read or write that cannot be logged is refused, for example because the disk is full or \
      the directory is read-only. With --fail-open it continues with a warning, and the number of lost events is logged as \
      soon as that is possible; the number is lost if the program ends first. A log that is damaged \
      and cannot be continued is renamed, and a new one begins.

      EXAMPLE:
        secretprefs audit on
        secretprefs audit on --fail-open
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Flag(help: "Go on with a warning if a read or write cannot be logged.")
  var failOpen = false

  func perform(_ messages: Messages) throws {
    let vault = try unlock.complete(try vault.access()).open(messages)
    let policy: AuditPolicy = failOpen ? .failOpen : .failClosed
    let setAside = try vault.setAuditing(policy)
    vault.recordChange(by: Self.self, messages)
    for path in setAside { messages.warn("a log could not be continued; it is now \(displayed(path))") }
    guard self.vault.json else { return }
    try Output.write(
      .object([("auditing", .string(policy.name)), ("setAside", .array(setAside.map { .string($0) }))]))
  }
}
