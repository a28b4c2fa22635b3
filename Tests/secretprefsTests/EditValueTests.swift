import Foundation
import Testing

/// `edit --value` with scripts for an editor, and on a terminal.
struct EditValueTests {
  static let inMemory = FileManager.default.isWritableFile(atPath: "/dev/shm")
  static let mayMount =
    inMemory && (try? Tool.shell("unshare -m mount --bind /var/tmp /dev/shm", in: Scratch()))?.exit == 0

  /// A vault with the key `a`.
  private static func prepared(
    _ value: String = "one\ntwo", in folder: String = NSTemporaryDirectory()
  ) throws -> Scratch {
    let home = try Scratch(in: folder)
    try home.write(value, to: "value")
    let made = try Tool.shell(
      "secretprefs init --key-file k && secretprefs set a --exact --label x --history 1 --key-file k < value", in: home)
    try #require(made.exit == 0, "\(made.errorText)")
    return home
  }

  /// Edits with a script that gets the file's path as `$1`, and the process of the tool as `$tool`.
  private static func edit(
    _ script: String, _ options: String = "--yes", before: String = "", in home: Scratch
  ) throws -> Tool.Outcome {
    try home.writeProgram("#!/bin/sh\nread pid name state tool rest </proc/$PPID/stat\n" + script, to: "editor")
    return try Tool.shell(
      "unset XDG_RUNTIME_DIR; export VISUAL=./editor; \(before)\n"
        + "secretprefs edit a --value --key-file k \(options)", in: home)
  }

  private static func value(_ home: Scratch) throws -> String {
    try Tool.run(["get", "a", "--key-file", "k"], in: home).text
  }

  /// The directories of editors whose files have `text`.
  private static func left(_ text: String) throws -> String {
    try Tool.shell("grep -rls -- '\(text)' /dev/shm/secretprefs-files-* || true", in: Scratch()).text
  }

  @Test(
    .enabled(if: inMemory),
    arguments: [
      ("printf 'one\\nthree\\n' > \"$1\"", "one\ntwo", "one\nthree"),
      ("printf 'one\\nthree\\n' > \"$1\"", "one\ntwo\n", "one\nthree\n"),
      ("printf x > \"$1.new\"; mv \"$1.new\" \"$1\"", "one", "x"), ("sed -i s/one/two/ \"$1\"", "one", "two"),
    ])
  func `what the editor saves becomes the value`(_ script: String, _ before: String, _ after: String) throws {
    let home = try Self.prepared(before)
    let outcome = try Self.edit(script, in: home)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.output.isEmpty)
    #expect(try Self.value(home) == after)
    let info = try Tool.run(["info", "a", "--key-file", "k"], in: home).text
    #expect(info.contains("label       x"))
    #expect(info.contains("earlier "))
  }

  @Test(.enabled(if: inMemory), arguments: ["", "touch \"$1\"", "echo >> \"$1\"", "cp \"$1\" x; mv x \"$1\""])
  func `an unchanged value is not written`(_ script: String) throws {
    let home = try Self.prepared()
    let before = try Tool.shell("cksum .local/share/secretprefs/default.spv", in: home).text
    let outcome = try Self.edit(script, "--json", in: home)
    // Without a terminal for the question, the command does not start the editor.
    #expect(outcome.exit == 64)
    let again = try Self.edit(script, "--yes --json", in: home)
    #expect(again.exit == 0, "\(again.errorText)")
    #expect(again.text.contains(#""key":"a","changed":false,"bytesBefore":7,"bytes":7}"#))
    #expect(try Tool.shell("cksum .local/share/secretprefs/default.spv", in: home).text == before)
  }

  @Test(.enabled(if: inMemory)) func `the file is in memory, in a directory of its own, and no one else's`() throws {
    let home = try Self.prepared()
    let outcome = try Self.edit(
      """
      stat -c '%a %F' "$1" "${1%/*}" > seen
      stat -f -c %T "$1" >> seen
      env | grep -c SECRETPREFS_ >> seen
      umask >> seen
      echo "${1%/*}" > folder
      echo backup > "$1~"; mkdir "${1%/*}/undo"; echo undo > "${1%/*}/undo/.value.un~"
      """, before: "export SECRETPREFS_SERVICE=default;", in: home)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    let seen = try String(contentsOfFile: home.file("seen"), encoding: .utf8)
    #expect(seen == "600 regular file\n700 directory\ntmpfs\n0\n0077\n")
    let folder = try String(contentsOfFile: home.file("folder"), encoding: .utf8).dropLast()
    #expect(folder.hasPrefix("/dev/shm/secretprefs-files-"))
    #expect(!FileManager.default.fileExists(atPath: String(folder)))
  }

  @Test(
    .enabled(if: inMemory),
    arguments: [
      ("echo new > \"$1\"; exit 3", 1, "the editor ended with status 3; nothing was changed"),
      ("echo new > \"$1\"; kill -KILL $$", 1, "the editor ended with signal 9; nothing was changed"),
      (": > \"$1\"", 64, "the edited value is empty; nothing was changed"),
      ("printf 'CANARY\\377' > \"$1\"", 1, "the edited value is not valid; nothing was changed"),
      ("rm \"$1\"", 74, "\"a\": open the edited file: No such file or directory; nothing was changed"),
      (
        "rm \"$1\"; ln -s /etc/passwd \"$1\"", 74,
        "\"a\": open the edited file: Too many levels of symbolic links; nothing was changed"
      ),
      ("rm \"$1\"; mkfifo \"$1\"", 74, "\"a\": the edited file is not a regular file; nothing was changed"),
      (
        "printf other | secretprefs set a --key-file k; echo new > \"$1\"", 1,
        "another process has changed the key; the edited value was not saved"
      ),
    ] as [(String, Int32, String)])
  func `nothing is saved when the editor fails or the value cannot be stored`(
    _ script: String, _ exit: Int32, _ message: String
  ) throws {
    let value = "CANARY-\(UUID())"
    let home = try Self.prepared(value)
    let outcome = try Self.edit(script, in: home)
    #expect(outcome.exit == exit)
    #expect(outcome.errorText.contains("secretprefs: error: \(message)\n"), "\(outcome.errorText)")
    #expect(!outcome.errorText.contains("CANARY"))
    if let kept = outcome.errorText.firstMatch(of: /kept in memory, in (\S+)\/value;/)?.1 {
      try FileManager.default.removeItem(atPath: String(kept))
    }
    #expect(try Self.value(home) == (script.contains("other") ? "other" : value))
    #expect(try Self.left(value).isEmpty)
  }

  @Test(.enabled(if: mayMount)) func `without a file system in memory the editor is not started`() throws {
    let home = try Self.prepared(in: Scratch.disk)
    try home.write(
      "mount --bind /var/tmp /dev/shm && XDG_RUNTIME_DIR=/var/tmp exec secretprefs edit a --value --yes --key-file k",
      to: "script")
    let outcome = try Tool.shell("EDITOR='touch started' unshare -m sh script", in: home)
    #expect(outcome.exit == 74)
    #expect(outcome.errorText.contains("there is no directory in memory for the editor\n"))
    #expect(!FileManager.default.fileExists(atPath: home.file("started")))
  }

  @Test(.enabled(if: mayMount)) func `without a file system in memory no program makes a new value`() throws {
    let home = try Self.prepared(in: Scratch.disk)
    let command = "secretprefs rotate-value a --key-file k -- touch s"
    try home.write("mount --bind /var/tmp /dev/shm && XDG_RUNTIME_DIR=/var/tmp exec \(command)", to: "script")
    let outcome = try Tool.shell("unshare -m sh script", in: home)
    #expect(outcome.exit == 74)
    #expect(outcome.errorText.contains("there is no directory in memory for the new value\n"))
    #expect(!FileManager.default.fileExists(atPath: home.file("s")))
  }

  @Test(.enabled(if: inMemory), arguments: [SIGTERM, SIGHUP, SIGUSR1])
  func `a signal ends the editor, removes the file, and then ends the command`(_ signal: Int32) throws {
    let home = try Self.prepared("signal-\(signal)-\(UUID())")
    let outcome = try Self.edit(
      "kill -\(signal) $tool; exec sleep 600", in: home)
    #expect(outcome.exit == 128 + signal)
    #expect(try Self.left(try Self.value(home)).isEmpty)
  }

  @Test(.enabled(if: inMemory)) func `what a killed command has left is removed by the next one`() throws {
    let value = "killed-\(UUID())"
    let home = try Self.prepared(value)
    // Any user can make these, which are not directories, and are listed before and after that of the killed command.
    let others = (0..<2).map { _ in "/dev/shm/secretprefs-files-\(getuid())-\(UUID())" }
    defer { for other in others { unlink(other) } }
    #expect(FileManager.default.createFile(atPath: others[0], contents: nil))
    let outcome = try Self.edit("grep -c killed \"$1\" > left; kill -KILL $tool; kill -KILL $$", in: home)
    #expect(outcome.exit == 137)
    #expect(FileManager.default.createFile(atPath: others[1], contents: nil))
    // Seen by the editor, because the commands of tests that run at the same time remove it, too.
    #expect(try String(contentsOfFile: home.file("left"), encoding: .utf8) == "1\n")
    // One whose command is running stays.
    let nested = try Self.edit(
      "[ -e nested ] && exit; touch nested; secretprefs edit a --value --yes --key-file k || exit; "
        + "grep -c killed \"$1\" > kept",
      in: home)
    #expect(nested.exit == 0, "\(nested.errorText)")
    #expect(try String(contentsOfFile: home.file("kept"), encoding: .utf8) == "1\n")
    // The command of another test may have the lock, and remove it at this moment.
    let end = ContinuousClock.now + .seconds(60)
    while try !Self.left(value).isEmpty, ContinuousClock.now < end { usleep(10_000) }
    #expect(try Self.left(value).isEmpty)
  }

  @Test(.enabled(if: inMemory)) func `a folder of a user stays, whatever its name is`() throws {
    let home = try Self.prepared()
    let own = "/dev/shm/secretprefs-files-\(getuid())"
    let unique = UUID().uuidString
    // The last three have the forms that mkdtemp and the tool give a name, and the inode of no such folder.
    let folders = [
      "\(own)-my-notes-\(unique)", "\(own)-\(unique)", "\(own)-\(unique.prefix(6))",
      "\(own)-\(unique.prefix(6))-1", "\(own)-\(unique.prefix(6))-\(String(UInt64.max, radix: 16))",
    ]
    defer { for folder in folders { try? FileManager.default.removeItem(atPath: folder) } }
    for folder in folders {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      #expect(FileManager.default.createFile(atPath: folder + "/note", contents: Data("mine".utf8)))
    }

    for line in ["lock", "doctor --key-file k", "run --key-file k --file A=a -- true"] {
      _ = try Tool.shell("secretprefs \(line)", in: home)
    }
    #expect(try Self.edit("true", in: home).exit == 0)
    for folder in folders { #expect(try String(contentsOfFile: folder + "/note", encoding: .utf8) == "mine") }
  }

  @Test(.enabled(if: inMemory)) func `a copy of what a killed command has left stays`() throws {
    let home = try Self.prepared("killed-\(UUID())")
    let copy = "/dev/shm/secretprefs-files-copy-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: copy) }
    let outcome = try Self.edit(
      "cp -rp \"${1%/*}\" \(copy); echo \"${1%/*}\" >folder; kill -KILL $tool; kill -KILL $$", in: home)
    #expect(outcome.exit == 137)
    let folder = String(try String(contentsOfFile: home.file("folder"), encoding: .utf8).dropLast())
    // The editor may need a moment to end.
    for _ in 0..<100 where FileManager.default.fileExists(atPath: folder) { _ = try Tool.run(["lock"], in: home) }
    // Under the name of the original, which is gone.
    try FileManager.default.moveItem(atPath: copy, toPath: folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    _ = try Tool.run(["lock"], in: home)
    #expect(FileManager.default.fileExists(atPath: folder + "/value"))
  }

  @Test(.enabled(if: inMemory)) func `commands that start at the same time remove nothing of each other`() throws {
    let home = try Self.prepared("many-\(UUID())")
    let outcome = try Tool.shell(
      """
      for n in $(seq 40); do EDITOR=true secretprefs edit a --value --yes --key-file k 2>&1 & done | grep -c directory
      true
      """, in: home)
    #expect(outcome.text == "0\n")
  }

  @Test(.enabled(if: inMemory), arguments: [("yes\n", 0, "three"), ("no\n", 1, "one"), ("ye\u{3}", 130, "one")])
  func `the change is shown as lengths, and saved after a yes alone`(
    _ typed: String, _ exit: Int32, _ value: String
  ) throws {
    let home = try Self.prepared("one")
    let terminal = try PseudoTerminal()
    let running = try Running(
      ["/bin/sh", "-c", "exec secretprefs edit a --value --key-file k"], in: home, input: terminal.path,
      environment: ["EDITOR": "sed -i s/one/three/"])
    try terminal.wait(for: "Change the value of a from 3 bytes to 5 bytes? [yes/no] ")
    terminal.type(typed)
    #expect(try running.wait(atMost: .seconds(600)).exit == exit)
    #expect(try Self.value(home) == value)
    terminal.look()
    #expect(!terminal.shown.contains("three"))
  }

  @Test(.enabled(if: inMemory && (try? Tool.shell("command -v vim", in: Scratch()))?.exit == 0))
  func `what vim writes because of an autocommand is beside the file, and removed`() throws {
    let home = try Self.prepared("one")
    try home.write(
      """
      set undodir=~/left backupdir=~/left directory=~/left
      autocmd BufWritePre * setlocal undofile
      autocmd VimEnter * nested set undofile backup writebackup | %s/one/three/ | wq

      """, to: ".vimrc")
    let outcome = try Tool.shell(
      "mkdir left; EDITOR=vim secretprefs edit a --value --yes --key-file k > screen; ls -A left", in: home)
    #expect(outcome.text.isEmpty)
    #expect(try Self.value(home) == "three", "\(outcome.errorText)")
  }

  @Test(.enabled(if: inMemory)) func `Ctrl-C belongs to the editor`() throws {
    let home = try Self.prepared("one")
    let terminal = try PseudoTerminal()
    try home.write(
      "trap 'printf three > \"$1\"; exit 0' INT\necho ready > /dev/tty\nwhile :; do read line < /dev/tty; done\n",
      to: "script")
    let running = try Running(
      ["/bin/sh", "-c", "exec secretprefs edit a --value --yes --key-file k"], in: home, input: terminal.path,
      environment: ["EDITOR": "sh script"])
    try terminal.wait(for: "ready")
    terminal.type("\u{3}")
    #expect(try running.wait(atMost: .seconds(600)).exit == 0)
    #expect(try Self.value(home) == "three")
  }

  @Test(.enabled(if: inMemory)) func `Ctrl-Z stops the editor and the command, and the shell continues both`() throws {
    let home = try Self.prepared("one")
    let terminal = try PseudoTerminal()
    // The path and the number of lines are on one line.
    terminal.resize(rows: 24, columns: 200)
    let running = try Running(
      ["/bin/sh", "-c", "exec env PS1='prompt> ' bash --norc -i >/dev/tty 2>&1"], in: home, input: terminal.path,
      environment: ["TERM": "xterm", "EDITOR": "vi -u NONE"])
    try terminal.wait(for: "prompt> ")
    terminal.type("secretprefs edit a --value --yes --key-file k\r")
    try terminal.wait(for: "1 line")
    terminal.type("\u{1A}")
    try terminal.wait(for: "Stopped")
    terminal.type("fg\r")
    try terminal.wait(for: "one", times: 2)
    terminal.type(":s/one/three/\r:wq\r")
    try terminal.wait(for: "prompt> ", times: 3)
    terminal.type("exit 9\r")
    #expect(try running.wait().exit == 9)
    #expect(try Self.value(home) == "three")
  }
}
