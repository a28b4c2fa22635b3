import Foundation
import Testing

struct HardeningTests {
  @Test func `row 66: a process that prompts has no core, its signals decided and its vault closed to others`() throws {
    let home = try Scratch()
    try home.write("passphrase", to: "p")
    let made = try Tool.shell("secretprefs init --throwaway-cost --accept-weak --passphrase-fd 3 3< p", in: home)
    try #require(made.exit == 0)
    let terminal = try PseudoTerminal()
    let running = try Running([Tool.path, "get", "key"], in: home, input: terminal.path)
    try terminal.wait(for: ": ")
    let limits = try String(contentsOfFile: "/proc/\(running.process)/limits", encoding: .utf8)
    #expect(limits.contains(/Max core file size +0\b/))
    let status = try String(contentsOfFile: "/proc/\(running.process)/status", encoding: .utf8)
    let ignored = try Self.mask("SigIgn", status)
    #expect(ignored.contains(SIGPIPE) && ignored.contains(SIGXFSZ))
    let caught = try Self.mask("SigCgt", status)
    #expect(caught.isDisjoint(with: [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGSYS]))
    #expect(caught.isSuperset(of: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGTSTP]))
    kill(running.process, SIGTERM)
    #expect(try running.wait().exit == 128 + SIGTERM)
  }

  @Test(arguments: [("INT", SIGINT), ("QUIT", SIGQUIT)])
  func `an ignored signal stays ignored`(_ name: String, _ signal: Int32) throws {
    let home = try Scratch()
    try home.write("passphrase", to: "p")
    _ = try Tool.shell("secretprefs init --throwaway-cost --accept-weak --passphrase-fd 3 3< p", in: home)
    let terminal = try PseudoTerminal()
    let running = try Running(
      ["/bin/sh", "-c", "trap '' \(name); exec secretprefs get key"], in: home, input: terminal.path)
    try terminal.wait(for: ": ")
    try terminal.wait(forEcho: false)
    kill(running.process, signal)
    usleep(300_000)
    terminal.type("passphrase\n")
    #expect(try running.wait().exit == 1)
  }

  /// A vault with the passphrase in the file `p`, and the key `a`.
  private static func prepared() throws -> Scratch {
    let home = try Scratch()
    try home.write("passphrase", to: "p")
    try home.write("cat p; exit 3", to: "fails")
    let made = try Tool.shell(
      """
      secretprefs init --throwaway-cost --accept-weak --passphrase-fd 3 3< p
      printf one | secretprefs set a --passphrase-fd 3 3< p
      """, in: home)
    try #require(made.exit == 0, "\(made.errorText)")
    return home
  }

  @Test(arguments: [
    ("run --mask --passphrase-fd 3 -- sh -c 'exit 7'", 7), ("edit a --value --yes --passphrase-fd 3", 0),
    ("get a --passphrase-command 'cat p'", 0), ("get a --passphrase-command 'sh fails'", 74),
  ])
  func `how a program ends is known although SIGCHLD is ignored`(_ arguments: String, _ exit: Int32) throws {
    let home = try Self.prepared()
    let outcome = try Tool.shell(
      "EDITOR='sed -i s/one/two/' exec env --ignore-signal=CHLD secretprefs \(arguments) 3< p", in: home)
    #expect(outcome.exit == exit, "\(outcome.errorText)")
  }

  @Test(arguments: ["", "--mask"]) func `a command inherits that SIGCHLD is ignored`(_ option: String) throws {
    let outcome = try Tool.shell(
      "exec env --ignore-signal=CHLD secretprefs run \(option) --passphrase-fd 3 -- cat /proc/self/status 3< p",
      in: try Self.prepared())
    #expect(try Self.mask("SigIgn", outcome.text).contains(SIGCHLD))
  }

  private static let mayUnshare =
    (try? Tool.shell("unshare --user --map-root-user --mount mount -t tmpfs none /dev", in: try Scratch()).exit) == 0

  @Test(
    .enabled(if: mayUnshare),
    arguments: [
      ("", "secretprefs: error: open /dev/null as a standard descriptor: No such file or directory\n"),
      (
        " --json",
        #"{"error":{"code":"internal","message":"open /dev/null as a standard descriptor: No such file or directory","#
          + #""exit":70}}"# + "\n"
      ),
    ])
  func `a process that cannot be made safe says why it ends`(_ option: String, _ message: String) throws {
    let outcome = try Tool.shell(
      "unshare --user --map-root-user --mount sh -c 'mount -t tmpfs none /dev; exec secretprefs list\(option) <&-'",
      in: try Scratch())
    #expect(outcome.exit == 70)
    #expect(outcome.errorText == message)
  }

  @Test func `files are made for their owner alone, whatever the umask`() throws {
    for umask in ["000", "777"] {
      let home = try Scratch()
      let outcome = try Tool.shell("umask \(umask); secretprefs init --vault d/v.spv --key-file k", in: home)
      #expect(outcome.exit == 0, "\(outcome.errorText)")
      let modes = try Tool.shell("stat -c %a k d d/v.spv", in: home)
      #expect(modes.text == "600\n700\n600\n")
    }
  }

  private static func mask(_ name: String, _ status: String) throws -> Set<Int32> {
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(name + ":") })
    let bits = try #require(UInt64(line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces), radix: 16))
    return Set((1...64).filter { bits >> ($0 - 1) & 1 == 1 }.map { Int32($0) })
  }
}
