import Foundation
import Testing

struct PromptTests {
  static let passphrase = "correct horse bättery"

  /// A vault that opens with the passphrase, and a terminal.
  struct Scene {
    let home: Scratch
    let terminal: PseudoTerminal

    init() throws {
      home = try Scratch()
      terminal = try PseudoTerminal()
      try home.write(PromptTests.passphrase + "\n", to: "passphrase")
      let made = try Tool.shell(
        "secretprefs init --throwaway-cost --passphrase-fd 3 3< passphrase && "
          + "printf s3cret | secretprefs set key --passphrase-fd 3 3< passphrase", in: home)
      try #require(made.exit == 0)
    }

    func start(_ arguments: String...) throws -> Running {
      try Running([Tool.path] + arguments, in: home, input: terminal.path)
    }
  }

  @Test func `a typed passphrase unlocks and is never shown`() throws {
    let scene = try Scene()
    let running = try scene.start("get", "key")
    try scene.terminal.wait(for: "default.spv: ")
    #expect(!scene.terminal.echoes)
    scene.terminal.type(Self.passphrase + "\n")
    let outcome = try running.wait()
    #expect(outcome.exit == 0)
    #expect(outcome.text == "s3cret")
    #expect(outcome.errors.isEmpty)
    #expect(scene.terminal.echoes)
    scene.terminal.look()
    #expect(scene.terminal.shown == "Passphrase of \(scene.home.path)/.local/share/secretprefs/default.spv: \r\n")
  }

  @Test func `backspace and kill work while typing`() throws {
    let scene = try Scene()
    let running = try scene.start("get", "key")
    try scene.terminal.wait(for: ": ")
    scene.terminal.type("wrong\u{15}" + Self.passphrase + "x\u{7F}\n")
    #expect(try running.wait().exit == 0)
  }

  // Those of a terminal, and every other that a program can catch and would end by, but for faults: 34 and 64 are the
  // first and the last real-time signal.
  @Test(
    arguments: [(SIGINT, "\u{3}"), (SIGQUIT, "\u{1C}")]
      + [
        SIGTERM, SIGHUP, SIGABRT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGPOLL, SIGPWR, SIGSTKFLT,
        34, 64,
      ].map { ($0, "") })
  func `a signal ends the question and the terminal echoes again`(_ signal: Int32, _ typed: String) throws {
    let scene = try Scene()
    let running = try scene.start("get", "key")
    try scene.terminal.wait(for: ": ")
    try scene.terminal.wait(forEcho: false)
    if typed.isEmpty { kill(running.process, signal) } else { scene.terminal.type("half" + typed) }
    let outcome = try running.wait()
    #expect(outcome.exit == 128 + signal)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.isEmpty)
    #expect(scene.terminal.echoes)
    scene.terminal.look()
    #expect(!scene.terminal.shown.contains("half"))
  }

  @Test func `a prompt that is begun in the background waits for the foreground, and Enter ends it there`() throws {
    let scene = try Scene()
    let mode = scene.terminal.mode
    let running = try Running(
      [
        "/bin/sh", "-mc",
        """
        mode=$(stty -g); stty -icrnl -icanon; secretprefs get key &
        until grep -q 'State:.T' /proc/$!/status; do sleep 0.1; done
        stty $mode; fg >/dev/null
        """,
      ], in: scene.home, input: scene.terminal.path)
    try scene.terminal.wait(for: "default.spv: ")
    scene.terminal.type(Self.passphrase + "\r")
    let outcome = try running.wait()
    #expect(outcome.exit == 0)
    #expect(outcome.text.hasSuffix("s3cret"))
    #expect(scene.terminal.mode == mode)
  }

  @Test func `a stopped prompt echoes, and is repeated when the process continues`() throws {
    let scene = try Scene()
    let running = try Running(
      ["/bin/sh", "-mc", "secretprefs get key; echo stopped >/dev/tty; read x; fg >/dev/null"], in: scene.home,
      input: scene.terminal.path)
    try scene.terminal.wait(for: ": ")
    try scene.terminal.wait(forEcho: false)
    scene.terminal.type("\u{1A}")
    try scene.terminal.wait(for: "stopped")
    #expect(scene.terminal.echoes)
    scene.terminal.type("\n")
    try scene.terminal.wait(for: "default.spv: ", times: 2)
    try scene.terminal.wait(forEcho: false)
    scene.terminal.type(Self.passphrase + "\n")
    let outcome = try running.wait()
    #expect(outcome.text.hasSuffix("s3cret"))
    #expect(scene.terminal.echoes)
  }

  @Test func `a wrong passphrase may be typed three times, and no more`() throws {
    let scene = try Scene()
    let running = try scene.start("get", "key")
    for number in 1...3 {
      try scene.terminal.wait(for: "default.spv: ", times: number)
      #expect(!scene.terminal.echoes)
      scene.terminal.type("CANARY-7f3a\n")
    }
    let outcome = try running.wait()
    #expect(outcome.exit == 77)
    #expect(!outcome.errorText.contains("CANARY"))
    scene.terminal.look()
    #expect(scene.terminal.shown.components(separatedBy: "Passphrase of").count == 4)
    #expect(scene.terminal.shown.contains("Wrong passphrase; 2 attempts left.\r\nPassphrase of"))
    #expect(scene.terminal.shown.contains("Wrong passphrase; 1 attempt left.\r\nPassphrase of"))
    #expect(!scene.terminal.shown.contains("CANARY"))
    #expect(scene.terminal.echoes)
  }

  @Test(arguments: [["get", "key"], ["status", "--unlock"], ["salvage", "--to", "saved.spv"]])
  func `a passphrase that is right at last unlocks`(_ arguments: [String]) throws {
    let scene = try Scene()
    let running = try Running([Tool.path] + arguments, in: scene.home, input: scene.terminal.path)
    try scene.terminal.wait(for: "default.spv: ")
    scene.terminal.type("wrong\n")
    try scene.terminal.wait(for: "default.spv: ", times: 2)
    scene.terminal.type(Self.passphrase + "\n")
    #expect(try running.wait().exit == 0)
  }

  @Test func `a passphrase that was not typed is tried once`() throws {
    let scene = try Scene()
    try scene.home.write("wrong", to: "wrong")
    let running = try Running(
      ["/bin/sh", "-c", "exec secretprefs get key --passphrase-fd 3 3< wrong"], in: scene.home,
      input: scene.terminal.path)
    #expect(try running.wait().exit == 77)
    scene.terminal.look()
    #expect(scene.terminal.shown.isEmpty)
  }

  @Test(arguments: ["\n", "\u{4}"]) func `an empty passphrase is refused`(_ typed: String) throws {
    let scene = try Scene()
    let running = try scene.start("get", "key")
    try scene.terminal.wait(for: ": ")
    scene.terminal.type(typed)
    #expect(try running.wait().exit == 64)
  }

  @Test func `no prompt appears for a vault that does not exist or has no passphrase`() throws {
    let scene = try Scene()
    #expect(try scene.start("get", "key", "--vault", "nowhere.spv").wait().exit == 1)
    #expect(try scene.start("init", "--vault", "raw.spv", "--key-file", "k").wait().exit == 0)
    #expect(try scene.start("get", "key", "--vault", "raw.spv").wait().exit == 78)
    scene.terminal.look()
    #expect(scene.terminal.shown.isEmpty)
  }

  @Test func `no-prompt never prompts, terminal or not`() throws {
    let scene = try Scene()
    #expect(try scene.start("get", "key", "--no-prompt").wait().exit == 78)
    #expect(try scene.start("set", "key", "--no-prompt").wait().exit == 64)
    scene.terminal.look()
    #expect(scene.terminal.shown.isEmpty)
  }

  @Test func `status prompts with --unlock only`() throws {
    let scene = try Scene()
    let plain = try scene.start("status").wait()
    #expect(plain.exit == 0)
    #expect(plain.text.contains("names are sealed"))
    let running = try scene.start("status", "--unlock")
    try scene.terminal.wait(for: ": ")
    scene.terminal.type(Self.passphrase + "\n")
    #expect(try running.wait().text.contains("default: 1 record,"))
  }

  @Test func `a value is typed without echo, and its line feed is not part of it`() throws {
    let scene = try Scene()
    let running = try scene.start("set", "typed")
    try scene.terminal.wait(for: "default.spv: ")
    scene.terminal.type(Self.passphrase + "\n")
    try scene.terminal.wait(for: "Value: ")
    try scene.terminal.wait(forEcho: false)
    scene.terminal.type("ghp_sample\n")
    #expect(try running.wait().exit == 0)
    scene.terminal.look()
    #expect(!scene.terminal.shown.contains("ghp"))
    let got = try Tool.shell("secretprefs get typed --passphrase-fd 3 3< passphrase", in: scene.home)
    #expect(got.text == "ghp_sample")
  }

  @Test func `a line that the terminal would cut is refused`() throws {
    let scene = try Scene()
    let running = try scene.start("get", "key")
    try scene.terminal.wait(for: ": ")
    scene.terminal.type(String(repeating: "x", count: 4095) + "\n")
    let outcome = try running.wait()
    #expect(outcome.exit == 64)
    #expect(outcome.errorText.contains("longer than a terminal can pass"))
  }

  @Test func `a salvage prompts for the passphrase though the file cannot be parsed`() throws {
    let scene = try Scene()
    let broken = try Tool.shell(
      "printf X | dd of=.local/share/secretprefs/default.spv bs=1 seek=50 conv=notrunc status=none", in: scene.home)
    try #require(broken.exit == 0)
    let running = try scene.start("salvage", "--to", "saved.spv")
    try scene.terminal.wait(for: "default.spv: ")
    scene.terminal.type(Self.passphrase + "\n")
    #expect(try running.wait().exit == 0)
  }

  @Test func `a bundle's passphrase is typed after the vault's, and each again when it is wrong`() throws {
    let scene = try Scene()
    let made = try Tool.shell(
      "secretprefs bundle export --to b --all --throwaway-cost --new-passphrase-fd 4 --passphrase-fd 3 "
        + "3< passphrase 4< passphrase", in: scene.home)
    try #require(made.exit == 0)
    let running = try scene.start("bundle", "import", "b", "--replace")
    for vault in ["the vault \(scene.home.path)/.local/share/secretprefs/default.spv", "the bundle b"] {
      try scene.terminal.wait(for: "Passphrase of \(vault): ")
      scene.terminal.type("wrong\n")
      try scene.terminal.wait(for: "Passphrase of \(vault): ", times: 2)
      scene.terminal.type(Self.passphrase + "\n")
    }
    #expect(try running.wait().text == "1 key imported\n\"secretprefs history undo 3\" undoes the import\n")
  }

  @Test func `a doctor prompts for the passphrase with --unlock only`() throws {
    let scene = try Scene()
    #expect(try scene.start("doctor").wait().text.contains("not checked: access groups"))
    scene.terminal.look()
    #expect(scene.terminal.shown.isEmpty)
    let running = try scene.start("doctor", "--unlock")
    try scene.terminal.wait(for: "default.spv: ")
    scene.terminal.type(Self.passphrase + "\n")
    #expect(try !running.wait().text.contains("not checked"))
  }

  @Test func `without a terminal the error comes at once`() throws {
    let scene = try Scene()
    let start = ContinuousClock.now
    let outcome = try Tool.run(["get", "key"], in: scene.home)
    #expect(outcome.exit == 78)
    #expect(ContinuousClock.now - start < .seconds(5))
  }

  @Test func `a terminal gets the bytes of a value as they are, and a warning before it obeys them`() throws {
    let scene = try Scene()
    let outcome = try Running(
      [
        "/bin/sh", "-c",
        "printf 'a\\033[2Jb' | secretprefs set odd --passphrase-fd 3 3< passphrase; "
          + "secretprefs get odd --passphrase-fd 3 3< passphrase > /dev/tty",
      ], in: scene.home, input: scene.terminal.path
    ).wait()
    #expect(outcome.exit == 0)
    #expect(outcome.errorText == "secretprefs: warning: the value contains control characters\n")
    try scene.terminal.wait(for: "a\u{1B}[2Jb")
  }

  @Test(arguments: [
    ("printf s3cret", "", "s3cret\r\n"), ("printf 's3cret\n'", "", "s3cret\r\n"),
    ("printf 's3cret\n'", "--newline", "s3cret\r\n\r\n"), ("printf s3cret", "--json", "s3cret\"}\r\n"),
  ])
  func `a value ends with a line feed on a terminal`(_ value: String, _ option: String, _ shown: String) throws {
    let scene = try Scene()
    let outcome = try Running(
      [
        "/bin/sh", "-c",
        "\(value) | secretprefs set key --exact --passphrase-fd 3 3< passphrase; "
          + "secretprefs get key \(option) --passphrase-fd 3 3< passphrase > /dev/tty; printf '$ ' > /dev/tty",
      ], in: scene.home, input: scene.terminal.path
    ).wait()
    #expect(outcome.exit == 0)
    try scene.terminal.wait(for: "$ ")
    #expect(scene.terminal.shown.hasSuffix(shown + "$ "))
  }

  @Test(arguments: [
    ("'token\n'", "", true), ("'token\r\n'", "", true), ("token", "", false), ("'token\n'", "--exact", false),
    ("'token\n'", "--data", false), ("'token\n'", "--json", false),
  ])
  func `a line end that is left out is said, on a terminal and in a script`(
    _ value: String, _ option: String, _ isSaid: Bool
  ) throws {
    let scene = try Scene()
    let set = "printf \(value) | secretprefs set token \(option) --passphrase-fd 3 3< passphrase"
    let outcome = try Running(
      ["/bin/sh", "-c", "\(set); \(set) 2> /dev/tty; printf '$ ' > /dev/tty"], in: scene.home,
      input: scene.terminal.path
    ).wait()
    try scene.terminal.wait(for: "$ ")
    let note = isSaid ? "secretprefs: note: removed the line ending at the end of the value; --exact keeps it" : ""
    #expect(outcome.errorText == (isSaid ? note + "\n" : ""))
    #expect(scene.terminal.shown == (isSaid ? note + "\r\n" : "") + "$ ")
  }

  @Test(arguments: [("", 64), ("--allow-empty", 0)] as [(String, Int32)])
  func `an empty value is typed with --allow-empty alone`(_ option: String, _ exit: Int32) throws {
    let scene = try Scene()
    let running = try Running(
      ["/bin/sh", "-c", "exec secretprefs set typed \(option) --passphrase-fd 3 3< passphrase"], in: scene.home,
      input: scene.terminal.path)
    try scene.terminal.wait(for: "Value: ")
    try scene.terminal.wait(forEcho: false)
    scene.terminal.type("\n")
    #expect(try running.wait().exit == exit)
  }
}
