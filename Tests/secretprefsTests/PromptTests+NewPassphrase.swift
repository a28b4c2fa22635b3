import Foundation
import Testing

extension PromptTests {
  @Test func `a new passphrase is typed twice`() throws {
    let scene = try Scene()
    let running = try scene.start("init", "--vault", "new.spv", "--throwaway-cost")
    try scene.terminal.wait(for: "New passphrase: ")
    scene.terminal.type("a second one that is long\n")
    try scene.terminal.wait(for: "Repeat the passphrase: ")
    #expect(!scene.terminal.echoes)
    scene.terminal.type("a second one that is long\n")
    let outcome = try running.wait()
    #expect(outcome.exit == 0)
    #expect(outcome.errors.isEmpty)
    try scene.home.write("a second one that is long", to: "second")
    let listed = try Tool.shell("secretprefs list --vault new.spv --passphrase-fd 3 3< second", in: scene.home)
    #expect(listed.exit == 0)
  }

  @Test func `a weak new passphrase is refused before it is typed again, and asked for three times`() throws {
    let scene = try Scene()
    let running = try scene.start("init", "--vault", "new.spv", "--throwaway-cost")
    for number in 1...3 {
      try scene.terminal.wait(for: "New passphrase: ", times: number)
      scene.terminal.type("hunter2\n")
    }
    let outcome = try running.wait()
    #expect(outcome.exit == 64)
    scene.terminal.look()
    #expect(
      scene.terminal.shown.hasPrefix(
        "The new vault is new.spv; without its passphrase, its values are lost.\r\nNew passphrase: \r\n"
          + "The passphrase is weak: it has fewer than 15 characters: use several unrelated words, or add --accept-weak.\r\n"
          + "New passphrase: "))
    #expect(outcome.errorText.contains("the passphrase is weak: it has fewer than 15 characters"))
    #expect(outcome.errorText.contains("--accept-weak"))
    #expect(access(scene.home.file("new.spv"), F_OK) != 0)
    #expect(scene.terminal.echoes)
  }

  @Test func `a new passphrase with a key that types no character is asked for again`() throws {
    let scene = try Scene()
    let running = try scene.start("init", "--vault", "new.spv", "--throwaway-cost")
    try scene.terminal.wait(for: "New passphrase: ")
    scene.terminal.type("a second one that is lnog\u{1B}[D\u{1B}[D\n")
    try scene.terminal.wait(for: "New passphrase: ", times: 2)
    scene.terminal.type("a second one that is long\n")
    try scene.terminal.wait(for: "Repeat the passphrase: ")
    scene.terminal.type("a second one that is long\n")
    #expect(try running.wait().exit == 0)
    scene.terminal.look()
    #expect(scene.terminal.shown.contains("A key that types no character was pressed, such as an arrow.\r\n"))
  }

  @Test func `two passphrases that differ are asked for again, and make nothing`() throws {
    let scene = try Scene()
    let running = try scene.start("init", "--vault", "new.spv", "--key-file", "new.key", "--passphrase")
    for number in 1...3 {
      try scene.terminal.wait(for: "New passphrase: ", times: number)
      scene.terminal.type("one that is long enough\n")
      try scene.terminal.wait(for: "Repeat the passphrase: ", times: number)
      scene.terminal.type("another that is long enough\n")
    }
    #expect(try running.wait().exit == 64)
    scene.terminal.look()
    #expect(scene.terminal.shown.contains("The two passphrases differ.\r\nNew passphrase: "))
    #expect(access(scene.home.file("new.spv"), F_OK) != 0)
    #expect(access(scene.home.file("new.key"), F_OK) != 0)
  }

  @Test func `the old passphrase is prompted for once and the new one twice`() throws {
    let scene = try Scene()
    let running = try scene.start("passphrase", "--throwaway-cost", "--accept-weak")
    try scene.terminal.wait(for: "default.spv: ")
    scene.terminal.type(Self.passphrase + "\n")
    try scene.terminal.wait(for: "New passphrase: ")
    try scene.terminal.wait(forEcho: false)
    scene.terminal.type("hunter2\n")
    try scene.terminal.wait(for: "Repeat the passphrase: ")
    scene.terminal.type("hunter2\n")
    let outcome = try running.wait()
    #expect(outcome.exit == 0)
    #expect(outcome.errors.isEmpty)
    scene.terminal.look()
    #expect(!scene.terminal.shown.contains("hunter2"))
    #expect(scene.terminal.echoes)
    #expect(try Tool.shell("secretprefs get key --passphrase-fd 3 3< passphrase", in: scene.home).exit == 77)
    try scene.home.write("hunter2", to: "short")
    #expect(try Tool.shell("secretprefs get key --passphrase-fd 3 3< short", in: scene.home).text == "s3cret")
  }

  @Test func `a new slot's passphrase is typed while the old one comes from a descriptor`() throws {
    let scene = try Scene()
    let running = try Running(
      ["/bin/sh", "-c", "secretprefs slots add --throwaway-cost --passphrase-fd 3 3< passphrase"], in: scene.home,
      input: scene.terminal.path)
    for question in ["New passphrase: ", "Repeat the passphrase: "] {
      try scene.terminal.wait(for: question)
      try scene.terminal.wait(forEcho: false)
      scene.terminal.type("a second one that is long\n")
    }
    let outcome = try running.wait()
    #expect(outcome.exit == 0)
    #expect(outcome.errors.isEmpty)
    #expect(outcome.text.contains(/^[0-9a-f]{32}\n$/))
    try scene.home.write("a second one that is long", to: "second")
    #expect(try Tool.shell("secretprefs get key --passphrase-fd 3 3< second", in: scene.home).text == "s3cret")
  }
}
