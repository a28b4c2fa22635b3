/// Lines in columns, for people: each column is as wide as its widest cell, and nothing stands behind the last.
struct Table {
  /// Cells that are fit to be shown, as many in each row.
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
