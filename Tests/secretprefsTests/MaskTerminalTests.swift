import Foundation
import Testing

@testable import secretprefs

/// `run --mask` on a terminal.
struct MaskTerminalTests {
  private struct Scene {
    let home: Scratch
    let terminal: PseudoTerminal

    init() throws {
      (home, terminal) = (try RunTests.prepared(), try PseudoTerminal())
      terminal.resize(rows: 24, columns: 80)
      try home.write("one\nuser:CANARY-7f3a:end\nlast\n", to: "text")
    }

    /// Runs a shell line on the terminal, in which `masked` runs a command.
    func start(_ line: String) throws -> Running {
      try Running(
        [
          "/bin/sh", "-mc",
          "masked() { exec secretprefs run --mask --key-file k -- \"$@\"; }; exec >/dev/tty 2>&1; \(line)",
        ],
        in: home, input: terminal.path, environment: ["TERM": "xterm"])
    }

    /// Types `keys` when `text` is shown, in the order of the list.
    func type(_ keys: (after: String, keys: String)...) throws {
      var times: [String: Int] = [:]
      for (text, keys) in keys {
        times[text, default: 0] += 1
        try terminal.wait(for: text, times: times[text]!)
        terminal.type(keys)
      }
    }
  }

  @Test func `a pager and an editor work, and the recorded session shows the value in no form`() throws {
    let scene = try Scene()
    let before = scene.terminal.mode
    try scene.home.write(
      """
      echo $TOKEN; stty size; tty
      printf %s $TOKEN | base64; printf x%s $TOKEN | base64; printf xy%s $TOKEN | base64
      printf %s $TOKEN | od -An -tx1 | tr -d ' '; printf '\\033[1m%s\\033[0m%s\\n' CANA RY-7f3a
      less text; vi -u NONE text
      printf 'Name: C'; read name; echo "got $name"; echo done
      """, to: "script")
    let running = try scene.start("masked sh script")
    try scene.type(("(END)", "q"), ("3 lines", ":q\r"), ("Name: C", "bob\r"), ("done", ""))
    #expect(try running.wait().exit == 0)
    let shown = scene.terminal.shown
    #expect(shown.contains("24 80\r\n/dev/pts/"))
    #expect(shown.components(separatedBy: "user:***********:end").count >= 3)
    #expect(shown.contains("got bob"))
    for form in ["CANARY", "7f3a", "Q0FOQVJZL", "NBTkFSWS0", "DQU5BUlkt", "43414e415259"] {
      #expect(!shown.contains(form))
    }
    #expect(scene.terminal.mode == before)
  }

  @Test func `statuses and signals arrive, each of 100 times`() throws {
    let scene = try Scene()
    let running = try scene.start(
      """
      tries=0
      while [ $tries -lt 50 ]; do
        (masked sh -c "exit $tries"); [ $? = $tries ] || exit 1
        (masked sh -c 'kill -KILL $$'); [ $? = 137 ] || exit 2
        tries=$((tries + 1))
      done
      echo all done
      """)
    try scene.type(("all done", ""))
    #expect(try running.wait().exit == 0)
  }

  @Test(arguments: [("\u{3}", SIGINT), ("\u{1C}", SIGQUIT)])
  func `a key that ends a command ends it and the tool, and the terminal is restored`(
    _ key: String, _ signal: Int32
  ) throws {
    let scene = try Scene()
    let before = scene.terminal.mode
    // Not a child of the shell: dash forgets a Ctrl-C that arrives while it starts one, with and without this tool.
    let running = try scene.start("masked sh -c 'echo ready; exec sleep 600'")
    try scene.type(("ready", key))
    #expect(try running.wait().exit == 128 + signal)
    #expect(scene.terminal.mode == before)
  }

  @Test func `a key that ends a command ends the script that it is part of`() throws {
    let scene = try Scene()
    let running = try Running(
      [
        "/bin/bash", "-c",
        """
        exec >/dev/tty 2>&1
        for turn in 1 2; do secretprefs run --mask --key-file k -- sh -c 'echo ready; exec sleep 600'; echo went on; done
        """,
      ], in: scene.home, input: scene.terminal.path, environment: ["TERM": "xterm"])
    try scene.type(("ready", "\u{3}"))
    #expect(try running.wait().exit == 128 + SIGINT)
    #expect(!scene.terminal.shown.contains("went on"))
  }

  @Test(arguments: [SIGHUP, SIGQUIT, SIGABRT, SIGUSR1])
  func `a signal to the tool reaches the command, and the terminal is restored`(_ signal: Int32) throws {
    let scene = try Scene()
    let before = scene.terminal.mode
    let running = try scene.start(
      "masked sh -c 'trap \"echo got; exit 7\" \(signal); echo ready; while :; do sleep 0.1; done'")
    try scene.type(("ready", ""))
    kill(running.process, signal)
    #expect(try running.wait().exit == 7)
    #expect(scene.terminal.mode == before)
  }

  @Test func `a stopped editor gives the shell its terminal, and continues`() throws {
    let scene = try Scene()
    let running = try Running(
      ["/bin/sh", "-c", "exec env PS1='prompt> ' bash --norc -i >/dev/tty 2>&1"], in: scene.home,
      input: scene.terminal.path, environment: ["TERM": "xterm"])
    try scene.type(
      ("prompt> ", "secretprefs run --mask --key-file k -- vi -u NONE text\r"), ("last", "\u{1A}"),
      ("Stopped", "stty -a | grep -c ' -icanon'; fg\r"))
    try scene.terminal.wait(for: "last", times: 2)
    scene.terminal.type(":q\r")
    try scene.type(("prompt> ", ""))
    try scene.terminal.wait(for: "prompt> ", times: 3)
    scene.terminal.type("exit 9\r")
    #expect(try running.wait().exit == 9)
    #expect(!scene.terminal.shown.contains("CANARY"))
  }

  @Test func `a command that began in the background gets the terminal's mode when it comes to the front`() throws {
    let scene = try Scene()
    try scene.home.write(
      "touch begun; until stty -a | grep -q ' icanon'; do sleep 0.02; done; echo ready; read x; echo got $x",
      to: "script")
    // A shell that reads a line has a mode of its own.
    let running = try scene.start(
      "stty raw -echo; masked sh script & until [ -e begun ]; do sleep 0.02; done; stty sane; fg")
    try scene.type(("ready", "bob\r"), ("got bob", ""))
    #expect(try running.wait().exit == 0)
  }

  @Test(arguments: ["", "true | "]) func `a new size reaches the command`(_ input: String) throws {
    let scene = try Scene()
    let running = try scene.start(
      "\(input)masked sh -c 'trap \"stty size <&2 | grep 33 && exit\" WINCH; echo ready; while :; do sleep 0.1; done'")
    try scene.type(("ready", ""))
    scene.terminal.resize(rows: 33, columns: 99)
    try scene.terminal.wait(for: "33 99")
    #expect(try running.wait().exit == 0)
  }

  @Test func `when the tool is killed, the command's terminal hangs up`() throws {
    let scene = try Scene()
    try scene.home.write("trap 'echo hup >got; exit' HUP; echo ready; while :; do sleep 0.1; done", to: "script")
    let running = try scene.start("masked sh script")
    try scene.type(("ready", ""))
    kill(running.process, SIGKILL)
    _ = try running.wait()
    let ended = try Tool.shell("until [ -s got ]; do sleep 0.05; done; cat got", in: scene.home)
    #expect(ended.text == "hup\n")
  }

  @Test func `a redirected standard error goes to its file, masked`() throws {
    let scene = try Scene()
    let running = try scene.start("masked sh -c 'test -t 1 && ! test -t 2 && echo $TOKEN >&2' 2>errors")
    #expect(try running.wait().exit == 0)
    let errors = try String(contentsOf: URL(filePath: scene.home.file("errors")), encoding: .utf8)
    #expect(errors == "***********\n")
  }

  @Test func `a command that reads a pipe asks for a password on the terminal`() throws {
    let scene = try Scene()
    let before = scene.terminal.mode
    try scene.home.write(
      """
      cat; stty -echo </dev/tty; printf 'Password: '; read -r word </dev/tty; stty echo </dev/tty
      echo "got ${#word} $TOKEN"
      """, to: "script")
    let running = try scene.start("echo row | masked sh script")
    try scene.type(("Password: ", "hunter2\r"), ("got 7 ***********", ""))
    #expect(try running.wait().exit == 0)
    #expect(!scene.terminal.shown.contains("hunter2"))
    #expect(scene.terminal.mode == before)
  }

  @Test func `a pager that reads a pipe gets keys, and its output is masked`() throws {
    let scene = try Scene()
    let before = scene.terminal.mode
    let running = try scene.start("cat text | masked less")
    try scene.type(("(END)", "q"))
    #expect(try running.wait().exit == 0)
    #expect(scene.terminal.shown.contains("user:***********:end"))
    #expect(!scene.terminal.shown.contains("CANARY"))
    #expect(scene.terminal.mode == before)
  }

  @Test func `a pager behind the tool gets the keys, and the terminal keeps the mode that it leaves`() throws {
    let scene = try Scene()
    let before = scene.terminal.mode
    let running = try scene.start(
      "masked sh -c 'seq 300; until [ -e left ]; do sleep 0.02; done' | (less; touch left)")
    try scene.type(("\r\n:", "q"))
    #expect(try running.wait().exit == 0)
    #expect(scene.terminal.mode == before)
  }

  @Test func `what a filter behind the tool writes meanwhile begins at the left`() throws {
    let scene = try Scene()
    let running = try scene.start(
      """
      masked sh -c 'echo $TOKEN; until [ -e read ]; do sleep 0.02; done' |
        while read -r line; do echo "$line."; touch read; done
      """)
    #expect(try running.wait().exit == 0)
    scene.terminal.look()
    #expect(scene.terminal.shown.contains("***********.\r\n"))
  }

  @Test(arguments: ["--mask -- less <text", "--file FILE=token -- less text"])
  func `a stopped pager that shares the terminal gives it to the shell, and continues`(_ command: String) throws {
    let scene = try Scene()
    let running = try Running(
      ["/bin/sh", "-c", "exec env PS1='prompt> ' bash --norc -i >/dev/tty 2>&1"], in: scene.home,
      input: scene.terminal.path, environment: ["TERM": "xterm"])
    try scene.type(
      ("prompt> ", "secretprefs run --key-file k \(command)\r"), ("(END)", "\u{1A}"), ("Stopped", "fg\r"))
    try scene.terminal.wait(for: "(END)", times: 2)
    scene.terminal.type("q")
    try scene.terminal.wait(for: "prompt> ", times: 3)
    scene.terminal.type("exit 9\r")
    #expect(try running.wait().exit == 9)
  }
}
