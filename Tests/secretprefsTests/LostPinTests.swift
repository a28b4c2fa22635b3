import Foundation
import Testing

/// A vault whose only owner is an identity is not lost with the output of the command that gives it new keys.
struct LostPinTests {
  /// A vault with the owners `key` and `id`, an identity whose file has the pin. `slot` is the id of the slot of `key`.
  private static let start = """
    umask 077
    export SECRETPREFS_VAULT=$PWD/v.spv SECRETPREFS_SERVICE=s
    set -e
    secretprefs init --key-file key
    printf precious | secretprefs set k --key-file key
    secretprefs identity new id > public
    secretprefs slots add --public-key - --key-file key < public > pin 2> note
    secretprefs identity trust id - < pin
    slot=$(secretprefs slots list --key-file key | sed -n 's/^\\* \\([0-9a-f]*\\) .*/\\1/p')
    set +e

    """

  private static func run(_ script: String) throws -> Tool.Outcome {
    let home = try Scratch()
    try home.write(start + script, to: "script")
    return try Tool.shell("sh script", in: home)
  }

  static let changes = [
    "slots remove $slot", "slots remove $slot --json", "rotate --vault-keys --drop-others",
    "rotate --vault-keys --drop-others --json",
  ]

  /// The last is a pipe without a reader.
  static let broken = [">/dev/null", ">/dev/full", ">&-", "4>&- >&3"]

  @Test(arguments: changes, broken)
  func `an identity whose file has the pin opens the vault after the output was lost`(
    _ change: String, _ redirection: String
  ) throws {
    let outcome = try Self.run(
      """
      mkfifo pipe; exec 4<>pipe 3>pipe 4>&-
      secretprefs \(change) --identity id \(redirection) 2> errors; echo $?
      secretprefs get k --identity id; echo
      wc -l < id
      secretprefs get k --identity id --trust "$(cat pin)"; echo $?
      secretprefs get k --key-file key; echo $?
      """)
    let exit = redirection == ">/dev/null" ? 0 : 73
    #expect(outcome.text == "\(exit)\nprecious\n2\n77\n77\n", "\(outcome.errorText)")
  }

  @Test(arguments: ["slots remove $slot", "rotate --vault-keys --drop-others"])
  func `the warning says that the file of this identity has the new pin`(_ change: String) throws {
    let outcome = try Self.run(
      """
      secretprefs \(change) --identity id > new 2> warnings
      grep -o 'configuration.*' warnings
      secretprefs identity show --json id | grep -cF "$(cat new)"
      """)
    #expect(outcome.text == "configuration; it is this identity, whose file has the new pin\n1\n")
  }

  /// How the identity gets its pin from elsewhere, or cannot change its file.
  static let others = [
    #"secretprefs $change --identity id --trust "$(cat pin)""#,
    #"SECRETPREFS_TRUST=$(cat pin) secretprefs $change --identity id"#,
    #"mkdir c; cp id c/secret-preferences.identity; SECRETPREFS_TRUST=$(cat pin) CREDENTIALS_DIRECTORY=$PWD/c "#
      + "secretprefs $change",
    #"mkfifo fifo; cat id > fifo & secretprefs $change --identity fifo"#,
    "secretprefs identity key id > raw; secretprefs $change --key-file raw",
  ]

  @Test(arguments: others, ["/dev/null", "/dev/full"])
  func `without such a file, nothing is changed if the new pin cannot be printed`(
    _ command: String, _ output: String
  ) throws {
    let outcome = try Self.run(
      """
      change="rotate --vault-keys --drop-others"
      cp v.spv before
      (\(command)) >\(output) 2> errors; echo $?
      cmp v.spv before && secretprefs get k --identity id; echo
      secretprefs get k --key-file key; echo
      """)
    let exit = output == "/dev/null" ? 64 : 74
    #expect(outcome.text == "\(exit)\nprecious\nprecious\n", "\(outcome.errorText)")
  }

  @Test(arguments: others) func `without such a file, the new pin is printed before the change, and once`(
    _ command: String
  ) throws {
    let outcome = try Self.run(
      """
      for change in "rotate --vault-keys --drop-others" "slots remove $slot --json"; do
        rm -rf c fifo; cp -p v.spv kept
        (\(command)) > out 2> errors; echo $?
        wc -l < out
        secretprefs get k --identity id --trust "$(grep -o 'spv-vault-1:[0-9a-f:]*' out | head -n 1)"; echo
        cp -p kept v.spv
      done
      """)
    #expect(outcome.text == "0\n1\nprecious\n0\n1\nprecious\n", "\(outcome.errorText)")
  }

  @Test func `an interrupted rotation leaves a file that opens the vault, and a later command completes it`() throws {
    let outcome = try Self.run(
      """
      cp v.spv after.spv
      secretprefs rotate --vault-keys --vault after.spv --key-file key > next 2> warning
      cat next >> id
      secretprefs identity show --json id | grep -o nextPin

      # As before the write: which one is made is not known.
      secretprefs get k --identity id; echo; wc -l < id
      # As after it.
      cp id both
      secretprefs get k --identity both --vault after.spv; echo; wc -l < both
      secretprefs get k --identity both; echo $?
      secretprefs get k --identity both --vault after.spv; echo

      # The next rotation takes the place of the one that was not made.
      secretprefs rotate --vault-keys --drop-others --identity id > new 2> warning
      wc -l < id; tail -n 1 id | cmp - new && secretprefs get k --identity id; echo
      """)
    #expect(
      outcome.text == "nextPin\nprecious\n3\nprecious\n2\n77\nprecious\n2\nprecious\n", "\(outcome.errorText)")
  }

  @Test func `an identity trusts only the pin that it is to trust, also after an interrupted rotation`() throws {
    let outcome = try Self.run(
      """
      cp v.spv after.spv
      secretprefs rotate --vault-keys --vault after.spv --key-file key > next 2> warning
      cat next >> id
      secretprefs identity trust id - < pin; wc -l < id
      secretprefs get k --identity id --vault after.spv; echo $?
      secretprefs get k --identity id; echo
      """)
    #expect(outcome.text == "2\n77\nprecious\n", "\(outcome.errorText)")
  }

  @Test func `a file of an identity that another process has locked does not stop a rotation`() throws {
    let outcome = try Self.run(
      """
      exec 8<id; flock 8
      secretprefs rotate --vault-keys --drop-others --identity id 8<&- > new 2> warnings; echo $?
      grep -c 'the identity file does not get the new pin (.*has locked the identity file)' warnings
      grep -c 'this identity, for which the new pin was printed' warnings
      secretprefs get k --identity id --trust "$(cat new)"; echo
      """)
    #expect(outcome.text == "0\n1\n1\nprecious\n", "\(outcome.errorText)")
  }

  @Test func `the only owner slot is not replaced by one that nobody may be able to open`() throws {
    let outcome = try Self.run(
      """
      secretprefs init --vault w.spv --key-file w.key
      slot=$(secretprefs slots list --vault w.spv --key-file w.key | cut -c 3-10)
      secretprefs slots replace $slot --public-key - --vault w.spv --key-file w.key < public; echo $?
      secretprefs slots replace $slot --public-key - --vault w.spv --key-file w.key --keep-old < public > new; echo $?
      """)
    #expect(outcome.text == "64\n0\n")
    #expect(outcome.errorText.contains("no other owner slot is known to open without a pin, and the vault would be"))
  }

  @Test func `an owner slot of an identity, whose pin may be old, is not the way in that is left`() throws {
    let outcome = try Self.run(
      """
      secretprefs rotate --vault-keys --key-file key > new 2> warnings
      secretprefs identity new other > other.public
      secretprefs slots replace $slot --public-key - --key-file key < other.public; echo $?

      # The slot that has opened the vault is one.
      replace="secretprefs slots replace $slot --public-key - --identity id --json"
      $replace --trust "$(cat new)" < other.public | grep -cF '"pin":"'"$(cat new)"
      secretprefs identity trust other - < new; secretprefs get k --identity other; echo
      """)
    #expect(outcome.text == "64\n1\nprecious\n", "\(outcome.errorText)")
  }

  @Test func `a slot that is replaced by that of an identity comes with the pin`() throws {
    let outcome = try Self.run(
      """
      secretprefs identity new other > other.public
      secretprefs slots add --key-file key --new-key-file spare > spare.id
      secretprefs slots replace "$(cat spare.id)" --public-key - --key-file key < other.public > out 2> note
      cmp out pin && echo same
      grep -c 'note: the slot is ' note
      secretprefs identity trust other - < pin; secretprefs get k --identity other; echo
      """)
    #expect(outcome.text == "same\n1\nprecious\n", "\(outcome.errorText)")
  }

  @Test(arguments: changes) func `the former pin is named for the backups from before, and opens them`(
    _ change: String
  ) throws {
    let outcome = try Self.run(
      """
      secretprefs backup bk.spv --identity id
      secretprefs \(change) --identity id > out 2> warnings
      cat out warnings | grep -oE '(--trust |"formerPin":")spv-vault-1:[0-9a-f:]*' | sed 's/.*spv/spv/' > former
      cmp former pin && echo named
      secretprefs get k --vault bk.spv --identity id; echo $?
      former="--identity id --trust $(cat pin)"
      secretprefs get k --vault bk.spv $former; echo
      secretprefs verify --vault bk.spv $former > verified; echo $?

      # The key has its slot back, and the identity has kept its own.
      secretprefs backup restore bk.spv $former --yes > kept 2> restored; echo $?
      grep -c "1 holder by public key needs the pin of the backup: .*: $(cat pin)" restored
      grep -c 'the backup has slot .* raw key, owner, "key file"' restored
      grep -c ' slot .*public key ' restored
      secretprefs get k $former; echo; secretprefs get k --key-file key; echo
      """)
    #expect(outcome.text == "named\n77\nprecious\n0\n0\n1\n1\n0\nprecious\nprecious\n", "\(outcome.errorText)")
  }

  @Test func `a command that completes a rotation names the former pin, too`() throws {
    let outcome = try Self.run(
      """
      cp v.spv after.spv
      secretprefs rotate --vault-keys --vault after.spv --key-file key > next 2> warning
      cat next >> id
      secretprefs get k --identity id --vault after.spv 2> warnings; echo
      grep -cF -- "--trust $(cat pin);" warnings
      """)
    #expect(outcome.text == "precious\n1\n", "\(outcome.errorText)")
  }

  @Test func `a restore across a rotation names the pin of the backup, and no holder that has its access in both`()
    throws
  {
    let outcome = try Self.run(
      """
      secretprefs backup bk.spv --key-file key
      secretprefs rotate --vault-keys --key-file key > new 2> warnings
      restore="secretprefs backup restore bk.spv --key-file key --yes --json"
      $restore 2> warnings | grep -oF '"slotsBack":[],"slotsGone":[],"pin":"'"$(cat pin)" | wc -l
      grep -c 'needs the pin of the backup' warnings
      secretprefs get k --identity id; echo
      $restore | grep -c '"pin"'
      """)
    #expect(outcome.text == "1\n1\nprecious\n0\n", "\(outcome.errorText)")
  }
}
