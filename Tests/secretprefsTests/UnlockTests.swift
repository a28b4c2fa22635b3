import DurableFiles
import Foundation
import Testing

@Suite(Keyring.isNeeded) struct UnlockTests {}

extension UnlockTests {
  private static let unlock = "secretprefs unlock --passphrase-fd 3 3< passphrase"

  @Test func `one typed passphrase serves the commands that follow`() throws {
    let scene = try PromptTests.Scene()
    let running = try Keyring.start(
      "secretprefs unlock --json && secretprefs get key && secretprefs list", in: scene.home,
      input: scene.terminal.path)
    try scene.terminal.wait(for: ": ")
    scene.terminal.type(PromptTests.passphrase + "\n")
    let outcome = try running.wait()
    #expect(outcome.exit == 0)
    #expect(outcome.text.hasSuffix("}\ns3cretkey\n"))
    #expect(outcome.errors.isEmpty)
    scene.terminal.look()
    #expect(scene.terminal.shown == "Passphrase of \(scene.home.path)/.local/share/secretprefs/default.spv: \r\n")
  }

  @Test(arguments: [EPERM, ENOSYS, EDQUOT])
  func `where the kernel refuses, no passphrase is asked for`(_ errno: Int32) throws {
    let scene = try PromptTests.Scene()
    let outcome = try Keyring.start(
      "exec secretprefs unlock", in: scene.home, input: scene.terminal.path, refusing: errno
    ).wait()
    #expect(outcome.exit == 74)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errorText.contains(String(cString: strerror(errno))))
    #expect(outcome.errorText.contains("--key-file"))
    scene.terminal.look()
    #expect(scene.terminal.shown.isEmpty)
  }

  @Test func `a wrong passphrase keeps nothing`() throws {
    let scene = try PromptTests.Scene()
    try scene.home.write("CANARY-7f3a", to: "wrong")
    let outcome = try Keyring.session(
      "secretprefs unlock --passphrase-fd 3 3< wrong; grep -c secretprefs: /proc/keys", in: scene.home)
    #expect(outcome.text == "0\n")
    #expect(outcome.errorText.contains("no slot opens"))
  }

  @Test func `the kernel shows the key to the session alone, with a timeout that each use begins again`() throws {
    let scene = try PromptTests.Scene()
    let show = "grep secretprefs: /proc/keys"
    let outcome = try Keyring.session(
      """
      \(Self.unlock) --for 24h --idle 20m > /dev/null; \(show)
      secretprefs unlock --for 24h --idle 2h --passphrase-fd 3 3< passphrase > /dev/null; \(show)
      \(Self.unlock) --for 30s > /dev/null; \(show)
      perl "$TRANSCRIPTS/keyring.pl" 0 sh -c "secretprefs list --no-prompt; \(show)"
      """, in: scene.home)
    let lines = outcome.text.split(separator: "\n")
    let path = "\(scene.home.path)/.local/share/secretprefs/default.spv"
    // Two limits and a difference of clocks, the vault's identifier, the number of slots, the identifier and key of
    // one with the public key of its holder, and the path, twice if a link leads to it: no passphrase.
    let real = try #require(PathName.resolved(path))
    let count = 121 + path.utf8.count + 1 + real.utf8.count
    // Without a shorter idle time, no program may change the timeout.
    let expected = [("(20|19)m", "3b000000"), ("(2|1)h", "3b000000"), ("(30|2[0-9])s", "1b000000")]
    for (line, (timeout, permissions)) in zip(lines, expected) {
      #expect(
        try line.contains(Regex(" \(timeout) \(permissions) .* user +secretprefs:[0-9a-f]{32}: \(count)$")), "\(line)")
    }
    #expect(lines.count == 3)
    #expect(outcome.errorText.contains("no passphrase or key file is configured"))
  }

  @Test func `status is no use that keeps the key for longer`() throws {
    let scene = try PromptTests.Scene()
    // The script sets a timeout as if the idle time were almost over.
    let expire = #"perl -e 'syscall(250, 15, hex(shift), 9999)' $(awk '/secretprefs:/ { print "0x" $1 }' /proc/keys)"#
    let outcome = try Keyring.session(
      """
      \(Self.unlock) > /dev/null
      case $(uname -m) in x86_64) \(expire);; *) \(expire.replacing("250", with: "219"));; esac
      secretprefs status > /dev/null; awk '/secretprefs:/ { print $4 }' /proc/keys
      secretprefs list > /dev/null; awk '/secretprefs:/ { print $4 }' /proc/keys
      """, in: scene.home)
    #expect(outcome.text == "2h\n5m\n" || outcome.text == "2h\n4m\n", "\(outcome.errorText)")
  }

  @Test func `an explicit source is used, and the kept key is not tried after it`() throws {
    let scene = try PromptTests.Scene()
    try scene.home.write("CANARY-7f3a", to: "wrong")
    for (option, variable) in [
      ("--passphrase-fd 3", ""), ("--key-file missing", ""), ("--passphrase-command false", ""),
      ("", "SECRETPREFS_KEY_FILE=missing"), ("", "SECRETPREFS_PASSPHRASE=wrong"),
      ("", "SECRETPREFS_PASSPHRASE_COMMAND=false"),
    ] {
      let outcome = try Keyring.session(
        "\(Self.unlock) > /dev/null; \(variable) secretprefs get key \(option) 3< wrong", in: scene.home)
      #expect(outcome.exit != 0 && outcome.output.isEmpty, "\(option)\(variable)")
    }
  }

  @Test(arguments: [
    (
      "secretprefs passphrase --passphrase-fd 3 --new-passphrase-fd 4 --throwaway-cost 3< passphrase 4< new",
      "removed or changed"
    )
  ])
  func `a key that does not open the vault any more is an error, and no prompt`(
    _ change: String, _ reason: String
  ) throws {
    let scene = try PromptTests.Scene()
    try scene.home.write("a new passphrase of the vault", to: "new")
    let running = try Keyring.start(
      """
      V=.local/share/secretprefs/default.spv
      \(Self.unlock) > /dev/null; \(change) > /dev/null
      secretprefs get key
      """, in: scene.home, input: scene.terminal.path)
    let outcome = try running.wait()
    #expect(outcome.exit == 77)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errorText.contains("the unlocked key does not open the vault"))
    #expect(outcome.errorText.contains(reason))
    #expect(outcome.errorText.contains("secretprefs lock"))
    #expect(scene.terminal.shown.isEmpty)
  }

  @Test(arguments: [
    "compact", "rotate --group default", "rotate --vault-keys --drop-others", "backup copy",
    "backup restore old.spv --yes", "run -- true", "set other < passphrase", "info key", "verify",
    "git-textconv old.spv | grep key", "git-merge old.spv old.spv .local/share/secretprefs/default.spv",
  ])
  func `every command uses the kept key, which stays valid`(_ command: String) throws {
    let scene = try PromptTests.Scene()
    let outcome = try Keyring.session(
      """
      \(Self.unlock) > /dev/null; secretprefs backup old.spv
      secretprefs \(command) > /dev/null && secretprefs get key
      """, in: scene.home)
    #expect(outcome.text == "s3cret", "\(outcome.errorText)")
  }

  @Test func `a kept group's credential opens its group and no more`() throws {
    let scene = try PromptTests.Scene()
    let outcome = try Keyring.session(
      """
      exec 3< passphrase
      secretprefs slots add --for-group default --new-key-file k --passphrase-fd 3 > /dev/null
      secretprefs unlock --key-file k > /dev/null
      secretprefs get key; secretprefs slots
      """, in: scene.home)
    #expect(outcome.text == "s3cret")
    #expect(outcome.exit == 77)
  }

  @Test(arguments: [">/dev/full", ">&-", ">&5"])
  func `what is kept or removed is said though the output is lost`(_ redirection: String) throws {
    let scene = try PromptTests.Scene()
    let outcome = try Keyring.session(
      """
      mkfifo pipe; exec 4<>pipe 5>pipe 4>&-
      \(Self.unlock) \(redirection); echo $?; secretprefs get key
      secretprefs lock --json \(redirection); echo $?; secretprefs get key --no-prompt
      """, in: scene.home)
    #expect(outcome.text == "73\ns3cret73\n")
    #expect(outcome.exit == 78)
  }
}
