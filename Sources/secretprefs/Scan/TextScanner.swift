internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// Searches one text after another, block by block. A match may span two blocks.
final class TextScanner {
  struct Finding {
    let value: Int
    var form: ValueForm
    /// Counts from 1, as `column` does, which counts bytes.
    let line: Int
    let column: Int
  }

  /// Bytes of one line that are contiguous in the text and in ``view``.
  private struct Segment {
    let start: Int
    let line: Int
    let column: Int
  }

  static let blockSize = 256 << 10

  private let search: ValueSearch
  /// The text without its line ends: the end of earlier blocks, and the current block.
  private var view: SecretBytes
  private var count = 0
  private var segments: [Segment] = []
  private var line = 1
  private var column = 1
  private var findings: [Finding] = []
  /// For each value, its last finding, and the last line that the finding covers.
  private var latest: [Int: (index: Int, line: Int)] = [:]

  init(_ search: ValueSearch) throws(VaultError) {
    self.search = search
    view = try SecretBytes(count: Self.blockSize + search.longest)
  }

  /// Ends a text, and returns what was found in it.
  func finish() -> [Finding] {
    defer { (count, segments, line, column, findings, latest) = (0, [], 1, 1, [], [:]) }
    return findings
  }

  /// Searches the next block, of at most ``blockSize`` bytes.
  func add(_ block: UnsafeRawBufferPointer) {
    let carried = count
    append(block)
    let (segments, count) = (segments, count)
    view.withUnsafeBytes { view in
      let text = UnsafeRawBufferPointer(rebasing: view[..<count])
      search.forEachMatch(in: text) { place, pattern in
        // A match that ends earlier was found with the block before.
        if place + pattern.bytes.count > carried { note(place, pattern, segments) }
      }
    }
    carry()
  }

  private func append(_ block: UnsafeRawBufferPointer) {
    var rest = block[...]
    while !rest.isEmpty {
      let start = UnsafeRawBufferPointer(rebasing: rest)
      var length = Self.index(of: 0x0A, in: start) ?? start.count
      if let end = Self.index(of: 0x0D, in: UnsafeRawBufferPointer(rebasing: start[..<length])) { length = end }
      if length > 0 {
        segments.append(Segment(start: count, line: line, column: column))
        view.withUnsafeMutableBytes { view in
          UnsafeMutableRawBufferPointer(rebasing: view[count...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: start[..<length]))
        }
        count += length
        column += length
      }
      rest = rest.dropFirst(length)
      guard let end = rest.popFirst() else { break }
      if end == 0x0A { (line, column) = (line + 1, 1) } else { column += 1 }
    }
  }

  private static func index(of byte: UInt8, in text: UnsafeRawBufferPointer) -> Int? {
    guard !text.isEmpty, let found = memchr(text.baseAddress!, Int32(byte), text.count) else { return nil }
    return UnsafeRawPointer(found) - text.baseAddress!
  }

  private func note(_ place: Int, _ pattern: ValuePatterns.Pattern, _ segments: [Segment]) {
    var (low, high) = (0, segments.count)
    while low < high {
      let middle = (low + high) / 2
      if segments[middle].start <= place { low = middle + 1 } else { high = middle }
    }
    let segment = segments[low - 1]
    let finding = Finding(
      value: pattern.value, form: pattern.form, line: segment.line, column: segment.column + place - segment.start)
    if let last = latest[pattern.value] {
      let isSame = (findings[last.index].line, findings[last.index].column) == (finding.line, finding.column)
      // A value and its lines, or consecutive lines of a value without its beginning, are one finding.
      if isSame || finding.form == .line && finding.line <= last.line + 1 {
        latest[pattern.value]!.line = max(last.line, finding.line)
        if isSame, findings[last.index].form == .line { findings[last.index].form = finding.form }
        return
      }
    }
    latest[pattern.value] = (findings.count, finding.line)
    findings.append(finding)
  }

  /// Keeps the bytes that may begin a match that ends in the next block.
  private func carry() {
    let dropped = max(0, count - max(search.longest - 1, 0))
    guard dropped > 0 else { return }
    let kept = count - dropped
    view.withUnsafeMutableBytes { $0.baseAddress!.copyMemory(from: $0.baseAddress! + dropped, byteCount: kept) }
    let first = segments.lastIndex { $0.start <= dropped } ?? 0
    segments = segments[first...].map {
      let skipped = max(0, dropped - $0.start)
      return Segment(start: max(0, $0.start - dropped), line: $0.line, column: $0.column + skipped)
    }
    count = kept
  }
}
