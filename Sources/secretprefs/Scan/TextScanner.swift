internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// Searches one text after another, block by block. A match may span several blocks.
final class TextScanner {
  struct Finding {
    let value: Int
    fileprivate(set) var form: ValueForm
    /// Counts from 1, as `column` does, which counts bytes.
    let line: Int
    let column: Int
  }

  /// The last finding of a value, and the text that it covers.
  private struct Latest {
    let index: Int
    var start: Int
    var end: Int
    var line: Int
  }

  static let blockSize = 64 << 10

  private let stream: StreamSearch
  /// Where each line begins in which a match may begin.
  private var lines: [(start: Int, number: Int)] = [(0, 1)]
  private var findings: [Finding] = []
  private var latest: [Int: Latest] = [:]

  init(_ search: ValueSearch) throws(VaultError) { stream = try StreamSearch(search) }

  /// Ends a text, and returns what was found in it.
  func finish() -> [Finding] {
    stream.finish(note)
    let found = findings.enumerated().sorted { first, second in
      let (one, other) = (first.element, second.element)
      return (one.line, one.column, first.offset) < (other.line, other.column, second.offset)
    }
    stream.reset()
    lines = [(0, 1)]
    findings = []
    latest = [:]
    return found.map(\.element)
  }

  /// Searches a short text between two others, such as a path, and returns what is found in it, and where.
  func matches(in text: [UInt8]) -> [(value: Int, form: ValueForm, range: Range<Int>)] {
    var matches: [(value: Int, form: ValueForm, range: Range<Int>)] = []
    func take(_ match: StreamSearch.Match) {
      matches.append((match.pattern.value, stream.form(of: match), match.range))
    }
    text.withUnsafeBytes { stream.add($0, take) }
    stream.finish(take)
    stream.reset()
    return matches
  }

  /// Searches the next block.
  func add(_ block: UnsafeRawBufferPointer) {
    var index = 0
    while index < block.count, let end = memchr(block.baseAddress! + index, 0x0A, block.count - index) {
      index = UnsafeRawPointer(end) - UnsafeRawPointer(block.baseAddress!) + 1
      lines.append((stream.length + index, lines.last!.number + 1))
    }
    stream.add(block, note)
    let start = stream.waiting?.start ?? stream.length
    lines.removeFirst(indexOfLine(at: start))
    // Between the beginning and the end of a value there can be any number of line ends.
    if lines.count > 2 * Self.blockSize { lines.removeSubrange(1..<lines.count - Self.blockSize) }
  }

  private func note(_ match: StreamSearch.Match) {
    let (value, start) = (match.pattern.value, match.range.lowerBound)
    let line = lines[indexOfLine(at: start)]
    let isLine = match.pattern.form == .line
    if var last = latest[value] {
      let isPart = isLine && line.number <= last.line + 1
      let isOverlapping = start < last.end
      // The whole value is recognised after its first line. It can seem to begin later: a terminal would take an ESC
      // before it for the beginning of a sequence.
      if isOverlapping, !isLine, findings[last.index].form == .line {
        let whole = finding(match, line)
        findings[last.index].form = whole.form
        if start < last.start {
          findings[last.index] = whole
          last.start = start
        }
      }
      // A value and its lines, or consecutive lines of a value without its beginning, are one finding.
      if isPart || isOverlapping {
        last.end = max(last.end, match.range.upperBound)
        last.line = max(last.line, line.number)
        latest[value] = last
        return
      }
    }
    latest[value] = Latest(index: findings.count, start: start, end: match.range.upperBound, line: line.number)
    findings.append(finding(match, line))
  }

  private func finding(_ match: StreamSearch.Match, _ line: (start: Int, number: Int)) -> Finding {
    Finding(
      value: match.pattern.value, form: stream.form(of: match), line: line.number,
      column: match.range.lowerBound - line.start + 1)
  }

  /// The index in ``lines`` of the line of a byte.
  private func indexOfLine(at place: Int) -> Int {
    var (low, high) = (0, lines.count)
    while low < high {
      let middle = (low + high) / 2
      if lines[middle].start <= place { low = middle + 1 } else { high = middle }
    }
    return max(low - 1, 0)
  }
}
