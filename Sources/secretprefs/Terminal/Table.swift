/// Text in aligned columns, without trailing spaces.
struct Table {
  /// The cells, already safe to display. All rows have the same number.
  let rows: [[String]]

  var text: String {
    guard let count = rows.first?.count else { return "" }
    let widths = (0..<count).map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let line = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
      return line[..<(line.lastIndex { $0 != " " }.map(line.index(after:)) ?? line.startIndex)] + "\n"
    }.joined()
  }
}
