import Foundation
import Testing

/// Values of several lines: what goes in by a pipe, a file or the prompt comes out the same.
struct ValueLinesTests {
  private static let key = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n"
  private static let secretKey = "secretprefs get k --passphrase-fd 3 3< passphrase"

  @Test(arguments: [
    ("one\n", "one"), ("one\r\n", "one"), ("one", "one"), ("one\ntwo\n", "one\ntwo\n"),
    ("one\r\ntwo\r\n", "one\r\ntwo\r\n"),
    ("one\n\n", "one\n\n"), (key, key),
  ])
  func `only the line ending of a single line is removed`(_ text: String, _ expected: String) throws {
    let scene = try ExchangeScene()
    try scene.home.write(text, to: "text")
    let outcome = try scene.shell(
      "secretprefs set a < text && secretprefs set b --file text && secretprefs find --value - < text")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text == "a\nb\n")
    #expect(try scene.texts(service: "default") == ["a": expected, "b": expected])
  }

  static let hasPrograms = (try? Tool.shell("ssh-keygen -h; openssl version", in: Scratch()).exit) == 0

  @Test(.enabled(if: ValueLinesTests.hasPrograms)) func `private keys are read by their programs afterwards`() throws {
    let scene = try ExchangeScene()
    let outcome = try scene.shell(
      """
      ssh-keygen -q -t ed25519 -N '' -C me -f id && openssl genpkey -algorithm ed25519 -out pem 2> log || exit 99
      secretprefs set ssh < id && secretprefs get ssh > key && chmod 600 key && ssh-keygen -y -f key > public &&
      secretprefs set pem --file pem && secretprefs get pem | openssl pkey -noout && cmp id key
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
  }

  private func paste(_ text: String) throws -> (outcome: Tool.Outcome, scene: PromptTests.Scene) {
    let scene = try PromptTests.Scene()
    let running = try scene.start("set", "k")
    try scene.terminal.wait(for: "default.spv: ")
    try scene.terminal.wait(forEcho: false)
    scene.terminal.type(PromptTests.passphrase + "\n")
    try scene.terminal.wait(for: "Value: ")
    try scene.terminal.wait(forEcho: false)
    scene.terminal.type(text)
    return (try running.wait(), scene)
  }

  @Test func `a key that is pasted at the prompt is stored whole, and nothing of it is shown`() throws {
    let (outcome, scene) = try paste(Self.key)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(try Tool.shell(Self.secretKey, in: scene.home).text == Self.key)
    scene.terminal.look()
    #expect(!scene.terminal.shown.contains("MC4C"))
  }

  @Test(arguments: ["one\ntwo\n", "one\ntwo", "{\n \"a\": 1\n}\n"])
  func `other text of several lines is refused at the prompt`(_ text: String) throws {
    let (outcome, scene) = try paste(text)
    #expect(outcome.exit == 64)
    #expect(outcome.errorText.contains("the value has several lines; nothing was stored"), "\(outcome.errorText)")
    #expect(try Tool.shell(Self.secretKey, in: scene.home).exit == 1)
  }
}
