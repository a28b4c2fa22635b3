import Foundation
import Testing

struct ImportPromptTests {
  @Test func `a file with an error is refused before a passphrase is asked for`() throws {
    let scene = try PromptTests.Scene()
    try scene.home.write("A", to: ".env")
    let outcome = try scene.start("import", ".env").wait()
    #expect(outcome.exit == 65)
    scene.terminal.look()
    #expect(scene.terminal.shown.isEmpty)
  }

  @Test(arguments: [
    (
      "import .env",
      """
      1 key imported
      "secretprefs history undo 3" undoes the import
      .env still has the values in plain text

      """
    ), ("export", "key=s3cret\n"),
  ])
  func `a typed passphrase unlocks the vault for an import and an export`(_ line: String, _ output: String) throws {
    let scene = try PromptTests.Scene()
    try scene.home.write("A=s3cret-a", to: ".env")
    let arguments = line.split(separator: " ").map(String.init)
    let running = try Running([Tool.path] + arguments, in: scene.home, input: scene.terminal.path)
    try scene.terminal.wait(for: "default.spv: ")
    #expect(!scene.terminal.echoes)
    scene.terminal.type(PromptTests.passphrase + "\n")
    let outcome = try running.wait()
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text == output)
    scene.terminal.look()
    #expect(!scene.terminal.shown.contains("s3cret"))
  }

  @Test func `a terminal is not read as a file, because it would echo`() throws {
    let scene = try PromptTests.Scene()
    for file in ["-", "/dev/tty"] {
      let outcome = try scene.start("import", file, "--format", "dotenv").wait()
      #expect(outcome.exit == 64)
      #expect(outcome.errorText.contains("terminal"))
    }
  }
}
