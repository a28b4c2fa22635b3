internal import VaultCore
internal import VaultSealing

/// Replaces each byte of a value, in all its forms, by `*` in a stream of output.
///
/// Line ends and terminal escape sequences inside a value are passed on. Bytes at the end that may begin a value are
/// held back until more bytes come; ``pause(to:)`` shows them earlier if they are few.
final class OutputMask {
  /// The length of the shortest value that is replaced. ``pause(to:)`` shows fewer bytes than this.
  static let minimum = 4
  /// The most bytes that are added at once.
  static let blockSize = 16 << 10

  private let search: ValueSearch
  /// The bytes that may belong to an unfinished value, and the new bytes. Those before ``shown`` were already shown.
  private var held: SecretBytes
  private var count = 0
  private var shown = 0
  private var isHidden: [Bool] = []
  /// ``held`` without line ends and escape sequences, and the place of each of its bytes in ``held``.
  private var view: SecretBytes
  private var origins: [Int] = []
  private var escape = Escape.none

  private enum Escape { case none, start, sequence }

  init(_ search: ValueSearch) throws(VaultError) {
    self.search = search
    held = try SecretBytes(count: 8 * (search.longest + Self.blockSize))
    view = try SecretBytes(count: held.count)
  }

  /// Whether something is held back.
  var isWaiting: Bool { shown < count }

  /// Adds bytes, and appends to `output` what can be shown.
  func add(_ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
    // Only a program that puts very many line ends into a value gets here.
    if count + bytes.count > held.count { end(to: &output) }
    for byte in bytes { append(byte) }
    let start = view.withUnsafeBytes { view in
      let text = UnsafeRawBufferPointer(rebasing: view[..<origins.count])
      search.forEachMatch(in: text) { place, pattern in
        for index in place..<place + pattern.bytes.count { isHidden[origins[index]] = true }
      }
      return search.firstPartialMatch(in: text)
    }
    var limit = start.map { origins[$0] } ?? count
    // Bytes that are hidden in any case need not wait.
    while limit < count, isHidden[limit] { limit += 1 }
    show(upTo: limit, to: &output)
    drop(start)
  }

  /// Call this after a pause in the output. Shows the last bytes, such as the end of a prompt, if they are fewer
  /// than ``minimum``. If a value goes on after them, the rest of it is replaced.
  func pause(to output: inout [UInt8]) {
    if origins.count < Self.minimum { show(upTo: count, to: &output) }
  }

  /// Shows everything, at the end of the stream.
  func end(to output: inout [UInt8]) {
    show(upTo: count, to: &output)
    drop(nil)
  }

  private func append(_ byte: UInt8) {
    held.withUnsafeMutableBytes { $0[count] = byte }
    isHidden.append(false)
    if isText(byte) {
      view.withUnsafeMutableBytes { $0[origins.count] = byte }
      origins.append(count)
    }
    count += 1
  }

  /// Whether a byte is neither a line end nor in an escape sequence: ESC and one byte, or ESC, `[`, parameters and a
  /// letter.
  private func isText(_ byte: UInt8) -> Bool {
    switch (escape, byte) {
    case (_, 0x1B): escape = .start
    case (.start, UInt8(ascii: "[")): escape = .sequence
    case (.start, _), (.sequence, 0x40...0x7E): escape = .none
    case (.sequence, 0x20...0x3F), (_, 0x0A), (_, 0x0D): break
    default:
      escape = .none
      return true
    }
    return false
  }

  private func show(upTo end: Int, to output: inout [UInt8]) {
    held.withUnsafeBytes { held in
      for index in shown..<max(end, shown) {
        if !isHidden[index] {
          output.append(held[index])
        } else if held[index] & 0xC0 != 0x80 {  // one for each character
          output.append(UInt8(ascii: "*"))
        }
      }
    }
    shown = max(end, shown)
  }

  /// Drops the bytes before a place in ``view``, or all bytes.
  private func drop(_ start: Int?) {
    let (place, origin) = start.map { ($0, origins[$0]) } ?? (origins.count, count)
    Self.move(&held, origin..<count)
    Self.move(&view, place..<origins.count)
    isHidden.removeFirst(origin)
    origins = origins[place...].map { $0 - origin }
    (count, shown) = (count - origin, max(0, shown - origin))
  }

  /// Moves bytes to the start, and wipes their old place.
  private static func move(_ bytes: inout SecretBytes, _ range: Range<Int>) {
    guard range.lowerBound > 0 else { return }
    bytes.withUnsafeMutableBytes { bytes in
      for index in range { bytes[index - range.lowerBound] = bytes[index] }
      wipe(UnsafeMutableRawBufferPointer(rebasing: bytes[range.count..<range.upperBound]))
    }
  }
}
