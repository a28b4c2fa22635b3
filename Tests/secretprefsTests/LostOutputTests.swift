import Foundation
import Testing

/// What a command says of the vault when standard output cannot be written.
struct LostOutputTests {
  /// Everything that changes a file, in the home that ``home()`` makes.
  static let writing = [
    "set b < value", "edit a --label x", "rename a b", "copy a b", "move a --to-service s", "copy a --to-group h",
    "move a --to-group h", "generate b",
    "rotate-value a --generate", "rotate-value rotated --confirm",
    "rotate-value rotated --revert",
    "generate b --print", "generate b --words 6", "edit a --value --yes", "remove a", "remove --now a",
    "remove --match a --yes", "remove --match a --now --yes --all-services --all-groups",
    "history restore a 2",
    "history restore r --service old", "history undo 3 --yes", "compact",
    "rotate --group default",
    "rotate --vault-keys --drop-others", "groups create g", "groups rename h i", "groups remove h --yes",
    "slots add --new-key-file n", "slots replace $slot --new-key-file n", "slots remove $slot --without-rotation",
    "slots remove $slot --drop-others", "slots add --public-key - < public", "identity new n",
    "identity trust identity - < pin", "requests add --identity identity", "requests remove $asked",
    "requests grant $asked --owner --yes",
    "passphrase --slot $slot --new-passphrase-fd 3 --throwaway-cost 3< value", "backup copy",
    "backup restore old.spv --yes", "bundle export --to n.spv --new-key-file n --all",
    "bundle import bundle.spv --bundle-key-file bundle.key --replace", "mark init --mark n",
    "mark accept --mark other.mark --yes", "salvage --to n.spv", "init --vault n.spv --key-file n",
    "doctor --repair permissions --vault open.spv",
    "doctor --repair empty-group default --yes --vault broken.spv --key-file broken.key", "new-key n",
    "config set history 5", "config set --project service s", "config unset unlock.idle", "config trust untrusted",
    "config trust --remove trusted", "inject --in template --out n", "import plain.env", "export --to n.env",
    "export --format archive --to n.json", "otp counted",
    "audit on", "audit off", "audit rotate --vault logged.spv", "audit acknowledge --vault logged.spv",
  ]

  static let reading = [
    "get a", "export", "otp timed", "qr a --print", "import plain.env --dry-run", "list", "list --tree 'a*'", "find a",
    "find --value - < value",
    "audit verify", "info a", "status", "verify", "history a", "history removed --service old", "groups", "slots",
    "slots pin", "requests", "identity show identity", "identity key identity --trust $(cat pin)",
    "mark --mark mark", "doctor",
    "check env", "config list", "services", "overview", "list --references", "exit-codes", "completion bash", "version",
    "--help",
    "help set",
    "inject --in template", "scan value", "remove --match a --dry-run",
    "export --all-services --all-groups --format json", "export --format archive",
    "git-credential get < host", "git-credential capability", "docker-credential get < url", "docker-credential list",
  ]

  /// Commands that change something and have nothing to say, not even as JSON.
  static let silent = [
    "git-credential store < git", "git-credential erase < host", "docker-credential store < docker",
    "docker-credential erase < url",
  ]

  /// The commands of ``writing`` that print something without `--json`.
  static let answering = [
    "history undo 3 --yes", "generate b", "generate b --print", "generate b --words 6", "slots add --new-key-file n",
    "slots add --public-key - < public", "identity new n", "requests add --identity identity",
    "requests grant $asked --owner --yes",
    "slots replace $slot --new-key-file n",
    "passphrase --slot $slot --new-passphrase-fd 3 --throwaway-cost 3< value",
    "bundle import bundle.spv --bundle-key-file bundle.key --replace", "salvage --to n.spv",
    "doctor --repair permissions --vault open.spv", "config trust untrusted", "import plain.env", "otp counted",
    "audit acknowledge --vault logged.spv", "backup restore old.spv --yes",
  ]

  /// Standard outputs that cannot be written. The last is a pipe without a reader.
  static let broken = [">/dev/full", ">&-", "4>&- >&3"]

  private static let archive = Result { try Tool.shell("tar c .local .config *", in: prepared()).output }

  /// A home with a vault, as each command finds it: unpacked, because one is made by fifteen runs of the tool.
  static func home() throws -> Scratch {
    let home = try Scratch()
    try archive.get().write(to: URL(filePath: home.file("archive")))
    // Trust is for one path.
    let unpacked = try Tool.shell(
      "tar xf archive && rm archive && mkfifo pipe && secretprefs config trust trusted", in: home)
    try #require(unpacked.exit == 0, "\(unpacked.errorText)")
    return home
  }

  private static func prepared() throws -> Scratch {
    let home = try Scratch()
    try home.write("a value that is long enough", to: "value")
    try home.write("{{ secret://default/a }}", to: "template")
    try home.write("IMPORTED=1\n", to: "plain.env")
    try home.write("A=secret://default/a\n", to: "env")
    try home.write("protocol=https\nhost=h\nusername=u\npassword=new\n", to: "git")
    try home.write("{\"ServerURL\":\"h\",\"Username\":\"u\",\"Secret\":\"new\"}", to: "docker")
    try home.write("protocol=https\nhost=h\n", to: "host")
    try home.write("h", to: "url")
    try home.write("spv-key-1:9ced69111d98612e7f1545e02b0d876abf4602997baf8e94628f814a47130593\n", to: "broken.key")
    let made = try Tool.shell(
      """
      set -e
      umask 077
      export SECRETPREFS_KEY_FILE=k
      secretprefs init --key-file k
      secretprefs set a --history 2 < value
      secretprefs backup old.spv
      cp old.spv open.spv && chmod 644 open.spv
      cp "$TRANSCRIPTS/tampered.spv" broken.spv
      cp old.spv logged.spv
      secretprefs audit on --vault logged.spv
      rm logged.spv.audit-*
      secretprefs get a --vault logged.spv
      secretprefs set a < value
      printf 'otpauth://hotp/a?secret=AAAA&counter=0' | secretprefs set counted
      printf 'otpauth://totp/a?secret=AAAA' | secretprefs set timed
      secretprefs groups create h
      secretprefs slots add --new-passphrase-fd 3 --throwaway-cost 3< value
      secretprefs identity new identity > public
      secretprefs slots pin --vault old.spv > pin
      secretprefs identity new asking > asked
      secretprefs requests add --identity asking
      secretprefs bundle export --to bundle.spv --new-key-file bundle.key a
      secretprefs mark init --mark mark
      secretprefs mark init --mark other.mark --vault bundle.spv --key-file bundle.key
      secretprefs set --service git https://u@h < value
      secretprefs set --service docker h --attribute username=u < value
      secretprefs set --service old r < value
      secretprefs remove --service old r
      secretprefs set rotated < value
      secretprefs rotate-value rotated --generate
      secretprefs config set unlock.idle 5m
      mkdir trusted untrusted
      echo 'service = default' > trusted/.secretprefs
      echo 'service = default' > untrusted/.secretprefs
      """, in: home)
    try #require(made.exit == 0, "\(made.errorText)")
    return home
  }

  /// Runs a command whose standard output is broken.
  /// - Returns: how it ended, with `changed` or `unchanged` as its output.
  private static func run(_ command: String, _ redirection: String, in home: Scratch) throws -> Tool.Outcome {
    try Tool.shell(
      """
      state() {
        find . -type f ! -name '.output-*' ! -name '.errors-*' -exec stat -c '%n %a' {} + -exec cksum {} + | sort
      }
      slot=$(secretprefs slots --json --key-file k | sed 's/.*"id":"\\([0-9a-f]*\\)","kind":"passphrase".*/\\1/')
      asked=$(cat asked)
      export EDITOR='sed -i s/long/longer/'
      case "\(command)" in *--key-file*) ;; *) export SECRETPREFS_KEY_FILE=k ;; esac
      before=$(state)
      exec 4<>pipe 3>pipe 4>&-
      secretprefs \(command) \(redirection)
      status=$?
      [ "$before" = "$(state)" ] && echo unchanged || echo changed
      exit $status
      """, in: home)
  }

  @Test(arguments: writing)
  func `a command that changed something says so though its output is lost`(_ command: String) throws {
    let outcome = try Self.run(command + " --json", ">/dev/full", in: try Self.home())
    #expect(outcome.exit == 73, "\(outcome.errorText)")
    #expect(outcome.text == "changed\n")
    #expect(outcome.errorText.contains(#"{"error":{"code":"answerLost","message":"the change is made, "#))
  }

  @Test(arguments: answering, broken)
  func `a lost output in plain text differs from a lost change`(_ command: String, _ redirection: String) throws {
    let outcome = try Self.run(command, redirection, in: try Self.home())
    #expect(outcome.exit == 73)
    #expect(outcome.text == "changed\n")
    #expect(outcome.errorText.contains("secretprefs: error: the change is made, but "))
  }

  @Test(arguments: writing.filter { !answering.contains($0) && !$0.hasPrefix("doctor") } + silent)
  func `a command that has nothing to say is not troubled by a broken standard output`(_ command: String) throws {
    let outcome = try Self.run(command, ">/dev/full", in: try Self.home())
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text == "changed\n")
  }

  @Test(arguments: reading, broken)
  func `a command that only reads says that nothing was changed`(_ command: String, _ redirection: String) throws {
    let outcome = try Self.run(command, redirection, in: try Self.home())
    // The reader of the pipe has what it wants.
    let isPipe = redirection == Self.broken.last
    #expect(outcome.exit == (isPipe ? 128 + SIGPIPE : 74))
    #expect(outcome.text == "unchanged\n")
    #expect(isPipe ? outcome.errorText.isEmpty : outcome.errorText.contains("; nothing was changed\n"))
  }

  @Test(arguments: ["/dev/full", "&-"])
  func `an identity is not written if its public key cannot be`(_ errors: String) throws {
    let outcome = try Tool.shell("secretprefs identity new - > id 2>\(errors); echo $?; wc -c < id", in: try Scratch())
    #expect(outcome.text == "74\n0\n")
  }
}
