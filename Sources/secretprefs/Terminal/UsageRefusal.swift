internal import ArgumentParser

/// The answer to arguments that are not understood, made from the declarations of the commands: nothing of the arguments
/// is in it.
enum UsageRefusal {
  static let set =
    "the value comes from standard input, --file or a prompt: secretprefs set <key> < value.txt"

  /// Every command with the words that call it and its usage line, the more specific ones first.
  private static let forms =
    forms(of: Root.configuration.subcommands, after: "") + [("help", "secretprefs help [<command>]")]

  private static func forms(
    of commands: [any ParsableCommand.Type], after prefix: String
  ) -> [(command: String, usage: String)] {
    commands.flatMap { command in
      let name = prefix + (command.configuration.commandName ?? "")
      return forms(of: command.configuration.subcommands, after: name + " ") + [(name, command.usage)]
    }
  }

  /// Options that do not exist because they would carry a secret.
  private static let secretOptions = [
    "--value", "--password", "--passphrase", "--new-passphrase", "--keep-passphrase", "--secret", "--token", "--key=",
    "--new-key=", "--keep-key=", "--device-key=", "--bundle-key=", "--bundle-passphrase",
  ]
  /// Options that begin like one of them and carry none.
  private static let harmlessOptions = [
    "--passphrase-fd", "--new-passphrase-fd", "--keep-passphrase-fd", "--bundle-passphrase-fd",
  ]

  static func error(for arguments: Arguments) -> ToolError {
    guard let first = arguments.words.first else {
      return .usage("no command is given", hint: "secretprefs --help lists the commands")
    }
    let firstTwo = arguments.words.prefix(2).joined(separator: " ")
    guard let known = forms.first(where: { $0.command == first || $0.command == firstTwo }) else {
      return .usage(
        "there is no such command", hint: suggestion(for: first, of: "") + "secretprefs --help lists the commands")
    }
    guard !secretOptions.contains(where: { arguments.contains(prefix: $0, except: harmlessOptions) }) else {
      return .usage(
        "no option takes a secret",
        hint: known.command == "set"
          ? set : "passphrases come from --passphrase-fd or a prompt, keys from --key-file")
    }
    let second = known.command == first ? arguments.words.dropFirst().first : nil
    return .usage(
      "the arguments of \"secretprefs \(known.command)\" are not understood",
      hint: suggestion(for: second ?? "", of: first + " ")
        + "\(known.usage); see secretprefs help \(known.command)")
  }

  /// Names the command that was probably meant, and not the word that was written: it may be a secret.
  ///
  /// - Parameter prefix: what the command begins with, before the word.
  private static func suggestion(for word: String, of prefix: String) -> String {
    // A word of any length is an argument; commands are short.
    guard word.utf8.count <= 20 else { return "" }
    let names = forms.map(\.command).filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    let near = nearest(word.lowercased(), among: names.filter { !$0.contains(" ") })
    return near.map { "did you mean \"secretprefs \(prefix)\($0)\"? " } ?? ""
  }
}
