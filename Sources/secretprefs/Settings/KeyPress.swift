/// A key that was pressed.
enum KeyPress: Hashable {
  case up, down, left, right, home, end, pageUp, pageDown, enter, backspace, delete, escape
  case character(Character)
  /// A letter typed with Ctrl.
  case control(Character)
  /// Text that was pasted at once. It may have line breaks and control characters.
  case paste(String)
}

/// Decodes the bytes that a terminal sends into keys. The bytes of one key may arrive in several parts.
struct KeyDecoder {
  private var pending: [UInt8] = []
  /// What has arrived of a paste whose end has not.
  private var pasted: [UInt8]?

  /// Returns the keys that are complete. Sequences of other keys and invalid UTF-8 are dropped.
  mutating func keys(in bytes: [UInt8]) -> [KeyPress] {
    pending += bytes
    var keys: [KeyPress] = []
    while let (key, length) = next() {
      pending.removeFirst(length)
      if let key { keys.append(key) }
    }
    return keys
  }

  /// Call this after a pause: returns the Escape key if its byte came alone. That byte also begins the sequences of
  /// other keys.
  mutating func keysAfterPause() -> [KeyPress] {
    guard pending == [0x1B], pasted == nil else { return [] }
    pending = []
    return [.escape]
  }

  /// The first key and its number of bytes; no key for bytes to drop. `nil` if more bytes are needed.
  private mutating func next() -> (key: KeyPress?, length: Int)? {
    guard let byte = pending.first else { return nil }
    guard pasted == nil else { return paste(byte) }
    switch byte {
    case 0x1B: return sequence()
    case 0x0A, 0x0D: return (.enter, 1)
    case 0x08, 0x7F: return (.backspace, 1)
    case 0x01...0x1A: return (.control(Character(UnicodeScalar(byte + 0x60))), 1)
    case 0x20..<0x7F: return (.character(Character(UnicodeScalar(byte))), 1)
    default: return scalar(byte)
    }
  }

  /// Moves the first byte to the paste, whose key comes with its end.
  private mutating func paste(_ first: UInt8) -> (key: KeyPress?, length: Int)? {
    if pending.starts(with: PastedText.end) {
      defer { pasted = nil }
      return (.paste(String(decoding: pasted ?? [], as: UTF8.self)), PastedText.end.count)
    }
    guard !PastedText.end.starts(with: pending) else { return nil }
    pasted?.append(first)
    return (nil, 1)
  }

  private func scalar(_ first: UInt8) -> (key: KeyPress?, length: Int)? {
    let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1
    guard pending.count >= length else { return nil }
    let text = length > 1 ? String(validating: pending[..<length], as: UTF8.self) : nil
    return text.map { (.character(Character($0)), length) } ?? (nil, 1)
  }

  private mutating func sequence() -> (key: KeyPress?, length: Int)? {
    guard pending.count > 1 else { return nil }
    guard pending[1] == UInt8(ascii: "[") || pending[1] == UInt8(ascii: "O") else {
      return pending[1] == 0x1B ? (.escape, 1) : (nil, 2)  // otherwise a key typed with Alt
    }
    guard let last = pending[2...].firstIndex(where: { !(0x20..<0x40).contains($0) }) else { return nil }
    if pending[...last].elementsEqual(PastedText.start) { pasted = [] }
    return (Self.named[String(decoding: pending[2...last], as: UTF8.self)], last + 1)
  }

  private static let named: [String: KeyPress] = [
    "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "F": .end, "1~": .home, "7~": .home, "4~": .end,
    "8~": .end, "3~": .delete, "5~": .pageUp, "6~": .pageDown,
  ]
}
