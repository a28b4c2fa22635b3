internal import ArgumentParser

/// Errors for invalid arguments. Their text comes from the declarations of the commands and never repeats an argument.
enum UsageRefusal {
  static let set =
    "use standard input, --file or a prompt for the value: secretprefs set <key> < value.txt"

  private struct Form {
    /// The full name.
    let command: String
    let usage: String
    /// `nil` for `help`.
    var type: (any ParsableCommand.Type)?
  }

  /// Every command. Subcommands come before their parents.
  private static let forms =
    forms(of: Root.configuration.subcommands, after: "")
    + [Form(command: "help", usage: "secretprefs help [<command>]")]

  private static func forms(of commands: [any ParsableCommand.Type], after prefix: String) -> [Form] {
    commands.flatMap { command in
      let name = prefix + (command.configuration.commandName ?? "")
      return forms(of: command.configuration.subcommands, after: name + " ")
        + [Form(command: name, usage: command.usage, type: command)]
    }
  }

  /// The command whose name a text begins with, and its options, as ``OptionFault`` has them; `nil` for any other text
  /// and for `help`.
  static func command(atStartOf text: Substring) -> (name: String, options: [String: Bool])? {
    for form in forms where text.hasPrefix(form.command) {
      let next = text.dropFirst(form.command.count).first
      guard let type = form.type, next.map(" \"',;.:)".contains) ?? true else { continue }
      return (form.command, OptionFault.options(of: type.configuration.defaultSubcommand ?? type))
    }
    return nil
  }

  /// Options that do not exist, because their values would be secrets.
  private static let secretOptions = [
    "--value", "--password", "--passphrase", "--new-passphrase", "--keep-passphrase", "--secret", "--token", "--key=",
    "--new-key=", "--keep-key=", "--device-key=", "--bundle-key=", "--bundle-passphrase",
  ]
  /// Existing options that start like one of them.
  private static let harmlessOptions = [
    "--passphrase-fd", "--new-passphrase-fd", "--keep-passphrase-fd", "--bundle-passphrase-fd",
    "--passphrase-command",
  ]

  /// The commands whose flag `--value` takes no value.
  private static let commandsWithValueFlag = ["edit", "find"]

  static func error(for arguments: Arguments) -> ToolError {
    guard let first = arguments.words.first else {
      return .usage("no command is given", hint: "see secretprefs --help")
    }
    let firstTwo = arguments.words.prefix(2).joined(separator: " ")
    let known = forms.first { $0.command == first || $0.command == firstTwo }
    guard let known, !arguments.requestUnknownHelp else {
      guard !first.hasPrefix("-") else {
        return .usage(
          "the first argument is an option, and no command", hint: "secretprefs <command> [<options>]; see --help")
      }
      let unknown = known == nil ? first : arguments.words[1]
      return .usage("there is no such command", hint: suggestion(for: unknown, of: "") + "see secretprefs --help")
    }
    let given =
      commandsWithValueFlag.contains(first)
      ? Arguments(words: arguments.words.filter { $0 != "--value" }) : arguments
    guard !secretOptions.contains(where: { given.contains(prefix: $0, except: harmlessOptions) }) else {
      return .usage(
        "secrets are not accepted in options",
        hint: known.command == "set"
          ? set : "use --passphrase-fd or a prompt for passphrases, and --key-file for keys")
    }
    if let type = known.type,
      let fault = OptionFault(in: given.options, of: type) ?? .invalidValue(in: arguments.words, of: type)
    {
      return error(for: fault, of: known)
    }
    let second = known.command == first ? arguments.words.dropFirst().first : nil
    let suggestion = suggestion(for: second ?? "", of: first + " ")
    return .usage(
      "invalid arguments for \"secretprefs \(known.command)\"",
      hint: (suggestion.isEmpty ? places[known.command].map { "\($0); " } ?? "" : suggestion)
        + "\(known.usage); see secretprefs help \(known.command)")
  }

  /// The error of an option of a command that was parsed.
  static func error(for fault: OptionFault, of command: any ParsableCommand.Type) -> ToolError {
    let form = forms.first { $0.type.map(ObjectIdentifier.init) == ObjectIdentifier(command) }
    return form.map { error(for: fault, of: $0) } ?? .usage("invalid arguments", hint: "see secretprefs --help")
  }

  private static func error(for fault: OptionFault, of form: Form) -> ToolError {
    .usage(
      fault.message(of: form.command),
      hint: (fault.near.map { "did you mean \($0)? " } ?? "") + "\(form.usage); see secretprefs help \(form.command)")
  }

  /// How what users put behind commands without such an argument is named.
  static let places = [
    "run": "the command and its arguments stand behind --",
    "inject": "--in <file> names the template", "export": "--to <file> names the new file",
    "salvage": "--vault <path> names the damaged vault, and --to <file> the new one",
    "init": "--vault <path> names the new vault", "status": "--vault <path> names the vault",
    "doctor": "--vault <path> names the vault", "verify": "--vault <path> names the vault",
    "compact": "--vault <path> names the vault", "unlock": "--vault <path> names the vault",
    "lock": "--vault <path> names the vault", "mark show": "--mark <file> names the mark",
    "mark init": "--mark <file> names the mark", "mark accept": "--mark <file> names the mark",
  ]

  /// The commands that other programs call by these names: shells, pass, gopass, age, sops, `op` and `vault`.
  static let otherNames = [
    "add": "set", "cat": "get", "clip": "get", "cp": "copy", "create": "init", "decrypt": "get",
    "del": "remove", "delete": "remove", "dir": "list", "dump": "export", "encrypt": "set", "env": "run",
    "exec": "run", "gen": "generate", "grep": "find", "insert": "set", "keygen": "new-key", "keys": "list",
    "login": "unlock", "logout": "lock", "ls": "list", "mv": "rename", "new": "set", "passwd": "passphrase",
    "print": "get", "put": "set", "pwgen": "generate", "read": "get", "recover": "salvage", "repair": "doctor",
    "restore": "backup restore", "rm": "remove", "search": "find", "show": "get", "store": "set",
    "template": "inject", "totp": "otp", "undo": "history undo", "unset": "remove", "view": "get", "write": "set",
  ]

  /// Suggests the command that other programs call so, or the closest command. Does not repeat the word, which may be a
  /// secret.
  ///
  /// - Parameter prefix: The parent command and a space, or an empty string.
  private static func suggestion(for word: String, of prefix: String) -> String {
    // Bounds the cost of the comparison: an argument may be long, commands are short.
    guard word.utf8.count <= 20 else { return "" }
    let names = forms.map(\.command).filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    let near =
      (prefix.isEmpty ? otherNames[word.lowercased()] : nil)
      ?? nearest(word.lowercased(), among: names.filter { !$0.contains(" ") })
    return near.map { "did you mean \"secretprefs \(prefix)\($0)\"? " } ?? ""
  }
}
