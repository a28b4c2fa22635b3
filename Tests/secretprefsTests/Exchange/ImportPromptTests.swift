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

  @Test(arguments: [("yes\n", 0), ("no\n", 1)] as [(String, Int32)])
  func `a write is undone after a yes alone, which follows the names of its keys`(
    _ typed: String, _ exit: Int32
  ) throws {
    let scene = try PromptTests.Scene()
    let key = "--passphrase-fd 3 3< passphrase"
    let running = try Running(
      [
        "/bin/sh", "-c",
        "printf 'key=imported\nNEW=imported\n' > .env; "
          + "secretprefs import .env --on-conflict replace \(key) > report; "
          + "exec secretprefs history undo $(grep -o 'undo [0-9]*' report | cut -c6-) \(key)",
      ], in: scene.home, input: scene.terminal.path)
    try scene.terminal.wait(
      for: " would remove default NEW, and bring an earlier value back for default key. Undo it? [yes/no] ")
    #expect(!scene.terminal.shown.contains("imported"))
    scene.terminal.type(typed)
    #expect(try running.wait().exit == exit)
    let read = try Tool.shell("secretprefs get key \(key)", in: scene.home)
    #expect(read.text == (exit == 0 ? "s3cret" : "imported"))
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
