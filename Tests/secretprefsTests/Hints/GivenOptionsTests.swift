import Testing

@testable import secretprefs

/// The commands in a message work on the vault that options of the command line have named.
struct GivenOptionsTests {
  private static let words = ["get", "tok", "--vault", "a b.spv", "--key-file=-k", "--mark", "m", "--shared"]

  @Test(arguments: [
    ("\"secretprefs list\" lists", "\"secretprefs list --vault 'a b.spv' --shared\" lists"),
    (
      "an owner grants them: secretprefs requests",
      "an owner grants them: secretprefs requests --vault 'a b.spv' --shared"
    ),
    (
      "(\"secretprefs list '<pattern>'\")", "(\"secretprefs list --vault 'a b.spv' --shared '<pattern>'\")"
    ),
    (
      "run \"secretprefs mark accept\"",
      "run \"secretprefs mark accept --vault 'a b.spv' --shared --key-file ./-k --mark m\""
    ),
  ])
  func `a command of a hint names the vault, and one of a mark also that`(_ hint: String, _ named: String) {
    #expect(GivenOptions(Arguments(words: Self.words)).named(hint) == named)
  }

  @Test(arguments: [
    "\"secretprefs list --vault v '<pattern>'\"", "\"chmod 600 'secretprefs backup/k'\" makes the file private",
    "an owner's 'my secretprefs list x'", "'it'\\''s secretprefs list'", "secretprefs backup/v.spv.torn",
    "/srv/secretprefs list", "\"secretprefs identity show\" prints the public key",
    "set the variable for secretprefs itself",
    "its owner runs \"secretprefs postgres init\"",
    "secretprefs get [<options>] <key>; see secretprefs help get",
  ])
  func `a text that names no command on a vault stays as it is`(_ hint: String) {
    #expect(GivenOptions(Arguments(words: Self.words)).named(hint) == hint)
  }

  @Test func `a repair has each option that its command takes`() {
    let given = GivenOptions(Arguments(words: Self.words))
    #expect(
      given.completed("secretprefs verify, which raises the mark; or secretprefs lock")
        == "secretprefs verify --vault 'a b.spv' --shared --key-file ./-k --mark m, which raises the mark; "
        + "or secretprefs lock --vault 'a b.spv' --shared")
  }

  @Test(arguments: [
    ["run", "--", "sh", "--vault", "v.spv"], ["get", "tok"],
    ["get", "tok", "--trust", "spv-identity-1:00000000", "--passphrase-command", "echo CANARY"],
  ])
  func `what names no vault, or may be a secret, is not repeated`(_ words: [String]) {
    #expect(GivenOptions(Arguments(words: words)).completed("secretprefs verify") == "secretprefs verify")
  }

  @Test func `the warnings of a restored backup name the vault, the mark and the key`() throws {
    let home = try Scratch()
    let outcome = try Tool.shell(
      """
      options="--vault v.spv --key-file k --mark m"
      secretprefs init --vault v.spv --key-file k
      secretprefs backup b.spv --vault v.spv --key-file k
      secretprefs backup restore b.spv $options --yes
      secretprefs mark init $options; printf v | secretprefs set tok $options
      secretprefs backup restore b.spv $options --yes
      """, in: home)
    let options = "--vault v.spv --key-file k --mark m"
    #expect(outcome.errorText.contains("\"secretprefs mark init \(options)\" creates one"), "\(outcome.errorText)")
    #expect(outcome.errorText.contains("run \"secretprefs mark accept \(options)\" to use it"), "\(outcome.errorText)")
  }
}
