/// Ranges of a stream that are hidden, each of which ends where the one before ends, or later.
struct HiddenRanges {
  /// Disjoint, in their order.
  private var all: [Range<Int>] = []

  /// Adds a range. Calls `body` with its parts that are new.
  mutating func add(_ range: Range<Int>, _ body: (Range<Int>) -> Void) {
    var (start, end) = (range.lowerBound, range.upperBound)
    while let last = all.last, last.upperBound >= start {
      if last.upperBound < end { body(last.upperBound..<end) }
      end = min(end, last.lowerBound)
      start = min(start, last.lowerBound)
      all.removeLast()
    }
    if start < end { body(start..<end) }
    all.append(start..<range.upperBound)
  }

  /// The end of the last range.
  var end: Int { all.last?.upperBound ?? 0 }

  /// Whether a byte at `place` or after it is hidden.
  func reach(beyond place: Int) -> Bool { end > place }

  /// The end of the range that contains `place`; `place` itself if there is none.
  func end(from place: Int) -> Int {
    all.last { $0.lowerBound <= place }.map { max(place, $0.upperBound) } ?? place
  }

  mutating func drop(before place: Int) { all.removeAll { $0.upperBound <= place } }
}
