import Testing

/// Questions that take a yes.
extension PromptTests {
  @Test(
    arguments: [
      ("yes\n", 0), ("Y\n", 0), ("no\n", 1), ("yess\n", 1), ("\n", 1), ("\u{4}", 1), ("ye\u{3}", 130),
    ] as [(String, Int32)])
  func `an access group is removed after a yes alone`(_ typed: String, _ exit: Int32) throws {
    let scene = try Scene()
    let key = "--passphrase-fd 3 3< passphrase"
    let running = try Running(
      [
        "/bin/sh", "-c",
        "secretprefs groups create billing \(key) && printf x | secretprefs set a --group billing \(key) && "
          + "exec secretprefs groups remove billing \(key)",
      ], in: scene.home, input: scene.terminal.path)
    let question = "Remove the access group billing with 1 record and 0 slots? [yes/no] "
    try scene.terminal.wait(for: question)
    #expect(scene.terminal.echoes)
    scene.terminal.type(typed)
    let outcome = try running.wait()
    #expect(outcome.exit == exit)
    #expect(outcome.output.isEmpty)
    let declined = "secretprefs: error: not confirmed; nothing was changed\n"
    #expect(outcome.errorText == (exit == 1 ? declined : ""))
    #expect(scene.terminal.echoes)
    let groups = try Tool.shell("secretprefs groups \(key)", in: scene.home).text
    #expect(groups.contains("billing") == (exit != 0))
    scene.terminal.look()
    if exit == 0 { #expect(scene.terminal.shown == question + typed.dropLast() + "\r\n") }
  }

  @Test(arguments: [("yes\n", 0), ("no\n", 1), ("\n", 1), ("ye\u{3}", 130)] as [(String, Int32)])
  func `a vault is replaced by its backup after a yes alone`(_ typed: String, _ exit: Int32) throws {
    let scene = try Scene()
    let key = "--passphrase-fd 3 3< passphrase"
    let running = try Running(
      [
        "/bin/sh", "-c",
        "secretprefs backup copy \(key) && printf later | secretprefs set key \(key) && "
          + "exec secretprefs backup restore copy \(key)",
      ], in: scene.home, input: scene.terminal.path)
    let question =
      "The vault is at generation 1 with 2 journal entries, the backup is at generation 1 with 1 journal entry. "
      + "Replace the vault? [yes/no] "
    try scene.terminal.wait(for: question)
    scene.terminal.type(typed)
    #expect(try running.wait().exit == exit)
    #expect(try Tool.shell("secretprefs get key \(key)", in: scene.home).text == (exit == 0 ? "s3cret" : "later"))
  }

  @Test(arguments: [("yes\n", 0), ("no\n", 1)] as [(String, Int32)])
  func `an older vault is accepted after a yes alone`(_ typed: String, _ exit: Int32) throws {
    let scene = try Scene()
    let key = "--mark mark --passphrase-fd 3 3< passphrase"
    let running = try Running(
      [
        "/bin/sh", "-c",
        "secretprefs backup copy \(key.dropFirst(12)) && secretprefs mark init \(key) && "
          + "printf later | secretprefs set key \(key) && secretprefs backup restore copy --yes \(key) && "
          + "exec secretprefs mark accept \(key)",
      ], in: scene.home, input: scene.terminal.path)
    try scene.terminal.wait(for: "Accept the current vault, although the vault is older than its mark? [yes/no] ")
    scene.terminal.type(typed)
    #expect(try running.wait().exit == exit)
    let read = try Tool.shell("secretprefs get key \(key)", in: scene.home)
    #expect(read.exit == (exit == 0 ? 0 : 76))
  }

  @Test(arguments: [("yes\n", 0), ("no\n", 1)] as [(String, Int32)])
  func `a group that does not verify is emptied after a yes alone`(_ typed: String, _ exit: Int32) throws {
    let scene = try Scene()
    let running = try Running(
      [
        "/bin/sh", "-c",
        "install -m 600 \"$TRANSCRIPTS/tampered.spv\" t.spv && umask 077 && "
          + "echo spv-key-1:9ced69111d98612e7f1545e02b0d876abf4602997baf8e94628f814a47130593 > owner && "
          + "exec secretprefs doctor --repair empty-group default --vault t.spv --key-file owner",
      ], in: scene.home, input: scene.terminal.path)
    try scene.terminal.wait(
      for: "Empty default? All records are lost, except those that \"secretprefs salvage\" recovers first. [yes/no] ")
    scene.terminal.type(typed)
    #expect(try running.wait().exit == exit)
    let verified = try Tool.run(["verify", "--vault", "t.spv", "--key-file", "owner"], in: scene.home)
    #expect(verified.exit == (exit == 0 ? 0 : 76))
  }
}
