internal import VaultCore
internal import VaultSealing

/// The texts to search for: values in all their forms, in guarded memory.
final class ValuePatterns {
  struct Pattern {
    /// The number that the value was added with.
    let value: Int
    let form: ValueForm
    let bytes: Range<Int>
  }

  /// A longer value is searched for in parts of this length.
  static let longestPart = 4096

  /// No part has more forms than this.
  private static let formsOfPart = 160

  /// Shorter texts are not searched for: they also occur by chance.
  let minimum: Int
  /// Whether each line of a value is searched for. Otherwise only long lines without spaces are, such as those of keys.
  private let takesAllLines: Bool
  let buffer: GuardedBuffer
  private(set) var all: [Pattern] = []

  init(minimum: Int, takesAllLines: Bool) throws(VaultError) {
    (self.minimum, self.takesAllLines) = (minimum, takesAllLines)
    buffer = try GuardedBuffer()
  }

  /// Adds a value in all its forms.
  /// - Returns: `false` if it is too short.
  func add(_ value: UnsafeRawBufferPointer, as number: Int) throws(VaultError) -> Bool {
    guard value.count(where: { !Self.isLineEnd($0) }) >= minimum else { return false }
    // Parts overlap, so that every base64 digit is determined by one of them.
    for start in stride(from: 0, to: max(value.count - 2, 1), by: Self.longestPart - 2) {
      let end = min(start + Self.longestPart, value.count)
      let part = UnsafeRawBufferPointer(rebasing: value[max(0, end - Self.longestPart)..<end])
      try add(.plain, number) { () throws(VaultError) in try put(part) }
      try addBase64(part, number)
      for (upper, style) in PercentStyle.allCases.flatMap({ [(true, $0), (false, $0)] }) {
        try add(.percent, number) { () throws(VaultError) in try putPercent(part, style, isUpper: upper) }
      }
      for isUpper in [false, true] {
        try add(.hex, number) { () throws(VaultError) in
          for byte in part { try putHex(UInt32(byte), digits: 2, isUpper: isUpper) }
        }
      }
      guard part.contains(where: Self.hasJSONEscape) else { continue }
      for style in JSONStyle.all(for: part) {
        try add(.json, number) { () throws(VaultError) in try putJSON(part, style) }
      }
    }
    try addLines(value, number)
    return true
  }

  private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

  /// Keeps what `write` appends, unless it is too short or equal to a different form of the value.
  private func add(
    _ form: ValueForm, _ number: Int, _ write: () throws(VaultError) -> Void
  ) throws(VaultError) {
    let start = buffer.count
    try write()
    let bytes = start..<buffer.count
    let isKnown = buffer.withUnsafeBytes { buffer in
      all.suffix(Self.formsOfPart).contains { pattern in
        pattern.value == number && buffer[pattern.bytes].elementsEqual(buffer[bytes])
      }
    }
    if bytes.count < minimum || isKnown {
      buffer.truncate(to: start)
    } else {
      all.append(Pattern(value: number, form: form, bytes: bytes))
    }
  }

  private func addLines(_ value: UnsafeRawBufferPointer, _ number: Int) throws(VaultError) {
    guard value.contains(where: Self.isLineEnd) else { return }
    for line in value.split(whereSeparator: Self.isLineEnd) {
      guard takesAllLines || line.count >= 20 && !line.contains(UInt8(ascii: " ")) else { continue }
      let line = UnsafeRawBufferPointer(rebasing: line.prefix(Self.longestPart))
      try add(.line, number) { () throws(VaultError) in try put(line) }
    }
  }

  private func put(_ bytes: UnsafeRawBufferPointer) throws(VaultError) {
    for byte in bytes { try put(byte) }
  }

  private func put(_ byte: UInt8) throws(VaultError) {
    if !Self.isLineEnd(byte) { try buffer.append(byte) }
  }

  private func put(_ character: Unicode.Scalar) throws(VaultError) { try put(UInt8(character.value)) }

  private func putHex(_ number: UInt32, digits: UInt32, isUpper: Bool) throws(VaultError) {
    for place in (0..<digits).reversed() {
      let digit = UInt8(number >> (4 * place) & 15)
      try put(digit < 10 ? 0x30 + digit : (isUpper ? 0x37 : 0x57) + digit)
    }
  }

  private func putPercent(
    _ bytes: UnsafeRawBufferPointer, _ style: PercentStyle, isUpper: Bool
  ) throws(VaultError) {
    for byte in bytes {
      if style.keeps(byte) {
        try put(byte)
      } else if style == .form, byte == UInt8(ascii: " ") {
        try put("+")
      } else {
        try put("%")
        try putHex(UInt32(byte), digits: 2, isUpper: isUpper)
      }
    }
  }

  /// Adds the digits that the value alone determines, for each number of bytes that may precede it in a group of three.
  private func addBase64(_ bytes: UnsafeRawBufferPointer, _ number: Int) throws(VaultError) {
    for isURL in [false, true] {
      for before in 0..<3 {
        try add(.base64, number) { () throws(VaultError) in
          for digit in (8 * before + 5) / 6..<8 * (before + bytes.count) / 6 {
            let bit = 6 * digit - 8 * before
            let next = bit / 8 + 1 < bytes.count ? UInt16(bytes[bit / 8 + 1]) : 0
            let word = UInt16(bytes[bit / 8]) << 8 | next
            try put(SecretOutput.base64Digit(UInt8(word >> (10 - UInt16(bit % 8)) & 63), isURL: isURL))
          }
        }
      }
    }
  }

  private static func hasJSONEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte > 0x7E || JSONStyle.escapable.contains(byte)
  }

  /// Writes nothing if the bytes are not text.
  private func putJSON(_ bytes: UnsafeRawBufferPointer, _ style: JSONStyle) throws(VaultError) {
    let start = buffer.count
    var (decoder, iterator) = (UTF8(), bytes.makeIterator())
    while true {
      switch decoder.decode(&iterator) {
      case .emptyInput: return
      case .error: return buffer.truncate(to: start)
      case .scalarValue(let scalar):
        guard let escape = style.escape(scalar) else {
          for unit in UTF8.encode(scalar)! { try put(unit) }
          continue
        }
        guard escape == 0 else {
          try put("\\")
          try put(escape)
          continue
        }
        for unit in UTF16.encode(scalar)! {
          try put("\\")
          try put("u")
          try putHex(UInt32(unit), digits: 4, isUpper: style.isUpper)
        }
      }
    }
  }
}
