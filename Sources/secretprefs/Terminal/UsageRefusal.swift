/// The answer to arguments that are not understood, made from a fixed list: nothing of the arguments is in it.
enum UsageRefusal {
  static let set =
    "the value comes from standard input, --file or a prompt: secretprefs set <key> < value.txt"

  private static let forms: [(command: String, form: String)] = [
    ("init", "secretprefs init [<options>]"),
    ("set", "secretprefs set [<options>] <key> < value.txt"),
    ("get", "secretprefs get [<options>] <key>"),
    ("list", "secretprefs list [<options>]"),
    ("remove", "secretprefs remove [<options>] <key> ..."),
    ("status", "secretprefs status [<options>]"),
    ("exit-codes", "secretprefs exit-codes [--json]"),
    ("help", "secretprefs help [<command>]"),
  ]

  /// Options that do not exist because they would carry a secret.
  private static let secretOptions = ["--value", "--password", "--passphrase", "--secret", "--token", "--key="]

  static func error(for arguments: Arguments) -> ToolError {
    guard let first = arguments.words.first else {
      return .usage("no command is given", hint: "secretprefs --help lists the commands")
    }
    guard let known = forms.first(where: { $0.command == first }) else {
      return .usage("there is no such command", hint: "secretprefs --help lists the commands")
    }
    let carriesSecret = secretOptions.contains { arguments.contains(prefix: $0) }
    guard !carriesSecret || arguments.contains(prefix: "--passphrase-fd") else {
      return .usage(
        "no option takes a secret",
        hint: known.command == "set"
          ? set : "passphrases come from --passphrase-fd or a prompt, keys from --key-file")
    }
    return .usage(
      "the arguments of \"secretprefs \(known.command)\" are not understood",
      hint: "\(known.form); see secretprefs help \(known.command)")
  }
}
