import Foundation

/// A settings file with descriptions, and a terminal.
struct SettingsScene {
  static let descriptions = """
    [{"name": "port", "type": "integer", "title": "Port", "group": "Server", "default": 80, "min": 1, "max": 9000},
    {"name": "host", "type": "string", "title": "Host", "group": "Server", "default": "localhost"},
    {"name": "debug", "type": "bool", "title": "Debug", "group": "Log", "default": false},
    {"name": "level", "type": "string", "title": "Level", "group": "Log", "default": "info",
     "choices": ["info", "warn", "error"]},
    {"name": "token", "secret": true, "title": "Token", "group": "Log"}]
    """

  static let (up, down, right, left) = ("\u{1B}[A", "\u{1B}[B", "\u{1B}[C", "\u{1B}[D")

  let home: Scratch
  let terminal: PseudoTerminal

  /// - Parameter file: The contents of `shop.json`; `nil` for no file.
  init(_ file: String? = #"{"port": 8080, "host": "example.org"}"#) throws {
    (home, terminal) = (try Scratch(), try PseudoTerminal())
    try home.write(Self.descriptions, to: "shop-settings.json")
    try file.map(write)
  }

  /// Replaces the settings file as an editor does.
  func write(_ text: String) throws {
    try Data(text.utf8).write(to: URL(filePath: home.file("shop.json")), options: .atomic)
  }

  var file: String? { try? String(contentsOf: URL(filePath: home.file("shop.json")), encoding: .utf8) }

  /// Starts the tool and waits until it has drawn the screen: it drops what is typed before.
  func start(_ options: String = "", before: String = "") throws -> Running {
    let running = try shell(
      "\(before) exec secretprefs settings shop.json --descriptions shop-settings.json \(options) >/dev/tty")
    try wait(for: "> Port")
    return running
  }

  func shell(_ line: String) throws -> Running {
    try Running(["/bin/sh", "-mc", line], in: home, input: terminal.path, environment: ["TERM": "xterm"])
  }

  /// Types `keys` and waits until the screen shows `text`.
  func type(_ keys: String, until text: String) throws {
    terminal.type(keys)
    try wait(for: text)
  }

  /// Waits until the screen, as it was drawn last, shows `text`.
  func wait(for text: String) throws {
    let end = ContinuousClock.now + .seconds(600)
    while !frame.contains(text) {
      guard ContinuousClock.now < end else { throw Tool.TookTooLong() }
      terminal.look()
    }
  }

  private var frame: Substring {
    guard let end = terminal.shown.range(of: "\u{1B}[J", options: .backwards),
      let start = terminal.shown[..<end.lowerBound].range(of: "\u{1B}[1;1H", options: .backwards)
    else { return "" }
    return terminal.shown[start.lowerBound..<end.lowerBound]
  }

  /// - Parameter afterEscape: Whether an edit is cancelled first.
  func leave(_ running: Running, afterEscape: Bool = false) throws -> Tool.Outcome {
    if afterEscape { try type("\u{1B}", until: "q leaves") }
    terminal.type("q")
    return try running.wait(atMost: .seconds(600))
  }
}
