/// The one of `words` that `word` was most likely meant to be; nil when none differs in so few of its characters.
func nearest(_ word: String, among words: [String]) -> String? {
  let limit = (word.count + 1) / 3
  let found = words.map { (word: $0, edits: edits(from: word, to: $0)) }.min { $0.edits < $1.edits }
  return found.flatMap { $0.edits <= limit ? $0.word : nil }
}

/// How many characters have to be inserted, removed or replaced to make one text of the other (Levenshtein).
private func edits(from first: String, to second: String) -> Int {
  let second = Array(second)
  var row = Array(0...second.count)
  for (index, character) in first.enumerated() {
    var diagonal = row[0]
    row[0] = index + 1
    for (column, other) in second.enumerated() {
      let replaced = diagonal + (character == other ? 0 : 1)
      diagonal = row[column + 1]
      row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
    }
  }
  return row[second.count]
}
