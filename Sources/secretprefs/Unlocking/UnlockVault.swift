internal import ArgumentParser
internal import DurableFiles
internal import VaultCore

/// `secretprefs unlock`.
struct UnlockVault: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock",
    abstract: "Keeps a vault unlocked for a time.",
    usage: "secretprefs unlock [<options>]",
    discussion: """
      The commands that follow then open the vault without a passphrase or key file, unless one is configured: see \
      UNLOCKING in "secretprefs help". The kernel keeps the keys of the slots that open the vault, not the passphrase, \
      key or identity, for this login session, and removes them after the time of --idle without use, at the latest \
      after the time of --for. "secretprefs lock" removes them at once, "secretprefs status" shows the slots.

      With --keyring user, the keys are kept for all processes of the user: in every session, in cron jobs and in \
      services. They stay after a logout until one of the times is over. An administrator must have allowed it: root, \
      by the file \(UserKeyringPermission.path), for the users who can read it.

      All these programs can read the keys, of a session also those that "sudo -u" or "su" starts as a different user \
      and that get no session of their own, and can keep a copy. They can also delay the end of --idle, but not that \
      of --for; with --idle as long as --for, the kernel refuses to change the time. If the system's clock is set by \
      more than 10 seconds, the keys are no longer used. Where the kernel refuses, as in many containers, nothing is \
      kept, and the command fails.

      EXAMPLE:
        secretprefs unlock
        secretprefs unlock --for 8h --idle 30m
        secretprefs unlock --keyring user
        secretprefs lock
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "How long the key is kept at most, up to 24h.", discussion: ToolSetting.unlockFor.places, valueName: "duration"))
  var hard: String?

  @Option(
    help: ArgumentHelp(
      "How long it is kept without use, up to 24h.", discussion: ToolSetting.unlockIdle.places, valueName: "duration"))
  var idle: String?

  @Option(
    help: ArgumentHelp(
      "Whom it is kept for: session or user.", discussion: ToolSetting.unlockKeyring.places, valueName: "keyring"),
    completion: .list(KernelKey.Keyring.allCases.map(\.rawValue)))
  var keyring: String?

  func perform(_ messages: Messages) throws {
    let keyring = try chosenKeyring()
    let hard = try Configuration.value(of: .unlockFor, option: hard)
    let idle = try Configuration.value(of: .unlockIdle, option: idle)
    _ = try KeptLimits(hard: hard, idle: idle, now: .now)
    var access = try unlock.complete(try vault.access())
    // Otherwise `unlock` could extend the key's time again and again.
    access.keptKeyUse = .ignore
    try KeptKey.check(keyring)
    let vault = try access.open(messages)
    // The limits begin now, not before the prompt.
    let limits = try KeptLimits(hard: hard, idle: idle, now: .now)
    let key = try vault.slotKey()
    let kept = KeptKey(key: key, limits: limits, keyring: keyring)
    try kept.keep(for: access.location)
    Output.recordChange(by: Self.self)
    if let warning = kept.warning { messages.warn(warning) }
    let end = Timestamp.text(of: limits.systemEnd)
    guard !self.vault.json else {
      return try Output.write(
        .object([
          ("vault", .string(access.location.name)), ("slots", key.json), ("until", .string(end)),
          ("idleSeconds", .integer(limits.idleSeconds)), ("keyring", .string(keyring.rawValue)),
        ]))
    }
    try Output.write("unlocked until \(end), or \(limits.idleText) after the last use\n")
  }

  private func chosenKeyring() throws -> KernelKey.Keyring {
    let text = try Configuration.value(of: .unlockKeyring, option: keyring)
    guard let keyring = KernelKey.Keyring(rawValue: text) else {
      throw ToolError.usage("there is no such keyring", hint: "--keyring takes session or user")
    }
    if keyring == .user, let objection = UserKeyringPermission.objection { throw objection }
    return keyring
  }
}
