import Testing

/// A helper on a terminal: git and docker pass theirs on.
struct HelperTerminalTests {
  @Test(arguments: [
    ("git-credential", "protocol=https\nhost=a.example\n\n", Int32(78)),
    ("docker-credential", "r.example\n\u{4}", 1),
  ])
  func `a helper does not prompt, though there is a terminal`(
    _ command: String, _ request: String, _ exit: Int32
  ) throws {
    let scene = try PromptTests.Scene()
    let running = try scene.start(command, "get")
    scene.terminal.type(request)
    let outcome = try running.wait()
    #expect(outcome.exit == exit)
    #expect((outcome.errorText + outcome.text).contains("secretprefs: "))
    scene.terminal.look()
    #expect(!scene.terminal.shown.contains("Passphrase"))
  }
}
