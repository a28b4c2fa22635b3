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
    let names = forms.map(\.command).filter { $0.hasPrefix(prefix) && !$0.dropFirst(prefix.count).contains(" ") }
    // Short words are near to everything.
    let limit = min(2, word.count - 1)
    let near = names.map { ($0, editDistance(word.lowercased(), String($0.dropFirst(prefix.count)))) }
      .filter { $1 <= limit }.min { $0.1 < $1.1 }
    return near.map { "did you mean \"secretprefs \($0.0)\"? " } ?? ""
  }
}

/// How many letters have to be inserted, left out, replaced or swapped with the next to make one word of another. Long
/// words are as far from each other as can be.
func editDistance(_ first: String, _ second: String) -> Int {
  let (first, second) = (Array(first), Array(second))
  guard max(first.count, second.count) <= 20 else { return .max }
  var rows = [Array(0...second.count)]
  for i in first.indices {
    rows.append([i + 1])
    for j in second.indices {
      var least = min(rows[i][j + 1] + 1, rows[i + 1][j] + 1, rows[i][j] + (first[i] == second[j] ? 0 : 1))
      if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
        least = min(least, rows[i - 1][j - 1] + 1)
      }
      rows[i + 1].append(least)
    }
  }
  return rows[first.count][second.count]
}
