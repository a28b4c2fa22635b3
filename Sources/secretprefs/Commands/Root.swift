internal import ArgumentParser
internal import VaultSealing

/// A command of the argument parser.
protocol ToolCommand: ParsableCommand, ToolAction {}

/// A command that can change a file, or a key that the kernel keeps. Only such a command can record a change, so
/// ``WritingCommands`` is complete.
protocol WritingCommand: ToolCommand {}

extension CommandConfiguration {
  /// A command that consists of subcommands. Its usage line names them.
  ///
  /// - Parameter arguments: What the usage line has after them.
  init(
    parent name: String, abstract: String, arguments: String = "", discussion: String,
    subcommands: [any ParsableCommand.Type], defaultSubcommand: (any ParsableCommand.Type)? = nil
  ) {
    let names = subcommands.compactMap { $0.configuration.commandName }.joined(separator: " | ")
    let choice = defaultSubcommand == nil ? "(\(names))" : "[\(names)]"
    self.init(
      commandName: name, abstract: abstract,
      usage: ["secretprefs", name, choice, arguments].filter { !$0.isEmpty }.joined(separator: " "),
      discussion: discussion, subcommands: subcommands, defaultSubcommand: defaultSubcommand)
  }
}

extension ParsableCommand {
  /// The usage line.
  ///
  /// Each command has its own instead of the argument parser's. That one names up to twelve options one by one, has no
  /// alternatives such as `(<key> ... | --all)`, and shows an argument that is declared as a list as `[<key> ...]`.
  /// They are declared as lists so that ``sole(_:_:)`` reports a wrong number. `Scripts/man --check` compares the lines
  /// with the declarations.
  static var usage: String { configuration.usage ?? "" }

  /// A usage error with the usage line as its hint.
  static func usageError(_ message: String) -> ToolError { .usage(message, hint: usage) }

  /// Returns the argument of a command that takes exactly one.
  static func sole(_ words: [String], _ meaning: StaticString) throws(ToolError) -> String {
    guard let word = words.first, words.count == 1 else { throw usageError("exactly one \(meaning) is required") }
    return word
  }
}

extension ArgumentHelp {
  static let key = ArgumentHelp("The key, or its reference: secret://service/key.", valueName: "key")
  static let json: ArgumentHelp = "Write results as JSON, and errors and warnings as JSON objects on standard error."
  /// For a command that writes no result, or writes it as another program demands.
  static let jsonMessages: ArgumentHelp = "Write errors and warnings as JSON objects on standard error."
}

/// `secretprefs`.
struct Root: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "secretprefs",
    abstract: "Stores secrets in an encrypted file.",
    usage: "secretprefs [<command> [<options>]]",
    discussion: """
      A vault stores values by service and key. Set $SECRETPREFS_VAULT and $SECRETPREFS_SERVICE to those of your \
      program. Values are read from standard input, a file or a prompt, never from an argument, because other users \
      of the machine can see arguments.

      EXAMPLE:
        secretprefs init                     create a vault with a passphrase
        secretprefs set github               prompt for a value and store it
        secretprefs set github < token.txt   store the contents of a file
        secretprefs get github               write the value to standard output

      REFERENCES. In place of a key, every command takes secret://service/key, or secret://service/key?group=name for \
      an access group other than the default one. A key may contain slashes. Write a character other than a letter, a \
      digit or one of -._~!$&'()*+,;=:@ in percent-encoding: %20 is a space, %2F a slash in the name of a service or \
      group. "secretprefs list --references" writes them; "run --env-file", "inject" and "check" read them in files.

      UNLOCKING. The first of these that is configured unlocks the vault:
        --passphrase-fd, --key-file, --identity, --passphrase-command
        secret-preferences.key, .identity or .passphrase in $CREDENTIALS_DIRECTORY
        the key file named by $SECRETPREFS_KEY_FILE
        the identity file named by $SECRETPREFS_IDENTITY_FILE
        $SECRETPREFS_PASSPHRASE, which is visible to other processes of the same user
        the output of the program in $SECRETPREFS_PASSPHRASE_COMMAND
        the key that "secretprefs unlock" keeps for this session
        a prompt on the terminal
      If it fails, no other is tried. A program is run without a shell: its command is split at spaces, its standard \
      input is empty, and it does not inherit SECRETPREFS_ variables. "secretprefs status" shows which one is used.
      """,
    version: "secretprefs \(toolVersion) (libsodium \(GuardedMemory.libraryVersion))",
    subcommands: [Version.self, ExitCodes.self, Completion.self, WritingCommands.self],
    groupedSubcommands: [
      CommandGroup(
        name: "General",
        subcommands: [
          Overview.self, Init.self, UnlockVault.self, LockVault.self, Status.self, Doctor.self, Config.self,
        ]),
      CommandGroup(
        name: "Value",
        subcommands: [
          SetValue.self, Generate.self, RotateValue.self, Get.self, Otp.self, Qr.self, EditRecord.self, Remove.self,
          History.self,
        ]),
      CommandGroup(
        name: "Key",
        subcommands: [
          List.self, Services.self, Find.self, Info.self, Rename.self, Copy.self, Move.self,
        ]),
      CommandGroup(
        name: "Program",
        subcommands: [
          Run.self, Inject.self, Check.self, Settings.self, GitCredential.self, DockerCredential.self, Export.self,
        ]),
      CommandGroup(
        name: "Exchange", subcommands: [Import.self, Bundles.self, Scan.self]),
      CommandGroup(
        name: "Access",
        subcommands: [
          Groups.self, Slots.self, ChangePassphrase.self, NewKey.self, Identities.self, Requests.self, Rotate.self,
          Audit.self,
        ]),
      CommandGroup(
        name: "Maintenance",
        subcommands: [
          Verify.self, Backup.self, Marks.self, Compact.self, Salvage.self, Postgres.self, GitTextconv.self,
          GitMerge.self,
        ]),
    ])

  /// The version of the package. `Scripts/documents version` compares it with the other places that name it.
  static let toolVersion = "0.1.0"
}
