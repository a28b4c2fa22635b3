/// Returns the closest of `words`, or `nil` if all of them differ from `word` in more than a third of its characters.
func nearest(_ word: String, among words: [String]) -> String? {
  let limit = (word.count + 1) / 3
  let found = words.map { (word: $0, edits: edits(from: word, to: $0)) }.min { $0.edits < $1.edits }
  return found.flatMap { $0.edits <= limit ? $0.word : nil }
}

/// The edit distance: the number of characters to insert, remove, replace or swap with the next.
private func edits(from first: String, to second: String) -> Int {
  let (first, second) = (Array(first), Array(second))
  var rows = [Array(0...second.count)]
  for i in first.indices {
    rows.append([i + 1])
    for j in second.indices {
      var least = min(rows[i][j + 1] + 1, rows[i + 1][j] + 1, rows[i][j] + (first[i] == second[j] ? 0 : 1))
      if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
        least = min(least, rows[i - 1][j - 1] + 1)
      }
      rows[i + 1].append(least)
    }
  }
  return rows[first.count][second.count]
}
