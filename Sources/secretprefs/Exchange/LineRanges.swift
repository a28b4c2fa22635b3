/// Ranges of lines, among which one that overlaps another is found without a look at all of them.
struct LineRanges {
  /// In order, and without an overlap.
  private var ranges: [ClosedRange<Int>] = []

  init(_ unordered: [ClosedRange<Int>]) {
    for range in unordered.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      guard let last = ranges.last, last.overlaps(range) else {
        ranges.append(range)
        continue
      }
      ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
    }
  }

  func overlaps(_ lines: ClosedRange<Int>) -> Bool {
    var start = 0
    var end = ranges.count
    while start < end {
      let middle = (start + end) / 2
      if ranges[middle].upperBound < lines.lowerBound { start = middle + 1 } else { end = middle }
    }
    return start < ranges.count && ranges[start].overlaps(lines)
  }
}
