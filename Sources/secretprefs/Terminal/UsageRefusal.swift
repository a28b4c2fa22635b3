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
    ("groups list", "secretprefs groups list [<options>]"),
    ("groups create", CreateGroup.form),
    ("groups rename", RenameGroup.form),
    ("groups remove", RemoveGroup.form),
    ("groups", "secretprefs groups [list | create | rename | remove]"),
    ("slots list", "secretprefs slots list [<options>]"),
    ("slots add", "secretprefs slots add [<options>]"),
    ("slots remove", RemoveSlot.form),
    ("slots", "secretprefs slots [list | add | remove]"),
    ("passphrase", "secretprefs passphrase [<options>]"),
    ("rotate", Rotate.form),
    ("compact", "secretprefs compact [<options>]"),
    ("info", Info.form),
    ("edit", Edit.form),
    ("history list", ListHistory.form),
    ("history restore", RestoreValue.form),
    ("history", History.form),
    ("verify", "secretprefs verify [<options>]"),
    ("backup create", CreateBackup.form),
    ("backup restore", RestoreBackup.form),
    ("backup", Backup.form),
    ("bundle export", ExportBundle.form),
    ("bundle import", ImportBundle.form),
    ("bundle", "secretprefs bundle [export | import]"),
    ("mark show", "secretprefs mark [show] [<options>]"),
    ("mark init", "secretprefs mark init [<options>]"),
    ("mark accept", "secretprefs mark accept [<options>]"),
    ("mark", "secretprefs mark [show | init | accept]"),
    ("doctor", Doctor.form),
    ("salvage", Salvage.form),
    ("new-key", NewKey.form),
    ("exit-codes", "secretprefs exit-codes [--json]"),
    ("help", "secretprefs help [<command>]"),
  ]

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
        + "\(known.form); see secretprefs help \(known.command)")
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
