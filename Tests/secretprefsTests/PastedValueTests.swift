import Foundation
import Testing

/// A value that is pasted at the prompt of `set`.
struct PastedValueTests {
  private static let pem = "-----BEGIN KEY-----\nAAAA\n\nBBBB==\n-----END KEY-----\n"

  /// A command that waits at its prompt.
  private static func prompted() throws -> (running: Running, scene: PromptTests.Scene) {
    let scene = try PromptTests.Scene()
    let running = try Running(
      ["/bin/sh", "-c", "exec secretprefs set key --passphrase-fd 3 3< passphrase"], in: scene.home,
      input: scene.terminal.path, environment: ["TERM": "xterm"])
    try scene.terminal.wait(for: "Value: ")
    try scene.terminal.wait(forEcho: false)
    return (running, scene)
  }

  /// What is stored after `typed` was typed at the prompt.
  private static func stored(
    _ typed: String
  ) throws -> (outcome: Tool.Outcome, value: String, scene: PromptTests.Scene) {
    let (running, scene) = try prompted()
    scene.terminal.type(typed)
    let outcome = try running.wait()
    let value = try Tool.shell("secretprefs get key --passphrase-fd 3 3< passphrase", in: scene.home).text
    return (outcome, value, scene)
  }

  @Test(
    arguments: [
      ("\u{1B}[200~\(pem)\u{1B}[201~\n", pem), ("\u{1B}[200~\(pem.dropLast())\u{1B}[201~\n", pem),
      ("\u{1B}[200~one line\u{1B}[201~\n", "one line"), ("\u{1B}[200~one line\n\u{1B}[201~\n", "one line"),
      ("typed, \u{1B}[200~pasted\u{1B}[201~, typed\n", "typed, pasted, typed"),
      ("\u{1B}[200~a\nb\u{1B}[201~c\n", "a\nbc\n"), ("one line\n", "one line"),
      ("\u{1B}[200~\u{1B}[31m\u{1B}[201~\n", "\u{1B}[31m"), ("[200~\n", "[200~"), (pem, pem),
    ] as [(String, String)])
  func `all lines that are pasted at once are the value`(_ typed: String, _ value: String) throws {
    let (outcome, stored, scene) = try Self.stored(typed)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(stored == value)
    scene.terminal.look()
    #expect(scene.terminal.shown == "\u{1B}[?2004hValue: \r\n\u{1B}[?2004l")
  }

  @Test(arguments: ["\u{1B}[200~one\n\u{4}", "-----BEGIN KEY-----\nAAAA\n\u{4}"])
  func `what is pasted without its end is not stored`(_ typed: String) throws {
    let (outcome, stored, _) = try Self.stored(typed)
    #expect(outcome.exit == 64)
    #expect(stored == "s3cret")
  }

  @Test func `what is pasted behind a line that is too long is not left for the shell`() throws {
    let (running, scene) = try Self.prompted()
    scene.terminal.type("\u{1B}[200~\(String(repeating: "x", count: 5000))\n")
    // The rest comes a little later, as over a network.
    usleep(200_000)
    scene.terminal.type("rest\nof it\u{1B}[201~\n")
    let outcome = try running.wait()
    #expect(outcome.exit == 64, "\(outcome.errorText)")
    #expect(outcome.errorText.contains("the line is longer than a terminal can pass to a program"))
    scene.terminal.look()
    #expect(!scene.terminal.shown.contains("rest"))
    #expect(scene.terminal.echoes)
  }

  @Test func `several lines without marks are refused, and none is left for the shell`() throws {
    let (outcome, stored, scene) = try Self.stored("one\ntwo\nthree\n")
    #expect(outcome.exit == 64)
    #expect(outcome.errorText.contains("the value has several lines; nothing was stored"))
    #expect(stored == "s3cret")
    #expect(scene.terminal.echoes)
  }

  @Test(arguments: ["ab\u{1B}[Dc\n", "\u{1B}OA\n", "\u{1B}[200~a\u{1B}[201~\u{1B}[C\n", "\u{1}\n", "\u{16}\u{7F}\n"])
  func `a value with a key that types no character is asked for again`(_ typed: String) throws {
    let scene = try PromptTests.Scene()
    let running = try Running(
      ["/bin/sh", "-c", "exec secretprefs set key --passphrase-fd 3 3< passphrase"], in: scene.home,
      input: scene.terminal.path, environment: ["TERM": "xterm"])
    for (number, text) in [typed, typed, "a\tb\n"].enumerated() {
      try scene.terminal.wait(for: "Value: ", times: number + 1)
      try scene.terminal.wait(forEcho: false)
      scene.terminal.type(text)
    }
    #expect(try running.wait().exit == 0)
    let stored = try Tool.shell("secretprefs get key --passphrase-fd 3 3< passphrase", in: scene.home)
    #expect(stored.text == "a\tb")
  }

  @Test func `a pasted key can be read by ssh-keygen`() throws {
    let home = try Scratch()
    let made = try Tool.shell("ssh-keygen -q -t ed25519 -N '' -C c -f key && cat key", in: home)
    try #require(made.exit == 0)
    let (outcome, stored, scene) = try Self.stored("\u{1B}[200~\(made.text)\u{1B}[201~\n")
    #expect(outcome.exit == 0)
    try scene.home.write(stored, to: "copy")
    let read = try Tool.shell("chmod 600 copy && ssh-keygen -y -f copy", in: scene.home)
    #expect(read.text.hasPrefix("ssh-ed25519 "), "\(read.errorText)")
  }
}
