internal import ArgumentParser
internal import VaultCore

/// `secretprefs audit on`.
struct StartAudit: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "on",
    abstract: "Switches the logs of all access groups on, or changes what happens if they fail.",
    usage: "secretprefs audit on [<options>] [--fail-open] [--max-size <size>] [--keep <days>]",
    discussion: """
      Without --fail-open, a read or write that cannot be logged is refused, for example because the disk is full or \
      the directory is read-only. With --fail-open it continues with a warning, and the number of lost events is \
      logged as soon as that is possible; the number is lost if the program ends first. A log that is damaged, or that \
      has a later key than a restored vault, cannot be continued: it is renamed, and a new one begins. Switching to \
      --fail-open works on a full disk. At its maximum size a file of a log is handed over to the next one; files \
      whose last event is older than --keep are removed then, after an event that says so. Versions of this tool \
      without logs do not open the vault any more.

      EXAMPLE:
        secretprefs audit on
        secretprefs audit on --max-size 64M --keep 90d
        secretprefs audit on --fail-open
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Flag(help: "Go on with a warning if a read or write cannot be logged.")
  var failOpen = false

  @Option(
    help: ArgumentHelp(
      "The size of the events in a file of a log at which the next one begins.",
      discussion: "16K to 512M; 64M unless it was set. A file has a reserve of 64K besides.", valueName: "size"))
  var maxSize: String?

  @Option(
    help: ArgumentHelp(
      "How long files are kept that were handed over.", discussion: "A number of days, such as 90d; 0d for ever.",
      valueName: "days"))
  var keep: String?

  func perform(_ messages: Messages) throws {
    let (size, days) = (try maxSize.map(Self.kibibytes), try keep.map(Self.days))
    let vault = try unlock.complete(try vault.access()).open(messages)
    let policy: AuditPolicy = failOpen ? .failOpen : .failClosed
    var limits: AuditLimits?
    if size != nil || days != nil {
      var changed = try vault.auditLimits() ?? AuditLimits()
      if let size { changed.fileKibibytes = size }
      if let days { changed.keptDays = days }
      limits = changed
    }
    let change = try vault.setAuditing(policy, limits: limits)
    vault.recordChange(by: Self.self, messages)
    change.warnIfPartial(messages)
    for path in change.setAside { messages.warn("a log could not be continued; it is now \(displayed(path))") }
    guard self.vault.json else { return }
    try Output.write(
      .object([("auditing", .string(policy.name)), ("setAside", .array(change.setAside.map { .string($0) }))]))
  }

  private static func kibibytes(_ text: String) throws(ToolError) -> UInt32 {
    let units: [Character: UInt64] = ["K": 1, "M": 1 << 10]
    guard let unit = text.last.flatMap({ units[$0] }), let number = UInt64(text.dropLast()),
      (16...524_288).contains(number.multipliedReportingOverflow(by: unit).partialValue), number <= 524_288
    else { throw .usage("--max-size must be a number of K or M, from 16K to 512M", hint: "--max-size 64M") }
    return UInt32(number * unit)
  }

  static func days(_ text: String) throws(ToolError) -> UInt32 {
    guard text.last == "d", let number = UInt32(text.dropLast()), number <= 36_500 else {
      throw .usage("--keep must be a whole number of days, at most 36500, such as 90d", hint: "--keep 90d")
    }
    return number
  }
}

extension AuditChange {
  /// Warns that groups that are made later do not have the setting.
  func warnIfPartial(_ messages: Messages) {
    guard !isComplete else { return }
    messages.warn(
      "the disk is full: every access group has the setting, but not groups that are made later; repeat the command "
        + "once there is space")
  }
}
