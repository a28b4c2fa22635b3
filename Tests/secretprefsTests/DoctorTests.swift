import Foundation
import Secrets
import Testing

@testable import secretprefs

/// What `doctor` says of the system it runs on.
struct DoctorTests {
  private static func vault() throws -> Scratch {
    let home = try Scratch()
    try #require(
      Tool.shell("secretprefs init --key-file k && secretprefs slots add --key-file k --new-key-file l", in: home).exit
        == 0)
    return home
  }

  private static var mayHaveCores: Bool {
    var limit = rlimit()
    return getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 && limit.rlim_max > 0
  }

  @Test(.enabled(if: mayHaveCores)) func `core files of other programs are worth an advice`() throws {
    let outcome = try Tool.shell("ulimit -S -c 1 && secretprefs doctor --json", in: try Self.vault())
    #expect(outcome.exit == 0)
    #expect(outcome.text.contains("{\"problem\":\"coreFiles\",\"severity\":\"advice\","))
  }

  @Test func `secrets that cannot be locked in memory are worth a warning`() throws {
    // Root may lock without a limit, unless that right is taken away.
    let outcome = try Tool.shell(
      """
      ulimit -l 0
      [ "$(id -u)" != 0 ] || drop="setpriv --bounding-set=-ipc_lock"
      $drop secretprefs doctor --json --key-file k
      """, in: try Self.vault())
    #expect(outcome.exit == 1)
    #expect(outcome.text.contains("{\"problem\":\"memoryLimit\",\"severity\":\"warning\","))
  }

  @Test func `a directory that can be searched and not listed does not end the checks`() throws {
    let home = try Self.vault()
    // Root may list each directory, unless that right is taken away.
    let outcome = try Tool.shell(
      """
      [ "$(id -u)" != 0 ] || drop="setpriv --bounding-set=-dac_override,-dac_read_search"
      chmod 311 .local/share/secretprefs
      $drop secretprefs doctor --key-file k
      status=$?
      chmod 700 .local/share/secretprefs
      exit $status
      """, in: home)
    #expect(outcome.exit == 0)
    #expect(outcome.text.contains("\nnot checked: the audit log of access group default ("))
    #expect(outcome.text.contains("\nnot checked: audit logs that no access group has ("))
  }

  @Test(arguments: [
    ("chmod 400 v.spv", "chmod u+rw v.spv\n"), ("chmod 500 .", "chmod u+w /"),
    ("chmod 0 k", "check the owner and the mode of the file, and of the directories above it\n"),
  ])
  func `the repair of a mode is one that the owner can do`(_ damage: String, _ repair: String) throws {
    let home = try Self.vault()
    let outcome = try Tool.shell(
      """
      [ "$(id -u)" != 0 ] || drop="setpriv --bounding-set=-dac_override,-dac_read_search"
      mkdir -m 700 own && cp k own/k && cp .local/share/secretprefs/default.spv own/v.spv && cd own
      \(damage)
      $drop secretprefs doctor --vault v.spv --key-file k
      chmod 700 .
      """, in: home)
    #expect(outcome.text.contains("repair: " + repair), "\(outcome.text)\(outcome.errorText)")
    #expect(!outcome.text.contains("check the disk") && !outcome.text.contains("run as"))
  }

  @Test(arguments: ["", " --json"])
  func `a repair that fails at a later file says what it has changed before`(_ option: String) throws {
    let home = try Self.vault()
    let outcome = try Tool.shell(
      """
      cd .local/share/secretprefs && chmod 755 . && chmod 644 default.spv && echo other >key && chmod 666 key
      secretprefs doctor --repair permissions --key-file key\(option)
      status=$?
      stat -c %a default.spv
      exit $status
      """, in: home)
    #expect(outcome.exit == 74)
    let change = "changed the mode of the vault from 0644 to 0600"
    let output =
      option.isEmpty ? "\(change)\n" : #"{"repair":"permissions","done":["\#(change)"]}"# + "\n"
    #expect(outcome.text == output + "600\n")
    #expect(outcome.errorText.contains("key: the key file does not have the expected contents and was not changed"))
  }

  @Test func `a group holder's doctor says what only an owner may see`() throws {
    let home = try Self.vault()
    let made = try Tool.shell(
      "secretprefs groups create g --key-file k && secretprefs slots add --for-group g --new-key-file h --key-file k",
      in: home)
    try #require(made.exit == 0)
    let outcome = try Tool.run(["doctor", "--key-file", "h"], in: home)
    #expect(outcome.text == "no problems found\nnot checked: slots and other groups (only an owner can read them)\n")
  }

  @Test func `a sole owner's slot is worth an advice to an owner, and none to a holder, who can add no slot`() throws {
    let home = try Scratch()
    let made = try Tool.shell(
      """
      secretprefs init --key-file k && secretprefs groups create g --key-file k
      secretprefs slots add --for-group g --new-key-file h --key-file k
      """, in: home)
    try #require(made.exit == 0, "\(made.errorText)")
    let doctor = "secretprefs doctor --fail-on advice --json --key-file"
    let owner = try Tool.shell("\(doctor) k", in: home)
    #expect(owner.exit == 1 && owner.text.contains("{\"problem\":\"oneOwner\",\"severity\":\"advice\","))
    let holder = try Tool.shell("\(doctor) h", in: home)
    #expect(holder.exit == 0 && !holder.text.contains("oneOwner"), "\(holder.text)\(holder.errorText)")
  }

  @Test func `a slot of a later version is a warning, and a planted slot is detected`() throws {
    let home = try Self.vault()
    // The second slot's kind, and the checksum corrected.
    let made = try Tool.shell(
      #"""
      v=.local/share/secretprefs/default.spv
      n=$(secretprefs status --json | sed 's/.*"snapshotBytes":\([0-9]*\).*/\1/')
      printf '\011' | dd of=$v bs=1 seek=$((56 + 168)) conv=notrunc status=none
      sum=$(head -c $((n - 32)) $v | b2sum -l 256 | head -c 64 | sed 's/../\\x&/g')
      /usr/bin/printf "$sum" | dd of=$v bs=1 seek=$((n - 32)) conv=notrunc status=none
      """#, in: home)
    try #require(made.exit == 0, "\(made.errorText)")
    let unopened = try Tool.run(["doctor", "--json"], in: home)
    #expect(unopened.exit == 1)
    #expect(unopened.text.contains("{\"problem\":\"unknownSlot\",\"severity\":\"warning\","))
    #expect(!unopened.text.contains("tampered"))
    let opened = try Tool.run(["doctor", "--json", "--key-file", "k"], in: home)
    #expect(opened.text.contains("{\"problem\":\"tampered\",\"severity\":\"error\","))
  }

  @Test func `a journal that many holders wrote is worth an advice, until an owner folds it`() throws {
    let home = try Self.vault()
    let made = try Tool.shell(
      """
      head -c 50000 /dev/zero > value
      for group in a b; do
        secretprefs groups create $group --key-file k
        secretprefs slots add --for-group $group --new-key-file $group --key-file k
      done
      for group in a b; do secretprefs set x --data --file value --group $group --key-file $group; done
      """, in: home)
    try #require(made.exit == 0, "\(made.errorText)")
    let long = try Tool.run(["doctor", "--json"], in: home)
    #expect(long.exit == 0)
    #expect(long.text.contains("{\"problem\":\"longJournal\",\"severity\":\"advice\","))
    try #require(Tool.run(["compact", "--key-file", "k"], in: home).exit == 0)
    #expect(try Tool.run(["doctor", "--key-file", "k"], in: home).text == "no problems found\n")
  }

  @Test func `each value that a key keeps is opened once, in one pass`() throws {
    let home = try Scratch()
    try #require(Tool.run(["init", "--vault", "v.spv", "--key-file", "k"], in: home).exit == 0)
    let vault = try Vault.open(at: home.file("v.spv"), unlocking: .keyFile(home.file("k")))
    let (service, group) = (try Vault.Name("default"), try vault.group(named: "default"))
    var edit = RecordEdit()
    edit.historyDepth = .set(.max)
    for _ in 0...20 {
      try vault.transaction(service: service, in: group) { (batch) throws(VaultError) in
        try batch.set([UInt8]().span.bytes, kind: .data, forKey: "key", edit: edit)
      }
    }
    var (opened, failed) = (0, 0)
    try vault.openValues(in: group) { error in
      opened += 1
      if error != nil { failed += 1 }
    }
    #expect((opened, failed) == (21, 0))
  }

  @Test(arguments: [
    ("billing", "billing"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("-x", "-x"), ("ü", "'ü'"), ("$x", "'$x'"),
  ])
  func `a name is given as a shell takes it`(_ name: String, _ word: String) {
    #expect(shellWord(name) == word)
  }

  @Test func `a repair names the vault and the directories that options named`() throws {
    let home = try Self.vault()
    let outcome = try Tool.shell(
      """
      mkdir -m 700 own left; mv .local/share/secretprefs/default.spv 'own/a b.spv'; chmod 644 'own/a b.spv'
      : > left/.secretprefs-0-0123456789abcdef0123456789abcdef.part
      check() { secretprefs doctor --vault 'own/a b.spv' --leftovers-in left --key-file k; }
      check > problems
      sed -n 's/^ *repair: \\(secretprefs doctor .*\\)/\\1/p' problems > repairs
      cat repairs; sh repairs; check
      """, in: home)
    #expect(
      outcome.text.hasPrefix(
        """
        secretprefs doctor --vault 'own/a b.spv' --key-file k --repair permissions
        secretprefs doctor --vault 'own/a b.spv' --key-file k --repair leftovers --leftovers-in left
        changed the mode of the vault from 0644 to 0600
        removed left/.secretprefs-0-0123456789abcdef0123456789abcdef.part

        """), "\(outcome.text)\(outcome.errorText)")
    #expect(outcome.text.hasSuffix("no problems found\n"))
  }

  @Test func `the repair of a shared vault leaves it to its group`() throws {
    let home = try Self.vault()
    let outcome = try Tool.shell(
      """
      mkdir -m 2770 team; mv .local/share/secretprefs/default.spv team/v.spv; chmod 664 team/v.spv
      secretprefs doctor --shared --vault team/v.spv --key-file k | grep -A1 '^error'
      SECRETPREFS_SHARED=1 secretprefs doctor --vault team/v.spv --key-file k | grep -A1 '^error'
      """, in: home)
    let problem = "error    others have access to the file: its mode is 0664\n"
    func repair(_ shared: String) -> String {
      "         repair: secretprefs doctor --vault team/v.spv\(shared) --key-file k --repair permissions\n"
    }
    #expect(outcome.text == "\(problem)\(repair(" --shared"))\(problem)\(repair(""))", "\(outcome.errorText)")
  }

  /// A vault with a mark and a device key, and `doctor` with their options.
  private static let marked = """
    umask 077; mkdir own marks
    secretprefs init --vault 'own/a b.spv' --key-file k
    secretprefs slots add --vault 'own/a b.spv' --key-file k --new-key-file l
    secretprefs new-key d
    secretprefs mark init --vault 'own/a b.spv' --key-file k --mark marks/m
    doctor() { secretprefs doctor --vault 'own/a b.spv' --key-file k --device-key-file d --mark marks/m "$@"; }

    """

  @Test(arguments: [
    ("chmod 640 'own/a b.spv'", "others have access to the file", "doctor"),
    ("chmod 775 own", "others may write to the directory", "doctor"),
    ("chmod 644 k", "others have access to the key file", "doctor"),
    ("chmod 644 d", "others have access to the device key file", "doctor"),
    ("chmod 666 marks/m", "the mark: ", "doctor"), ("chmod 777 marks", "the mark: ", "doctor"),
    (": > marks/.secretprefs-0-0123456789abcdef0123456789abcdef.part", "an interrupted write left", "doctor"),
    ("printf v | secretprefs set x --vault 'own/a b.spv' --key-file k", "the mark was not raised", "verify"),
    (
      "cp 'own/a b.spv' old; printf v | secretprefs set x --vault 'own/a b.spv' --key-file k --mark marks/m; "
        + "cat old > 'own/a b.spv'", "the vault is older than its mark", "mark accept"
    ),
  ])
  func `a repair that is run as it is printed ends the problem`(
    _ damage: String, _ problem: String, _ command: String
  ) throws {
    let home = try Scratch()
    let outcome = try Tool.shell(
      Self.marked + """
        \(damage)
        doctor > before
        grep -A1 -F '\(problem)' before | grep -o 'secretprefs \(command) [^,;]*' > repair
        [ '\(command)' != 'mark accept' ] || sed -i 's/$/ --yes/' repair
        cat repair; sh repair || echo failed
        doctor > after; cat after
        """, in: home)
    let text = { (name: String) in try String(contentsOf: URL(filePath: home.file(name)), encoding: .utf8) }
    #expect(try text("before").contains(problem), "\(outcome.text)\(outcome.errorText)")
    #expect(!outcome.text.contains("failed"), "\(outcome.text)\(outcome.errorText)")
    #expect(try !text("after").contains(problem), "\(outcome.text)\(outcome.errorText)")
  }

  @Test(arguments: ["chmod 666 marks/m", "chmod 777 marks"])
  func `a mark that others may change is a problem beside others, and was not compared`(_ damage: String) throws {
    let home = try Scratch()
    let outcome = try Tool.shell(Self.marked + "\(damage); chmod 640 'own/a b.spv'; doctor", in: home)
    #expect(outcome.text.contains("error    group or others have access to the file: its mode is 0640\n"))
    #expect(outcome.text.contains("error    the mark: "), "\(outcome.text)\(outcome.errorText)")
    #expect(outcome.text.contains("\nnot checked: the mark (it could not be compared)\n"), "\(outcome.text)")
  }

  @Test func `the directory of a shared vault stays open to its group when a mark lies in it`() throws {
    let home = try Scratch()
    let outcome = try Tool.shell(
      """
      umask 077; mkdir -m 2770 team
      vault='--shared --vault team/v.spv --key-file k'
      secretprefs init $vault; secretprefs mark init $vault --mark m; cp m team/m
      secretprefs doctor $vault --mark team/m | grep -A1 'the mark: '
      secretprefs doctor $vault --mark team/m --repair permissions; stat -c %a team
      """, in: home)
    #expect(
      outcome.text.contains("repair: keep the mark in a directory to which only its owner can write\n"),
      "\(outcome.text)\(outcome.errorText)")
    #expect(outcome.text.hasSuffix("\n2770\n"), "\(outcome.text)\(outcome.errorText)")
  }

  @Test func `a file that is no mark keeps its mode, and so does a directory that all share`() throws {
    let home = try Scratch()
    let outcome = try Tool.shell(
      Self.marked + """
        chmod 1777 marks; doctor --repair permissions
        echo text > marks/m; chmod 666 marks/m; doctor --repair permissions; echo $?
        stat -c %a marks marks/m
        """, in: home)
    #expect(outcome.text.hasSuffix("nothing to repair\n74\n1777\n666\n"), "\(outcome.text)")
    #expect(outcome.errorText.contains("marks/m: the mark does not have the expected contents and was not changed"))
  }

  @Test(arguments: [
    ("--yes", "--yes is for"), ("--repair permissions --yes", "--yes is for"),
    ("--repair leftovers --unlock", "no --unlock"), ("--repair permissions --leftovers-in .", "--leftovers-in is for"),
    ("--repair empty-group default --yes --leftovers-in .", "--leftovers-in is for"),
  ])
  func `an option without an effect is refused`(_ options: String, _ message: String) throws {
    let outcome = try Tool.shell("secretprefs doctor \(options)", in: try Self.vault())
    #expect(outcome.exit == 64)
    #expect(outcome.errorText.contains(message), "\(outcome.errorText)")
  }
}
