import Glibc

/// One line a measurement: what, how long, its limit in the same run, the ratio, the target.
struct Table {
  private var rows: [[String]] = [["operation", "records", "measured", "limit", "ratio", "target", ""]]

  /// Adds a row whose target is a ratio to a limit that was measured beside it.
  mutating func add(_ name: String, _ records: Int, _ nanoseconds: Double, limit: Double, target: Double?) {
    let ratio = nanoseconds / limit
    rows.append([
      name, "\(records)", Self.time(nanoseconds), Self.time(limit), Self.number(ratio),
      target.map { "≤ \(Self.number($0))" } ?? "", target.map { ratio <= $0 ? "ok" : "MISSED" } ?? "",
    ])
  }

  /// Adds a row whose target is a figure of its own.
  mutating func add(_ name: String, _ records: Int, _ figure: String, target: String, isMet: Bool) {
    rows.append([name, "\(records)", figure, "", "", target, isMet ? "ok" : "MISSED"])
  }

  func print() {
    let widths = (0..<7).map { column in rows.map { $0[column].count }.max()! }
    for row in rows {
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      Swift.print(cells.joined(separator: "  "))
    }
  }

  static func time(_ nanoseconds: Double) -> String {
    switch nanoseconds {
    case ..<10_000: "\(number(nanoseconds)) ns"
    case ..<10_000_000: "\(number(nanoseconds / 1000)) µs"
    default: "\(number(nanoseconds / 1e6)) ms"
    }
  }

  static func number(_ value: Double) -> String {
    let digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
    let scale = [1.0, 10, 100][digits]
    let rounded = (value * scale).rounded() / scale
    return digits == 0 ? "\(Int(rounded))" : "\(rounded)"
  }
}
