/// Text in aligned columns, without trailing spaces.
struct Table {
  /// A name as a cell: as ``displayed(_:)`` shows it, and so that it cannot be taken for several cells or for the sign
  /// of an absent name. Spaces beside spaces or at an end, and other spaces than U+0020, become `\u{…}`.
  static func cell(_ name: String) -> String {
    guard name != "-" else { return "\\u{2D}" }
    let scalars = Array(displayed(name).unicodeScalars)
    var cell = ""
    for (index, scalar) in scalars.enumerated() {
      let neighbours = [index - 1, index + 1].map { scalars.indices.contains($0) ? scalars[$0] : " " }
      let isGap = scalar == " " ? neighbours.contains(" ") : scalar.properties.generalCategory == .spaceSeparator
      cell += isGap ? "\\u{\(String(scalar.value, radix: 16, uppercase: true))}" : String(scalar)
    }
    return cell
  }

  /// The cells, already safe to display. All rows have the same number.
  let rows: [[String]]

  var text: String { lines.map { $0 + "\n" }.joined() }

  var lines: [String] {
    guard let count = rows.first?.count else { return [] }
    let widths = (0..<count).map { column in rows.map { TerminalText.width($0[column]) }.max() ?? 0 }
    return rows.map { row in
      let line = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - TerminalText.width($0)) }
        .joined(separator: "  ")
      return String(line[..<(line.lastIndex { $0 != " " }.map(line.index(after:)) ?? line.startIndex)])
    }
  }
}
