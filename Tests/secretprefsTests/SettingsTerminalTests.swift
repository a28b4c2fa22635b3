import Foundation
import Testing

/// The settings screen on a terminal.
struct SettingsTerminalTests {
  private typealias Keys = SettingsScene

  private let leaving = "\u{1B}[?1049l"

  @Test func `keys step, toggle and choose, and each change is stored`() throws {
    let scene = try SettingsScene()
    let running = try scene.start()
    try scene.wait(for: "> Port   < 8080 >")
    try scene.type(Keys.right + "+" + Keys.left + "+", until: "< 8082 >")
    try scene.type(Keys.down + Keys.down + " ", until: "[x]")
    try scene.type(Keys.down + Keys.right, until: "> Level  < warn >")
    #expect(try scene.leave(running).exit == 0)
    let stored = try #require(scene.file)
    #expect(stored.contains(#""port": 8082"#))
    #expect(stored.contains(#""debug": true"#))
    #expect(stored.contains(#""level": "warn""#))
  }

  @Test func `text is edited in place, refused while it is not valid, and reset`() throws {
    let scene = try SettingsScene()
    let running = try scene.start()
    try scene.wait(for: "< 8080 >")
    try scene.type("\r0\r", until: "> Port   80800  ! must be between 1 and 9000")
    #expect(scene.file?.contains("8080,") == true)
    try scene.type("\u{7F}\u{7F}1\r", until: "< 8081 >")
    try scene.type("r", until: "y: yes")
    try scene.type("y", until: "< 80 >")
    #expect(try scene.leave(running).exit == 0)
    #expect(try !#require(scene.file).contains("port"))
  }

  @Test func `of a paste the first line is typed, and nothing is a command`() throws {
    let scene = try SettingsScene()
    let running = try scene.start()
    try scene.type(Keys.down + "\r", until: "enter stores")
    try scene.type("\u{1B}[200~.uk\nry\u{1B}[201~", until: "only the first line of what was pasted is taken")
    try scene.type("\r", until: "q leaves")
    try scene.type("\u{1B}[200~ry\u{1B}[201~" + Keys.up, until: "> Port")
    #expect(try scene.leave(running).exit == 0)
    #expect(scene.file == #"{"port": 8080, "host": "example.org.uk"}"#)
    scene.terminal.look()
    #expect(scene.terminal.shown.matches(of: /\?2004./).map { String($0.output) } == ["?2004h", "?2004l"])
  }

  @Test func `a screen that is begun in the background sets the mode back that it has in the foreground`() throws {
    let scene = try SettingsScene()
    let mode = scene.terminal.mode
    let running = try scene.shell(
      """
      mode=$(stty -g); stty -icrnl -icanon; secretprefs settings shop.json >/dev/tty &
      until grep -q 'State:.T' /proc/$!/status; do sleep 0.1; done
      stty $mode; fg >/dev/null
      """)
    try scene.wait(for: "8080")
    #expect(try scene.leave(running).exit == 0)
    #expect(scene.terminal.mode == mode)
  }

  @Test func `a change by another process appears`() throws {
    let scene = try SettingsScene()
    let running = try scene.start()
    try scene.wait(for: "< 8080 >")
    try scene.write(#"{"port": 443, "host": "example.net"}"#)
    try scene.wait(for: "< 443 >")
    try scene.wait(for: "example.net")
    #expect(try scene.leave(running).exit == 0)
  }

  @Test func `a screen that is lost after a change says that the change is made`() throws {
    let scene = try SettingsScene()
    var screen: PseudoTerminal? = try PseudoTerminal()
    let path = try #require(screen?.path)
    let running = try scene.shell(
      "exec secretprefs settings shop.json --descriptions shop-settings.json >\(path)")
    try screen?.wait(for: "8080 >")
    scene.terminal.type("+")
    try screen?.wait(for: "8081 >")
    screen = nil
    let outcome = try running.wait()
    #expect(outcome.exit == 73)
    #expect(outcome.errorText.contains("secretprefs: error: the change is made, but the output is lost: "))
  }

  @Test(arguments: [
    ("CANARY-7f3a\n", "CANARY-7f3a"), ("\u{1B}[200~CANARY\nsecond\n\u{1B}[201~\n", "CANARY\nsecond\n"),
  ])
  func `a secret is typed or pasted without echo, stored in the vault, and never shown`(
    _ typed: String, _ secret: String
  ) throws {
    let scene = try SettingsScene()
    let made = try Tool.shell("secretprefs init --vault v.spv --key-file k", in: scene.home)
    try #require(made.exit == 0)
    let running = try scene.start("--vault v.spv --key-file k")
    try scene.type("\u{1B}[F", until: "> Token  (not set)")
    scene.terminal.type("\r")
    try scene.terminal.wait(for: "token (empty for no change): ")
    scene.terminal.type(typed)
    try scene.wait(for: "> Token  <redacted>")
    let outcome = try scene.leave(running)
    #expect(outcome.exit == 0)
    #expect(!scene.terminal.shown.contains("CANARY"))
    #expect(!outcome.errorText.contains("CANARY"))
    #expect(scene.file?.contains("CANARY") == false)
    let got = try Tool.run(["get", "token", "--vault", "v.spv", "--key-file", "k"], in: scene.home)
    #expect(got.text == secret)
    let listed = try Tool.shell(
      "secretprefs settings shop.json --descriptions shop-settings.json --vault v.spv --key-file k --json",
      in: scene.home)
    #expect(listed.text.contains(#""secret":true,"set":true"#))
    #expect(!listed.text.contains("CANARY"))
  }

  @Test(arguments: ["--key-file k", "--identity i", "--service s", "--group g", "--passphrase-fd 3"])
  func `the options of a vault are refused without one`(_ option: String) throws {
    let home = try Scratch()
    try home.write(#"{"port": 1}"#, to: "shop.json")
    let outcome = try Tool.shell("secretprefs settings shop.json \(option)", in: home)
    #expect(outcome.exit == 64 && outcome.text.isEmpty)
    #expect(outcome.errorText.contains("the options of a vault need --vault"))
  }

  @Test func `a member whose name no setting can have is listed with the reason`() throws {
    let home = try Scratch()
    try home.write(#"{"": {"x": 1, "y": 2}, "b": 3, "c\u0007": null}"#, to: "shop.json")
    let reason = "a name that is empty or has a control character"
    let listed = try Tool.shell("secretprefs settings shop.json", in: home)
    #expect(listed.text == "b       3\n          ! \(reason)\nc\\u{7}    ! \(reason)\n")
    let json = try Tool.shell("secretprefs settings shop.json --json", in: home)
    #expect(json.text.contains(#"{"name":"","problem":"\#(reason)"},{"name":"c\u0007","problem":"\#(reason)"}]"#))
  }

  @Test func `a password in the file is replaced and never shown`() throws {
    let scene = try SettingsScene(#"{"password": "CANARY-7f3a"}"#)
    let running = try scene.shell("exec secretprefs settings shop.json >/dev/tty")
    try scene.wait(for: "<redacted>")
    scene.terminal.type("\r")
    try scene.terminal.wait(for: "password (empty for no change): ")
    scene.terminal.type("CANARY-new\n")
    try scene.terminal.wait(for: "<redacted>", times: 2)
    #expect(try scene.leave(running).exit == 0)
    #expect(try #require(scene.file).contains("CANARY-new"))
    #expect(!scene.terminal.shown.contains("CANARY"))
  }

  @Test func `a secret without a vault is not stored, and the screen says why`() throws {
    let scene = try SettingsScene()
    let running = try scene.start()
    try scene.type("\u{1B}[F", until: "> Token")
    scene.terminal.type("\r")
    try scene.terminal.wait(for: "no change): ")
    scene.terminal.type("CANARY-7f3a\n")
    try scene.wait(for: "there is no vault for secrets: use --vault")
    #expect(try scene.leave(running).exit == 0)
    #expect(scene.file?.contains("CANARY") == false)
    #expect(!scene.terminal.shown.contains("CANARY"))
  }

  @Test(
    arguments: [("q", 0), ("\u{1B}", 0), ("\u{4}", 0), ("\u{3}", SIGINT), ("", SIGTERM), ("", SIGHUP), ("", SIGUSR1)]
      as [(String, Int32)])
  func `however the screen ends, the terminal is as it was`(_ typed: String, _ signal: Int32) throws {
    let scene = try SettingsScene()
    let mode = scene.terminal.mode
    let running = try scene.start()
    try scene.wait(for: "< 8080 >")
    #expect(scene.terminal.mode != mode)
    if typed.isEmpty { kill(running.process, signal) } else { scene.terminal.type(typed) }
    let outcome = try running.wait(atMost: .seconds(600))
    #expect(outcome.exit == (signal == 0 ? 0 : 128 + signal))
    #expect(outcome.errors.isEmpty)
    #expect(scene.terminal.mode == mode)
    scene.terminal.look()
    #expect(scene.terminal.shown.hasSuffix(leaving))
  }

  @Test func `a stopped screen gives the terminal back, and is drawn again when it continues`() throws {
    let scene = try SettingsScene()
    let mode = scene.terminal.mode
    let running = try scene.shell(
      "secretprefs settings shop.json >/dev/tty; echo stopped >/dev/tty; read x; fg >/dev/null; echo over >/dev/tty")
    try scene.wait(for: "8080")
    scene.terminal.type("\u{1A}")
    try scene.terminal.wait(for: leaving)
    try scene.terminal.wait(for: "stopped")
    #expect(scene.terminal.mode == mode)
    scene.terminal.type("\n")
    try scene.terminal.wait(for: "\u{1B}[?1049h", times: 2)
    try scene.terminal.wait(for: "8080", times: 2)
    scene.terminal.type("q")
    try scene.terminal.wait(for: "over")
    #expect(try running.wait(atMost: .seconds(600)).exit == 0)
    #expect(scene.terminal.mode == mode)
  }

  @Test func `a screen whose terminal was changed while it was stopped is drawn again`() throws {
    let scene = try SettingsScene()
    let mode = scene.terminal.mode
    let running = try scene.start()
    try scene.wait(for: "< 8080 >")
    kill(running.process, SIGSTOP)
    var status: Int32 = 0
    waitpid(running.process, &status, WUNTRACED)
    scene.terminal.setMode(mode)
    kill(running.process, SIGCONT)
    try scene.terminal.wait(for: "\u{1B}[?1049h", times: 2)
    try scene.type("+", until: "< 8081 >")
    #expect(try scene.leave(running).exit == 0)
    #expect(scene.terminal.mode == mode)
  }

  @Test func `a resized terminal is drawn again in its new size`() throws {
    let scene = try SettingsScene()
    scene.terminal.resize(rows: 24, columns: 80)
    let running = try scene.start()
    try scene.wait(for: "\u{1B}[24;1H+/- step  enter edits  r resets  q leaves")
    scene.terminal.resize(rows: 10, columns: 20)
    try scene.wait(for: "\u{1B}[10;1H+/- step  enter edit\u{1B}[K")
    #expect(try scene.leave(running).exit == 0)
  }

  @Test func `control characters in the file do not reach the terminal`() throws {
    let scene = try SettingsScene(#"{"host": "a\u001b]0;evil\u0007\u009b2J", "evil\u202ename": 1}"#)
    let running = try scene.shell("exec secretprefs settings shop.json >/dev/tty")
    try scene.wait(for: #"a\u{1B}]0;evil\u{7}\u{9B}2J"#)
    #expect(try scene.leave(running).exit == 0)
    #expect(!scene.terminal.shown.contains("\u{1B}]"))
    #expect(!scene.terminal.shown.contains("\u{202E}"))
  }

  @Test func `a write that fails is shown, and the typed text is kept`() throws {
    let scene = try SettingsScene()
    let before = scene.file
    let running = try scene.start(before: "ulimit -f 0;")
    try scene.type(Keys.down + "\r.uk\r", until: "cannot be written (File too large)")
    try scene.wait(for: "> Host   example.org.uk")
    #expect(try scene.leave(running, afterEscape: true).exit == 0)
    #expect(scene.file == before)
  }

  @Test func `a file that is damaged meanwhile is shown as such, and not replaced`() throws {
    let scene = try SettingsScene()
    let running = try scene.start()
    try scene.wait(for: "< 8080 >")
    try scene.write("{")
    try scene.wait(for: "expected a name")
    try scene.type(Keys.down + Keys.up, until: "+/- step")
    try scene.type("+", until: "expected a name")
    #expect(try scene.leave(running).exit == 0)
    #expect(scene.file == "{")
  }

  @Test func `a missing file shows the defaults and is created by the first change`() throws {
    let scene = try SettingsScene(nil)
    let running = try scene.start()
    try scene.type(Keys.down, until: "> Host   localhost")
    #expect(scene.file == nil)
    try scene.type(Keys.up + "+", until: "< 81 >")
    #expect(scene.file != nil)
    #expect(try scene.leave(running).exit == 0)
  }

  @Test(arguments: ["TERM=dumb", "TERM=", "unset TERM;", "exec </dev/null;"])
  func `without a terminal that can show a screen, the settings are listed`(_ before: String) throws {
    let scene = try SettingsScene()
    let running = try scene.shell("\(before) secretprefs settings shop.json >/dev/tty; echo over >/dev/tty")
    try scene.terminal.wait(for: "over")
    #expect(try running.wait(atMost: .seconds(600)).exit == 0)
    #expect(scene.terminal.shown == "host  example.org\r\nport  8080\r\nover\r\n")
  }
}
