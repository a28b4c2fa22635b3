internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// Replaces each byte of a value, however it is spelled, by `*` in a stream of output.
///
/// Line ends and terminal escape sequences inside a value are passed on. Bytes at the end that may begin a value are
/// held back until more bytes come; ``pause(to:)`` shows them earlier if they are few.
final class OutputMask {
  /// ``pause(to:)`` shows fewer bytes of a value than this.
  static let shortest = 4
  /// The most bytes that are added at once.
  static let blockSize = 64 << 10

  private enum Mark {
    static let hidden: UInt8 = 1
    /// Hidden, unless it belongs to an escape sequence.
    static let hiddenText: UInt8 = 2
    static let sequence: UInt8 = 4
  }

  private let stream: StreamSearch
  /// The bytes that may belong to an unfinished value, and the new bytes.
  private let held: GuardedArray<UInt8>
  private let marks: GuardedArray<UInt8>
  /// The places in the stream of the first byte in ``held``, and of those after the last that is shown or in ``held``.
  private var origin = 0
  private var shown = 0
  private var end = 0
  private var sequence = EscapeSequence()
  /// The place of the last byte of an escape sequence.
  private var lastSequence = -1
  /// What is hidden in the stream as it is, and in the decoded one.
  private var hidden = [HiddenRanges(), HiddenRanges()]

  init(_ search: ValueSearch) throws(VaultError) {
    stream = try StreamSearch(search)
    let size = 8 * search.longest + 4 * Self.blockSize
    held = try GuardedArray(count: size)
    marks = try GuardedArray(count: size)
  }

  /// Whether something is held back.
  var isWaiting: Bool { shown < end }

  /// Adds bytes, and appends to `output` what can be shown.
  func add(_ bytes: UnsafeRawBufferPointer, to output: GuardedBuffer) throws(VaultError) {
    guard !bytes.isEmpty else { return }
    try reserve(bytes.count, output)
    append(bytes)
    stream.add(bytes, hide)
    let start = stream.waiting?.start ?? end
    // Bytes that are hidden in any case need not wait. Those of escape sequences may be hidden later.
    let limit = hidden[0].end(from: start)
    try show(upTo: lastSequence < start ? max(limit, hidden[1].end(from: start)) : limit, to: output)
  }

  /// Call this after a pause in the output. Shows the last bytes, such as the end of a prompt, if they are fewer
  /// than ``shortest``. If a value goes on after them, the rest of it is replaced.
  func pause(to output: GuardedBuffer) throws(VaultError) {
    if stream.waiting?.count ?? 0 < Self.shortest { try show(upTo: end, to: output) }
  }

  /// Shows everything, at the end of the stream. The beginning of a value that the stream ends with is hidden if it is
  /// as long as the shortest value.
  func end(to output: GuardedBuffer) throws(VaultError) {
    stream.finish(hide)
    try showRest(to: output)
  }

  private func showRest(to output: GuardedBuffer) throws(VaultError) {
    // Also if most of these bytes are not compared, such as blanks.
    if let waiting = stream.waiting, max(waiting.count, waiting.end - waiting.start) >= ValuePatterns.minimum {
      hidden[1].add(waiting.start..<max(waiting.end, hidden[1].end)) { mark($0, Mark.hiddenText) }
    }
    try show(upTo: end, to: output)
  }

  private func reserve(_ more: Int, _ output: GuardedBuffer) throws(VaultError) {
    guard end - origin + more > held.count else { return }
    // Only a program that puts very many blanks into a value gets here with all of it.
    if end - firstNeeded + more > held.count { try showRest(to: output) }
    let first = end - firstNeeded + more > held.count ? end : firstNeeded
    let range = first - origin..<end - origin
    held.moveToStart(range)
    marks.moveToStart(range)
    origin = first
    for index in hidden.indices { hidden[index].drop(before: origin) }
  }

  private var firstNeeded: Int { min(shown, stream.waiting?.start ?? end) }

  private func append(_ bytes: UnsafeRawBufferPointer) {
    let start = end - origin
    UnsafeMutableRawPointer(held.base + start).copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
    (marks.base + start).update(repeating: 0, count: bytes.count)
    end += bytes.count
    guard !sequence.isIdle || memchr(bytes.baseAddress!, 0x1B, bytes.count) != nil else { return }
    for index in bytes.indices where sequence.take(bytes[index]) {
      marks.base[start + index] = Mark.sequence
      lastSequence = origin + start + index
    }
  }

  private func hide(_ match: StreamSearch.Match) {
    hidden[match.isDecoded ? 1 : 0].add(match.range) {
      mark($0, match.isDecoded ? Mark.hiddenText : Mark.hidden)
    }
  }

  private func mark(_ range: Range<Int>, _ mark: UInt8) {
    for place in max(range.lowerBound, origin)..<max(range.upperBound, origin) { marks.base[place - origin] |= mark }
  }

  private func show(upTo limit: Int, to output: GuardedBuffer) throws(VaultError) {
    guard shown < limit else { return }
    let hasHidden = hidden.contains { $0.reach(beyond: shown) }
    var (start, stars) = (shown, 0)
    if hasHidden {
      for place in shown..<limit where isHidden(place) {
        if start < place {
          try output.append(repeating: UInt8(ascii: "*"), count: stars)
          try append(start..<place, to: output)
          stars = 0
        }
        start = place + 1
        // One for each character.
        if held.base[place - origin] & 0xC0 != 0x80 { stars += 1 }
      }
      try output.append(repeating: UInt8(ascii: "*"), count: stars)
    }
    try append(start..<limit, to: output)
    shown = limit
  }

  private func append(_ range: Range<Int>, to output: GuardedBuffer) throws(VaultError) {
    guard !range.isEmpty else { return }
    try output.append(UnsafeRawBufferPointer(start: held.base + range.lowerBound - origin, count: range.count))
  }

  private func isHidden(_ place: Int) -> Bool {
    let (mark, byte) = (marks.base[place - origin], held.base[place - origin])
    guard byte != 0x0A, byte != 0x0D, byte != 0x08 else { return false }
    return mark & Mark.hidden != 0 || mark & Mark.hiddenText != 0 && mark & Mark.sequence == 0
  }
}
