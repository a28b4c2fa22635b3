internal import ArgumentParser
internal import VaultSealing

/// A command as the argument parser understands it.
protocol ToolCommand: ParsableCommand, Work {}

extension ParsableCommand {
  /// How the command is written.
  static var usage: String { configuration.usage ?? "" }

  /// A refusal that shows how the command is written.
  static func misused(_ message: String) -> ToolError { .usage(message, hint: usage) }

  /// The one argument of a command that takes exactly one.
  static func sole(_ words: [String], _ meaning: StaticString) throws(ToolError) -> String {
    guard let word = words.first, words.count == 1 else { throw misused("one \(meaning) is needed") }
    return word
  }
}

/// `secretprefs`.
struct Root: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "secretprefs",
    abstract: "Keeps secrets sealed in one file.",
    usage: "secretprefs <command> [<options>]",
    discussion: """
      A vault holds values under a service and a key; $SECRETPREFS_VAULT and $SECRETPREFS_SERVICE name those of \
      your program. Values are read from standard input, a file or a \
      prompt, never from an argument, where every user of the machine could see them.

      EXAMPLE:
        secretprefs init                     make a vault, with a passphrase
        secretprefs set github               store a value, typed without echo
        secretprefs set github < token.txt   store the bytes of a file
        secretprefs get github               write the same bytes to standard output

      A VAULT IS UNLOCKED by the first of these that is configured:
        --passphrase-fd, --key-file
        secret-preferences.key or .passphrase in $CREDENTIALS_DIRECTORY
        the key file named by $SECRETPREFS_KEY_FILE
        $SECRETPREFS_PASSPHRASE, which the user's other programs can see
        a prompt on the terminal
      """,
    version: "secretprefs \(toolVersion) (libsodium \(GuardedMemory.libraryVersion))",
    subcommands: [
      Init.self, Set.self, Get.self, List.self, Info.self, Edit.self, History.self, Remove.self, Status.self,
      Verify.self, Groups.self, Slots.self, ChangePassphrase.self, Rotate.self, Compact.self, Backup.self,
      Bundles.self, Marks.self, Doctor.self, Salvage.self, NewKey.self, ExitCodes.self,
    ])

  /// The version of the tool and the package.
  static let toolVersion = "0.1.0"
}
