import Foundation
import Testing

/// What becomes of a value that was typed in an editor when it cannot be saved, and what editors write elsewhere.
@Suite(.enabled(if: EditValueTests.inMemory)) struct EditKeepingTests {
  private let home: Scratch
  private let typed = "typed-\(UUID())"

  init() throws {
    home = try Scratch()
    let made = try Tool.shell("secretprefs init --key-file k && printf one | secretprefs set a --key-file k", in: home)
    try #require(made.exit == 0, "\(made.errorText)")
  }

  private var value: String { get throws { try Tool.run(["get", "a", "--key-file", "k"], in: home).text } }

  /// The path of the file that a message names.
  private func kept(_ message: String) throws -> String {
    let path = try #require(message.firstMatch(of: /kept in memory, in (\S+);/)).1
    return String(path)
  }

  /// Sets `tool` to the process of the tool that runs a script.
  private static let head = "#!/bin/sh\nread pid name state tool rest </proc/$PPID/stat\n"

  private func edit(_ script: String, lockTimeout: Int = 0) throws -> Tool.Outcome {
    try home.writeProgram(Self.head + script, to: "editor")
    let command = "secretprefs edit a --value --yes --key-file k --lock-timeout \(lockTimeout)"
    return try Tool.shell("unset XDG_RUNTIME_DIR; EDITOR=./editor exec \(command)", in: home)
  }

  /// A line of shell that locks the vault, and then sends a signal to the process that waits for the lock.
  private static func lock(sending signal: Int32) -> String {
    """
    flock .local/share/secretprefs/default.spv sleep 10 > flock 2>&1 & sleep 0.5
    (sleep 1; kill -\(signal) $tool) > kill 2>&1 &
    """
  }

  @Test(arguments: [
    ("printf other | secretprefs set a --key-file k", "another process has changed the key"),
    ("secretprefs remove a --key-file k", "another process has changed the key"),
    ("flock $(pwd)/.local/share/secretprefs/default.spv sleep 600 & echo $! > lock; sleep 0.5", "writer lock"),
    ("printf '\\377' >> \"$1\"", "not valid"),
    ("kill -KILL $$", "signal 9"), ("kill -HUP $tool; sleep 600", "kept in memory"),
  ])
  func `without a terminal, what cannot be saved is kept and named, and no later edit removes it`(
    _ failure: String, _ message: String
  ) throws {
    let outcome = try edit("printf %s \(typed) > \"$1\"; \(failure)")
    _ = try Tool.shell("[ ! -e lock ] || kill $(cat lock)", in: home)
    #expect(outcome.exit != 0)
    #expect(outcome.errorText.contains(message))
    #expect(!outcome.errorText.contains(typed))
    let path = try kept(outcome.errorText)
    defer { try? FileManager.default.removeItem(atPath: URL(filePath: path).deletingLastPathComponent().path) }
    _ = try edit("true")
    let file = try Data(contentsOf: URL(filePath: path))
    #expect(file.starts(with: typed.utf8))
    let modes = try Tool.shell("stat -c %a \(path) $(dirname \(path))", in: home).text
    #expect(modes == "600\n700\n")
  }

  @Test(arguments: [("json", "1", "1,\"injected\":true"), ("url", "https://a.example", "no url")])
  func `text that is not of the kind of the value is kept and not saved`(
    _ kind: String, _ before: String, _ text: String
  ) throws {
    let made = try Tool.shell("printf %s '\(before)' | secretprefs set a --kind \(kind) --key-file k", in: home)
    #expect(made.exit == 0, "\(made.errorText)")
    let outcome = try edit("printf %s '\(text)' > \"$1\"")
    #expect(outcome.exit == 1)
    #expect(outcome.errorText.contains("the edited value is not of the kind \(kind); nothing was changed"))
    let path = try kept(outcome.errorText)
    let folder = URL(filePath: path).deletingLastPathComponent().path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(outcome.errorText.contains("remove it: rm -r \(folder)\n"))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    #expect(try value == before)
  }

  @Test(arguments: ["ln -sf value.new \"$1\"", "rm \"$1\"", "kill -KILL $$", ": > \"$1\"; kill -KILL $$"])
  func `what an editor has left beside the file is kept`(_ end: String) throws {
    let outcome = try edit("printf %s \(typed) > \"$1.new\"; \(end)")
    #expect(outcome.exit != 0)
    let folder = try kept(outcome.errorText)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(try String(contentsOfFile: folder + "/value.new", encoding: .utf8) == typed)
  }

  @Test func `what a killed editor has left beside an unchanged file is kept also if that is saved`() throws {
    try home.writeProgram("#!/bin/sh\nprintf %s \(typed) > \"$1.new\"\nkill -KILL $$\n", to: "editor")
    let terminal = try PseudoTerminal()
    let running = try Running(
      ["/bin/sh", "-c", "exec secretprefs edit a --value --key-file k"], in: home, input: terminal.path,
      environment: ["EDITOR": "./editor"])
    try terminal.wait(for: "[edit/save/keep] ")
    terminal.type("save\r")
    let outcome = try running.wait(atMost: .seconds(600))
    #expect(outcome.exit == 0)
    let folder = try kept(outcome.errorText)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(try String(contentsOfFile: folder + "/value.new", encoding: .utf8) == typed)
  }

  @Test func `the mode of an editor that was killed does not stay`() throws {
    try home.writeProgram(
      "#!/bin/sh\nprintf \(typed) > \"$1\"\nstty raw -echo </dev/tty\nkill -KILL $$\n", to: "editor")
    let terminal = try PseudoTerminal()
    let mode = terminal.mode
    let running = try Running(
      ["/bin/sh", "-c", "exec secretprefs edit a --value --yes --key-file k"], in: home, input: terminal.path,
      environment: ["EDITOR": "./editor"])
    try terminal.wait(for: "[edit/save/keep] ")
    terminal.type("save\r")
    #expect(try running.wait(atMost: .seconds(600)).exit == 0)
    #expect(try value == typed)
    #expect(terminal.mode == mode)
  }

  @Test func `doctor names on a terminal what is kept`() throws {
    let path = try kept(try edit("printf '\\377' > \"$1\"").errorText)
    let folder = URL(filePath: path).deletingLastPathComponent().path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let terminal = try PseudoTerminal()
    let running = try Running(
      ["/bin/sh", "-c", "secretprefs doctor --key-file k > /dev/tty 2>&1"], in: home, input: terminal.path)
    try terminal.wait(for: "remove it: rm -r \(folder)")
    _ = try running.wait()
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test func `what a program has issued for a rotation is kept if it cannot be stored`() throws {
    try home.writeProgram("#!/bin/sh\nsecretprefs remove a --key-file k\nprintf %s \(typed)\n", to: "issue")
    let outcome = try Tool.shell(
      "unset XDG_RUNTIME_DIR; secretprefs rotate-value a --key-file k -- ./issue", in: home)
    #expect(outcome.exit != 0 && !outcome.errorText.contains(typed))
    let path = try kept(outcome.errorText)
    defer { try? FileManager.default.removeItem(atPath: URL(filePath: path).deletingLastPathComponent().path) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == typed)
    #expect(outcome.errorText.contains("hint: \"secretprefs set --file \(path) a\" stores the new value; the same"))
    let stored = try Tool.shell("secretprefs set --file \(path) a --key-file k", in: home)
    #expect(stored.exit == 0, "\(stored.errorText)")
    #expect(try value == typed)
  }

  @Test func `the hint of a kept value stores it as a rotation, which can be undone`() throws {
    let old = try value
    try home.writeProgram(
      "#!/bin/sh\nln .local/share/secretprefs/default.spv link\nprintf %s \(typed)\n", to: "issue")
    let outcome = try Tool.shell(
      "unset XDG_RUNTIME_DIR; secretprefs rotate-value a --key-file k -- ./issue", in: home)
    #expect(outcome.exit != 0)
    let path = try kept(outcome.errorText)
    defer { try? FileManager.default.removeItem(atPath: URL(filePath: path).deletingLastPathComponent().path) }
    let command = "secretprefs rotate-value a -- cat \(path)"
    #expect(outcome.errorText.contains("hint: \"\(command)\" stores the new value; the same"), "\(outcome.errorText)")
    let stored = try Tool.shell("rm link; SECRETPREFS_KEY_FILE=k \(command)", in: home)
    #expect(stored.exit == 0, "\(stored.errorText)")
    #expect(try value == typed)
    let reverted = try Tool.shell("secretprefs rotate-value a --key-file k --revert", in: home)
    #expect(reverted.exit == 0, "\(reverted.errorText)")
    #expect(try value == old)
  }

  @Test(arguments: [
    ("ln $vault link", "hard links"),
    ("secretprefs audit on --key-file k; log=$(echo $vault.audit-*); rm $log; mkdir $log", "audit log"),
    ("flock $vault sleep 600 & echo $! > lock; sleep 0.5", "writer lock"),
  ])
  func `no program makes a value for a rotation that cannot be stored`(_ failure: String, _ message: String) throws {
    try home.writeProgram("#!/bin/sh\ntouch started\nprintf %s \(typed)\n", to: "issue")
    let outcome = try Tool.shell(
      """
      vault=.local/share/secretprefs/default.spv
      \(failure)
      secretprefs rotate-value a --key-file k --lock-timeout 0 -- ./issue; code=$?
      [ ! -e lock ] || kill $(cat lock)
      exit $code
      """, in: home)
    #expect(outcome.exit != 0)
    #expect(outcome.errorText.contains(message), "\(outcome.errorText)")
    #expect(!FileManager.default.fileExists(atPath: home.file("started")))
  }

  @Test(arguments: [SIGHUP, SIGINT, SIGTERM], [true, false])
  func `a signal while the vault is locked ends the command once the text is kept`(
    _ signal: Int32, isEdited: Bool
  ) throws {
    let script = Self.lock(sending: signal)
    let outcome: Tool.Outcome
    if isEdited {
      outcome = try edit("printf %s \(typed) > \"$1\"\n\(script)", lockTimeout: 3)
    } else {
      try home.writeProgram(Self.head + "printf %s \(typed)\n\(script)", to: "issue")
      outcome = try Tool.shell(
        "unset XDG_RUNTIME_DIR; exec secretprefs rotate-value a --key-file k --lock-timeout 3 -- ./issue", in: home)
    }
    #expect(outcome.exit == 128 + signal, "\(outcome.errorText)")
    let path = try kept(outcome.errorText)
    defer { try? FileManager.default.removeItem(atPath: URL(filePath: path).deletingLastPathComponent().path) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == typed)
  }

  @Test func `a signal while the text is saved takes effect afterwards`() throws {
    let outcome = try edit(
      """
      printf %s \(typed) > "$1"
      flock .local/share/secretprefs/default.spv sleep 2 & sleep 0.5
      (sleep 0.5; kill -TERM $tool) &
      """, lockTimeout: 60)
    #expect(outcome.exit == 128 + SIGTERM, "\(outcome.errorText)")
    #expect(!outcome.errorText.contains("kept"))
    #expect(try value == typed)
  }

  @Test(arguments: [
    ("one", "abc\\r\\n", "abc"), ("one", "abc\\n", "abc"), ("one", "abc\\r", "abc\r"),
    ("one", "abc\\n\\n", "abc\n"), ("one\r", "abc\\r\\n", "abc\r"), ("a\r\nb", "a\\r\\nc\\r\\n", "a\r\nc"),
    ("one\n", "abc\\r\\n", "abc\r\n"),
  ])
  func `the line end that an editor adds is no part of the value, in any form`(
    _ old: String, _ written: String, _ new: String
  ) throws {
    try home.write(old, to: "old")
    let stored = try Tool.shell("secretprefs set a --exact --file old --key-file k", in: home)
    try #require(stored.exit == 0, "\(stored.errorText)")
    let outcome = try edit("printf '\(written)' > \"$1\"")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(try Tool.shell("secretprefs get a --key-file k > out", in: home).exit == 0)
    #expect(try Data(contentsOf: URL(filePath: home.file("out"))) == Data(new.utf8))
  }

  @Test(arguments: ["exit 3", ": > \"$1\"; exit 0"])
  func `what the user gave up is not kept`(_ end: String) throws {
    let outcome = try edit("printf %s \(typed) > \"$1\"; \(end)")
    #expect(outcome.exit != 0)
    #expect(!outcome.errorText.contains("kept"))
    #expect(try Tool.shell("grep -rls \(typed) /dev/shm/secretprefs-* || true", in: home).text.isEmpty)
  }

  @Test(arguments: ["save", "edit", "keep"])
  func `on a terminal the user chooses what happens to what cannot be saved`(_ answer: String) throws {
    try home.writeProgram(
      """
      #!/bin/sh
      [ -e other ] || printf other | secretprefs set a --key-file k
      [ ! -e other ] || printf again > "$1"
      [ -e other ] || printf \(typed) > "$1"
      touch other
      """, to: "editor")
    let terminal = try PseudoTerminal()
    let running = try Running(
      ["/bin/sh", "-c", "exec secretprefs edit a --value --yes --key-file k"], in: home, input: terminal.path,
      environment: ["EDITOR": "./editor"])
    try terminal.wait(for: "[edit/save/keep] ")
    terminal.look()
    #expect(terminal.shown.contains("another process has changed the key"))
    terminal.type("what\n")
    try terminal.wait(for: "Type edit, save or keep: [edit/save/keep] ")
    terminal.type(answer + "\n")
    let outcome = try running.wait(atMost: .seconds(600))
    #expect(try value == ["save": typed, "edit": "again"][answer] ?? "other")
    #expect((outcome.exit == 0) == (answer != "keep"), "\(outcome.errorText)")
    guard answer == "keep" else { return }
    let path = try kept(outcome.errorText)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == typed)
    try FileManager.default.removeItem(atPath: URL(filePath: path).deletingLastPathComponent().path)
  }

  @Test func `a value typed at the prompt is saved once the lock is free`() throws {
    let terminal = try PseudoTerminal()
    let vault = home.file(".local/share/secretprefs/default.spv")
    let lock = open(vault, O_RDWR | O_CLOEXEC)
    try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
    let running = try Running(
      ["/bin/sh", "-c", "exec secretprefs set b --key-file k --lock-timeout 0"], in: home, input: terminal.path)
    try terminal.wait(for: "Value: ")
    try terminal.wait(forEcho: false)
    terminal.type(typed + "\n")
    try terminal.wait(for: "Try again with what you typed? [yes/no] ")
    // A program that another test starts at this moment may have the descriptor, too.
    #expect(flock(lock, LOCK_UN) == 0)
    close(lock)
    terminal.type("yes\n")
    #expect(try running.wait().exit == 0)
    #expect(try Tool.run(["get", "b", "--key-file", "k"], in: home).text == typed)
    terminal.look()
    #expect(!terminal.shown.contains(typed))
  }

  // MARK: Copies

  @Test(
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/vim")),
    arguments: ["vi", "vim", "vim -c 'set textwidth=70'", "env A=1 /usr/bin/vim", "link", "vim -u rc"])
  func `vi and vim write no copy of the value, whatever their configuration says`(_ editor: String) throws {
    for folder in ["undo", "backup", "swap"] {
      try FileManager.default.createDirectory(atPath: home.file(folder), withIntermediateDirectories: false)
    }
    let rc = """
      set undofile undodir=\(home.path)/undo backup writebackup backupdir=\(home.path)/backup patchmode=.orig
      set swapfile updatecount=1 directory=\(home.path)/swap viminfo='100 viminfofile=\(home.path)/info
      """
    try home.write(rc, to: ".vimrc")
    try home.write(rc, to: "rc")
    try FileManager.default.createSymbolicLink(atPath: home.file("link"), withDestinationPath: "/usr/bin/vim")
    let terminal = try PseudoTerminal()
    let program = editor == "link" ? home.file("link") : editor
    let running = try Running(
      ["/bin/sh", "-c", "exec secretprefs edit a --value --yes --key-file k >/dev/tty 2>&1"], in: home,
      input: terminal.path, environment: ["TERM": "xterm", "EDITOR": program + " -c 's/one/\(typed)/' -c wq"])
    #expect(try running.wait(atMost: .seconds(60)).exit == 0)
    #expect(try value == typed)
    let found = try Tool.shell(
      "find . -type f -newer rc ! -name '*.spv' ! -name '.errors-*' ! -name '.output-*'; ls undo backup swap", in: home
    ).text
    #expect(found == "backup:\n\nswap:\n\nundo:\n", "\(found)")
  }
}
