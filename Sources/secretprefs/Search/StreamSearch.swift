internal import VaultCore

/// Finds values in one stream of bytes, however they are spelled. What is found does not depend on how the stream is
/// divided into blocks.
///
/// The stream is searched as it is, and as ``SpellingDecoder`` writes it. No decoder is right for every text: a value
/// may itself look encoded, and what precedes it may look like a part of an escape.
final class StreamSearch {
  /// Where a value is, or parts of a value that overlap.
  struct Match {
    /// That of the first part.
    let pattern: ValuePatterns.Pattern
    /// The first and last byte that are not ignored, and all between, counted from the beginning of the stream.
    let range: Range<Int>
    /// Whether it is in the decoded stream. Escape sequences in the range are no part of it.
    let isDecoded: Bool
    /// The first part.
    fileprivate let firstPart: Range<Int>
    fileprivate let firstEnd: Int
  }

  /// Parts of one value, each of which overlaps the one before and ends after it: in a text with the period of a value,
  /// a part ends at each byte.
  private struct Parts {
    let pattern: ValuePatterns.Pattern
    let first: Range<Int>
    var end: Int

    /// Takes a part, if it belongs to these.
    mutating func take(_ pattern: ValuePatterns.Pattern, _ indices: Range<Int>) -> Bool {
      guard pattern.value == self.pattern.value, pattern.form == self.pattern.form, pattern.form != .line,
        (first.lowerBound..<end).contains(indices.lowerBound)
      else { return false }
      end = indices.upperBound
      return true
    }
  }

  /// The beginning of a value, at the end of the stream so far.
  struct Waiting {
    /// Where its first byte is in the stream.
    var start: Int
    /// The place after its last byte.
    var end: Int
    /// The number of its bytes that are not ignored.
    var count: Int
  }

  /// The most bytes that are searched at once; few enough for the processor's cache.
  private static let slice = 8 << 10

  private let search: ValueSearch
  private let plain: SearchedText
  private let decoded: SearchedText
  private let decoder: SpellingDecoder
  /// Those of the bytes that were searched last.
  private var plainMatches: [Match] = []
  private var decodedMatches: [Match] = []
  /// The number of bytes so far.
  private(set) var length = 0

  init(_ search: ValueSearch) throws(VaultError) {
    self.search = search
    let room = SpellingDecoder.growth * (Self.slice + SpellingDecoder.held)
    plain = try SearchedText(capacity: search.longest + 3 * Self.slice)
    decoded = try SearchedText(capacity: search.longest + 2 * room)
    decoder = try SpellingDecoder(into: decoded)
  }

  /// Searches the next bytes. Matches are passed in the order in which their first parts end.
  func add(_ bytes: UnsafeRawBufferPointer, _ body: (Match) -> Void) {
    for start in stride(from: 0, to: bytes.count, by: Self.slice) {
      let slice = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + Self.slice, bytes.count)])
      let place = UInt32(truncatingIfNeeded: length)
      length += slice.count
      plain.reserve(slice.count, keeping: plain.waiting(search))
      plain.append(slice, from: place)
      reserve()
      decoder.add(slice, from: place)
      find(body)
    }
  }

  /// Searches what was held back for the decoders, at the end of the stream.
  func finish(_ body: (Match) -> Void) {
    reserve()
    decoder.finish()
    find(body)
  }

  /// Begins a new stream, after ``finish(_:)``.
  func reset() {
    plain.removeAll()
    decoded.removeAll()
    length = 0
  }

  /// The longest beginning of a value at the end.
  var waiting: Waiting? {
    var waiting = decoder.pending.map { Waiting(start: place($0), end: length, count: 1) }
    for text in [plain, decoded] {
      let count = text.waiting(search)
      guard count > 0 else { continue }
      let start = place(text.start(of: text.count - count))
      let end = place(text.end(of: text.count - 1))
      waiting = Waiting(
        start: min(start, waiting?.start ?? start), end: max(end, waiting?.end ?? end),
        count: max(count, waiting?.count ?? 0))
    }
    return waiting
  }

  /// The form of a match. Only valid in the call that passes the match.
  func form(of match: Match) -> ValueForm {
    guard match.pattern.form == .plain else { return match.pattern.form }
    let spelling = (match.isDecoded ? decoded : plain).spelling(of: match.firstPart)
    if spelling.contains(.percent) { return .percent }
    if spelling.contains(.entity) { return .entity }
    if match.firstEnd - match.range.lowerBound == match.pattern.span || spelling.isSubset(of: match.pattern.spelling) {
      return .plain
    }
    if !spelling.isDisjoint(with: [.escape, .singleQuote]) { return .quoted }
    if spelling.contains(.backslash) { return .json }
    return spelling.contains(.doubleQuote) ? .quoted : .plain
  }

  private func reserve() {
    let room = SpellingDecoder.growth * (Self.slice + SpellingDecoder.held)
    decoded.reserve(room, keeping: decoded.waiting(search))
  }

  /// Searches the new bytes.
  private func find(_ body: (Match) -> Void) {
    find(in: plain, &plainMatches)
    find(in: decoded, &decodedMatches)
    var next = decodedMatches.startIndex
    for match in plainMatches {
      while next < decodedMatches.endIndex, decodedMatches[next].firstEnd < match.firstEnd {
        body(decodedMatches[next])
        next += 1
      }
      body(match)
    }
    decodedMatches[next...].forEach(body)
  }

  private func find(in text: SearchedText, _ matches: inout [Match]) {
    // Without an object: counting its references for each part costs more than the search.
    var (all, latest): ([Parts], Parts?) = ([], nil)
    text.find(search) { pattern, indices in
      if latest?.take(pattern, indices) == true { return }
      if let latest { all.append(latest) }
      latest = Parts(pattern: pattern, first: indices, end: indices.upperBound)
    }
    if let latest { all.append(latest) }
    matches.removeAll(keepingCapacity: true)
    for parts in all { matches.append(match(parts, in: text)) }
  }

  private func match(_ parts: Parts, in text: SearchedText) -> Match {
    let firstEnd = place(text.end(of: parts.first.upperBound - 1))
    // A value can have 4 GiB of blanks, after which the place of its beginning is not known.
    let start = min(place(text.start(of: parts.first.lowerBound)), firstEnd)
    return Match(
      pattern: parts.pattern, range: start..<max(place(text.end(of: parts.end - 1)), firstEnd),
      isDecoded: text === decoded, firstPart: parts.first, firstEnd: firstEnd)
  }

  /// The place in the whole stream of one modulo 2^32.
  private func place(_ place: UInt32) -> Int {
    length - Int(UInt32(truncatingIfNeeded: length) &- place)
  }
}
