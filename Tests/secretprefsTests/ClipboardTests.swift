import Foundation
import Testing

/// `get --clip` on a terminal.
struct ClipboardTests {
  private let note =
    "secretprefs: note: sent to the clipboard of the terminal, which is cleared in 3600 s, or now with Ctrl-C\r\n"
  private let clearing = "\u{1B}]52;c;\u{07}"

  /// A vault with a value of this length, and a terminal.
  private static func scene(_ value: String = "s3cret") throws -> (home: Scratch, terminal: PseudoTerminal) {
    let home = try Scratch()
    try home.write(value, to: "value")
    let made = try Tool.shell("secretprefs init --key-file k && secretprefs set a --key-file k < value", in: home)
    try #require(made.exit == 0)
    return (home, try PseudoTerminal())
  }

  private static func start(
    _ options: String, in scene: (home: Scratch, terminal: PseudoTerminal), environment: [String: String] = [:]
  ) throws -> Running {
    try Running(
      ["/bin/sh", "-c", "exec secretprefs get a --key-file k \(options) 2>/dev/tty"], in: scene.home,
      input: scene.terminal.path, environment: ["TERM": "xterm"].merging(environment) { $1 })
  }

  @Test(
    arguments: [
      (["TERM": "xterm"], "", ""), (["TERM": "tmux-256color"], "\u{1B}Ptmux;\u{1B}", "\u{1B}\\"),
      (["TMUX": "/tmp/tmux-0/default,1,0", "TERM": "screen"], "\u{1B}Ptmux;\u{1B}", "\u{1B}\\"),
      (["TERM": "screen-256color", "STY": "1.x"], "\u{1B}P", "\u{1B}\\"),
      (["STY": "1.x"], "\u{1B}P", "\u{1B}\\"),
    ] as [([String: String], String, String)])
  func `the terminal gets the value, and Ctrl-C clears it`(
    _ environment: [String: String], _ before: String, _ after: String
  ) throws {
    let scene = try Self.scene()
    let running = try Self.start("--clip --clear-after 3600", in: scene, environment: environment)
    let isDoubtful = environment["TERM"] == "tmux-256color"
    let told = isDoubtful ? note.replacing(", which", with: ", if tmux passes it on (allow-passthrough), which") : note
    try scene.terminal.wait(for: told)
    scene.terminal.type("\u{3}")
    let outcome = try running.wait(atMost: .seconds(600))
    #expect(outcome.exit == 130)
    #expect(outcome.output.isEmpty)
    try scene.terminal.wait(for: before + clearing + after)
    let expected = before + "\u{1B}]52;c;czNjcmV0\u{07}" + after + told
    #expect(scene.terminal.shown.replacing("^C", with: "") == expected + before + clearing + after)
  }

  @Test(arguments: [SIGTERM, SIGHUP, SIGUSR1, SIGALRM])
  func `a signal clears it before the command ends`(_ signal: Int32) throws {
    let scene = try Self.scene()
    let running = try Self.start("-c --clear-after 3600", in: scene)
    try scene.terminal.wait(for: note)
    kill(running.process, signal)
    #expect(try running.wait(atMost: .seconds(600)).exit == 128 + signal)
    try scene.terminal.wait(for: clearing)
    #expect(scene.terminal.shown.hasSuffix(clearing))
  }

  @Test func `it is cleared after the time`() throws {
    let scene = try Self.scene()
    let running = try Self.start("--clip --clear-after 1 --json", in: scene)
    let outcome = try running.wait(atMost: .seconds(600))
    #expect(outcome.exit == 0)
    #expect(outcome.output.isEmpty)
    scene.terminal.look()
    #expect(scene.terminal.shown == "\u{1B}]52;c;czNjcmV0\u{07}" + clearing)
  }

  @Test(arguments: [74_994, 74_995]) func `a value that terminals drop is refused`(_ length: Int) throws {
    let scene = try Self.scene(String(repeating: "x", count: length))
    let running = try Self.start("--clip --clear-after 3600", in: scene)
    if length == 74_994 {
      try scene.terminal.wait(for: note)
      #expect(scene.terminal.shown.utf8.count == 100_000 + note.utf8.count)
      kill(running.process, SIGTERM)
      #expect(try running.wait(atMost: .seconds(600)).exit == 128 + SIGTERM)
    } else {
      #expect(try running.wait(atMost: .seconds(600)).exit == 64)
      scene.terminal.look()
      #expect(scene.terminal.shown.hasPrefix("secretprefs: error: the value is longer than terminals can copy"))
    }
  }

  @Test(arguments: ["screen", "screen-256color", "linux", "dumb", "vt100", ""])
  func `nothing is sent where nothing is known to take it`(_ terminal: String) throws {
    let scene = try Self.scene()
    let running = try Self.start("--clip", in: scene, environment: ["TERM": terminal])
    #expect(try running.wait(atMost: .seconds(600)).exit == 64)
    try scene.terminal.wait(for: "secretprefs: hint: ")
    #expect(!scene.terminal.shown.contains("\u{1B}"))
  }

  @Test func `a long value comes in parts that screen passes on`() throws {
    let scene = try Self.scene(String(repeating: "x", count: 3000))
    let running = try Self.start("--clip --clear-after 3600", in: scene, environment: ["STY": "1.x"])
    try scene.terminal.wait(for: note)
    kill(running.process, SIGTERM)
    _ = try running.wait(atMost: .seconds(600))
    let sequence = scene.terminal.shown.components(separatedBy: note)[0]
    let parts = sequence.components(separatedBy: "\u{1B}\\").dropLast()
    #expect(parts.count == 16)
    #expect(parts.allSatisfy { $0.hasPrefix("\u{1B}P") && $0.utf8.count <= 258 })
    #expect(
      parts.map { $0.dropFirst(2) }.joined() == "\u{1B}]52;c;" + String(repeating: "eHh4", count: 1000) + "\u{07}")
  }

  @Test(arguments: [("off", 64), ("on", 0)] as [(String, Int32)])
  func `tmux passes the value on only if it is allowed to`(_ setting: String, _ exit: Int32) throws {
    let scene = try Self.scene()
    let outcome = try Tool.shell(
      """
      export TMUX_TMPDIR=$PWD
      tmux -f /dev/null new-session -d -x 80 -y 24 cat
      tmux set -g allow-passthrough \(setting)
      tmux respawn-pane -k 'secretprefs get a --key-file k --clip --clear-after 1 2>errors; echo $? >ended; exec cat'
      for n in $(seq 600); do [ ! -s ended ] || break; sleep 0.1; done
      cat errors
      tmux kill-server
      exit $(cat ended)
      """, in: scene.home)
    #expect(outcome.exit == exit, "\(outcome.text) \(outcome.errorText)")
    #expect(outcome.text.contains("tmux does not pass the clipboard on") == (exit != 0))
  }
}
