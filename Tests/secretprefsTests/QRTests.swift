import Testing

@testable import secretprefs

/// `qr` on a terminal. Scripts/qr-codes reads the codes with a decoder.
struct QRTests {
  /// Runs the command with a value of this length on a terminal of this size.
  private static func show(_ length: Int, rows: UInt16, columns: UInt16, _ options: String = "") throws -> String {
    let (home, terminal) = (try Scratch(), try PseudoTerminal())
    terminal.resize(rows: rows, columns: columns)
    try home.write(String(repeating: "x", count: length), to: "value")
    let running = try Running(
      [
        "/bin/sh", "-c",
        """
        secretprefs init --key-file k && secretprefs set a --key-file k < value
        secretprefs qr a --key-file k \(options) >/dev/tty 2>&1
        echo "exit $?" >/dev/tty
        """,
      ], in: home, input: terminal.path)
    try terminal.wait(for: "exit ")
    _ = try running.wait(atMost: .seconds(600))
    terminal.look()
    return terminal.shown
  }

  @Test func `a code has light on dark, whatever the colors of the terminal`() throws {
    let lines = try Self.show(10, rows: 16, columns: 29).split(separator: "\r\n")
    #expect(lines.count == 16)
    #expect(lines.last == "exit 0")
    for line in lines.dropLast() {
      #expect(line.wholeMatch(of: /\u{1B}\[40;37;1m[█▀▄ ]{29}\u{1B}\[0m/) != nil)
    }
    #expect(lines[0].contains(String(repeating: "█", count: 29)))
  }

  @Test(arguments: [(15, 29), (16, 28)] as [(UInt16, UInt16)])
  func `a terminal in which it does not fit gets no part of it`(_ rows: UInt16, _ columns: UInt16) throws {
    let shown = try Self.show(10, rows: rows, columns: columns)
    #expect(!shown.contains("█"))
    #expect(shown.contains("has \(columns) columns and \(rows) lines, and the code needs 29 and 16"))
    #expect(shown.hasSuffix("exit 64\r\n"))
    let printed = try Self.show(10, rows: rows, columns: columns, "--print")
    #expect(printed.contains("█"))
    #expect(printed.hasSuffix("exit 0\r\n"))
  }
}
