/// Decodes percent-encoding (RFC 3986), also if it was applied several times, and `%%`, which is a `%` in units of
/// systemd, batch files and formats.
final class PercentDecoder<Next: SpellingStage>: SpellingStage {
  private let next: Next
  private var sign: SpelledByte?
  private var digit: SpelledByte?

  init(_ next: Next) { self.next = next }

  var isIdle: Bool { sign == nil && next.isIdle }
  var pending: UInt32? { next.pending ?? sign?.start }

  func take(_ spelled: SpelledByte) {
    guard let sign else {
      if spelled.byte == UInt8(ascii: "%") { self.sign = spelled } else { next.take(spelled) }
      return
    }
    guard let low = hexadecimal(spelled.byte) else {
      if digit == nil, spelled.byte == UInt8(ascii: "%"), !sign.spelling.contains(.percent) {
        self.sign?.spelling.insert(.escape)
        self.sign?.end = spelled.end
        return
      }
      release()
      return take(spelled)
    }
    guard let high = digit.flatMap({ hexadecimal($0.byte) }) else {
      digit = spelled
      return
    }
    var decoded = sign
    decoded.byte = high << 4 | low
    decoded.spelling.insert(.percent)
    decoded.end = spelled.end
    digit = nil
    // %2541 is %41 that was encoded again.
    let isSign = decoded.byte == UInt8(ascii: "%")
    self.sign = isSign ? decoded : nil
    if !isSign { next.take(decoded) }
  }

  func finish() {
    release()
    next.finish()
  }

  private func release() {
    if let sign { next.take(sign) }
    if let digit { next.take(digit) }
    sign = nil
    digit = nil
  }
}
