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
  /// ``held`` without line ends. A value may have the bytes of escape sequences, and one may begin before a value.
  private var written: MaskView
  /// ``held`` as a terminal shows it: also without escape sequences.
  private var displayed: MaskView
  private var sequence = EscapeSequence()

  init(_ search: ValueSearch) throws(VaultError) {
    self.search = search
    let size = 8 * (search.longest + Self.blockSize)
    held = try SecretBytes(count: size)
    written = try MaskView(count: size)
    displayed = try MaskView(count: size)
  }

  /// Whether something is held back.
  var isWaiting: Bool { shown < count }

  /// Adds bytes, and appends to `output` what can be shown.
  func add(_ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
    // Only a program that puts very many line ends into a value gets here.
    if count + bytes.count > held.count { end(to: &output) }
    for byte in bytes { append(byte) }
    written.find(search) { isHidden[$0] = true }
    displayed.find(search) { isHidden[$0] = true }
    let start = min(written.waitingOrigin ?? count, displayed.waitingOrigin ?? count)
    var limit = start
    // Bytes that are hidden in any case need not wait.
    while limit < count, isHidden[limit] { limit += 1 }
    show(upTo: limit, to: &output)
    drop(before: start)
  }

  /// Call this after a pause in the output. Shows the last bytes, such as the end of a prompt, if they are fewer
  /// than ``minimum``. If a value goes on after them, the rest of it is replaced.
  func pause(to output: inout [UInt8]) {
    if max(written.waiting, displayed.waiting) < Self.minimum { show(upTo: count, to: &output) }
  }

  /// Shows everything, at the end of the stream.
  func end(to output: inout [UInt8]) {
    show(upTo: count, to: &output)
    drop(before: count)
  }

  private func append(_ byte: UInt8) {
    held.withUnsafeMutableBytes { $0[count] = byte }
    isHidden.append(false)
    let isInSequence = sequence.take(byte)
    if byte != 0x0A, byte != 0x0D {
      written.append(byte, from: count)
      if !isInSequence { displayed.append(byte, from: count) }
    }
    count += 1
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

  private func drop(before origin: Int) {
    written.drop(before: origin)
    displayed.drop(before: origin)
    held.moveToStart(origin..<count)
    isHidden.removeFirst(origin)
    (count, shown) = (count - origin, max(0, shown - origin))
  }
}
