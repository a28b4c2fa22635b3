import Foundation
import Testing

/// `history undo` after each command that changes the vault.
struct UndoTests {}

extension UndoTests {
  /// More writes than one for each command.
  private static let others = [
    "set a --label new < url", "set a --expiry 90d < url", "set a --history 0 < url",
    "set r --service old < url",
    "edit a --history 0", "edit a --expiry 90d --attribute x=y", "remove --now r --service old",
    "rename a timed --replace",
    "copy a timed --replace", "move a --to-service old r", "generate a --replace", "set timed --not-secret < url",
    "import replacing.env --on-conflict replace", "history undo --yes", "set a < url; secretprefs remove a",
  ]

  private static let whole = "refused: the last write replaced the whole vault, and nothing says what it changed"

  /// What is not undone, and why. Everything else is, or changes a different file.
  private static let expected: [String: String] = [
    "remove --now a": "left as it is, removed for good: default a",
    "remove --match a --now --yes --all-services --all-groups": "left as it is, removed for good: default a",
    "remove --now r --service old": "left as it is, removed for good: old r",
    "edit a --history 0": "its dropped earlier values are gone: default a",
    "set r --service old < url": "the undone value is the newest of the removed key: old r",
    "move a --to-service old r": "the undone value is the newest of the removed key: old r",
    "otp counted": "left as it is, no earlier value: default counted",
    "set a --history 0 < url": "left as it is, no earlier value: default a",
    // Two writes, of which the last one is undone.
    "move a --to-group h": "different", "set a < url; secretprefs remove a": "different",
    // The last write of the backup.
    "backup restore old.spv --yes": "different",
  ]

  /// The commands that replace the whole file.
  private static let replacing = [
    "compact", "rotate --", "groups ", "slots ", "requests grant", "passphrase", "audit on", "audit off",
  ]

  private static func isExpected(_ outcome: String, of command: String) -> Bool {
    if let expected = expected[command] { return outcome == expected }
    if replacing.contains(where: { command.hasPrefix($0) }) { return outcome == whole }
    return ["undone", "elsewhere"].contains(outcome)
  }

  /// - Returns: `elsewhere` if the command changes a different file, `undone` if everything is as before, or what
  ///   `history undo` says.
  private static func outcome(of command: String) throws -> String {
    let home = try LostOutputTests.home()
    try home.write("a='another long value'\nIMPORTED=1\n", to: "replacing.env")
    let outcome = try Tool.shell(
      """
      vault=.local/share/secretprefs/default.spv
      state() {
        secretprefs export --format records --all-services --all-groups --key-file k \\
          | sed 's/"revision":[0-9]*,//; s/"modified":"[^"]*",//; s/"created":"[^"]*",//' \\
          | sed 's/"historyDepth":[0-9]*,//; s/,"previous":.*//'
      }
      slot=$(secretprefs slots --json --key-file k | sed 's/.*"id":"\\([0-9a-f]*\\)","kind":"passphrase".*/\\1/')
      asked=$(cat asked)
      export EDITOR='sed -i s/long/longer/'
      state > before; cp $vault v
      ( case "\(command)" in *--key-file*) ;; *) export SECRETPREFS_KEY_FILE=k ;; esac
        secretprefs \(command) ) > said 2>&1 || { cat said; exit 9; }
      if cmp -s v $vault; then echo elsewhere; exit; fi
      state > changed
      secretprefs history undo --yes --key-file k > undone 2> err
      status=$?
      state > after
      if [ $status != 0 ] && ! grep -q 'nothing was undone' err; then
        cmp -s changed after || echo 'refused, and changed'
        sed -n 's/secretprefs: error: /refused: /p' err
      elif ! grep : undone; then
        if cmp -s before after; then echo undone; else echo different; fi
      fi
      """, in: home)
    guard outcome.exit == 0 else { return "failed: \(outcome.text)\(outcome.errorText)" }
    return outcome.text.trimmingCharacters(in: .newlines)
  }

  @Test(arguments: LostOutputTests.writing + LostOutputTests.silent + others)
  func `what a command has done to the keys is undone, or the reason is named`(_ command: String) throws {
    let outcome = try Self.outcome(of: command)
    #expect(Self.isExpected(outcome, of: command), "\(outcome)")
  }

  @Test func `every command that writes is tried`() throws {
    let home = try Scratch()
    let tried = LostOutputTests.writing + LostOutputTests.silent
    // These need a terminal, a server, a kernel with keyrings or three files, and write no vault or have tests of their
    // own.
    let apart = ["settings", "unlock", "lock", "git-merge"]
    let commands = try Tool.run(["writing-commands"], in: home).text.split(separator: "\n").map(String.init)
    #expect(commands.count > 40)
    for command in commands where !apart.contains(command) && !command.hasPrefix("postgres ") {
      let words = command.replacing(" create", with: "")
      let isTried = tried.contains { $0 == command || $0.hasPrefix(command + " ") || $0.hasPrefix(words + " ") }
      #expect(isTried, "\(command)")
    }
  }

  @Test func `without a revision the last write of the group is meant, or of all groups`() throws {
    let home = try LostOutputTests.home()
    let outcome = try Tool.shell(
      """
      export SECRETPREFS_KEY_FILE=k
      secretprefs compact
      secretprefs set one < value; secretprefs set two --group h < value; secretprefs set three < value
      undo() { secretprefs history undo --yes "$@"; secretprefs list --all-groups | tr '\\n' ' '; echo; }
      undo --group h; undo; undo; undo --json
      """, in: home)
    let lines = outcome.text.split(separator: "\n")
    #expect(lines.filter { $0.hasSuffix("removed, 0 restored") }.count == 2, "\(outcome.text)\(outcome.errorText)")
  }

  @Test func `a write that the journal no longer has is undone by the history, with a note`() throws {
    let home = try LostOutputTests.home()
    let outcome = try Tool.shell(
      """
      export SECRETPREFS_KEY_FILE=k
      secretprefs set a --label new < url
      revision=$(secretprefs info a --json | sed 's/.*"revision":\\([0-9]*\\),"created.*/\\1/')
      secretprefs compact
      secretprefs history undo $revision --yes; secretprefs get a; secretprefs info a | grep label
      """, in: home)
    #expect(outcome.text == "0 keys removed, 1 restored\na value that is long enoughlabel       new\n")
    #expect(
      outcome.errorText
        == "secretprefs: note: the journal no longer has the write; the history says what it did, without metadata\n")
  }

  @Test func `an undone change of metadata leaves the value alone`() throws {
    let home = try LostOutputTests.home()
    let outcome = try Tool.shell(
      """
      export SECRETPREFS_KEY_FILE=k
      secretprefs set a --label old < url; secretprefs edit a --label new
      secretprefs history undo --yes; secretprefs get a; echo; secretprefs info a | grep label
      secretprefs history undo --yes; secretprefs info a | grep label
      """, in: home)
    let edited = "0 keys removed, 0 restored, 1 with the metadata from before\n"
    #expect(outcome.text == "\(edited)h\nlabel       old\n\(edited)label       new\n", "\(outcome.errorText)")
  }

  @Test(arguments: [
    "import plain.env", "bundle import t.spv --bundle-key-file t.key", "remove --match '*' --yes",
  ])
  func `the command that undoes a write names the vault that an option named`(_ line: String) throws {
    let home = try RunTests.prepared()
    let outcome = try Tool.shell(
      """
      export SECRETPREFS_KEY_FILE=k; chmod 700 .; mkdir -m 2770 'o p'; printf 'A=1\\n' > plain.env
      secretprefs bundle export --to t.spv --new-key-file t.key token
      cp .local/share/secretprefs/default.spv 'o p/v.spv'; chmod 660 'o p/v.spv'
      state() { secretprefs list --shared --vault 'o p/v.spv'; secretprefs list; }
      [ "\(line)" = "import plain.env" ] || secretprefs rename token other --shared --vault 'o p/v.spv'
      state > before
      secretprefs \(line) --shared --vault 'o p/v.spv' > report 2>&1
      state > between
      eval "$(sed -n 's/^[^"]*"\\(secretprefs history undo .*\\)" undoes .*/\\1/p' report) --yes"
      state > after
      cmp before after && ! cmp -s before between && echo undone
      """, in: home)
    #expect(outcome.text.hasSuffix("undone\n"), "\(outcome.text)\(outcome.errorText)")
  }
}
