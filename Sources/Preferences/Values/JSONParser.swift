/// Parses JSON strictly by RFC 8259: UTF-8, no repeated member, nothing after the value.
///
/// In an object, what no value can represent is kept as its text, see ``JSONText``, so that one odd value does not make
/// the others unreadable: an array with null, numbers too large or too small for a double, and members whose names
/// differ only in their composition. A single value is refused for any of them.
///
/// Errors contain positions, not text from the file, which could be part of a value.
package struct JSONParser {
  private let bytes: [UInt8]
  private var position = 0
  private var budget = ValueBudget()
  private var isStrict = false

  package init(_ bytes: [UInt8]) throws(PreferencesError) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    guard String(validating: bytes, as: UTF8.self) != nil else { throw malformed("text that is not UTF-8") }
  }

  /// Parses an object. A null member is absent.
  package mutating func parse() throws(PreferencesError) -> [String: PreferenceValue] {
    try parseMembers().compactMapValues(\.self)
  }

  /// Parses an object. A null member is `nil`; inside a member it is absent.
  package mutating func parseMembers() throws(PreferencesError) -> [String: PreferenceValue?] {
    skipSpace()
    guard skip("{") else { throw unexpected("the top level is not an object") }
    try budget.spend(0, depth: 0)
    let members = try members(depth: 1)
    try end()
    return members
  }

  /// Parses a value of any type, and refuses null and numbers too large or too small for 64 bits (`Docs/Format.md`
  /// annex E).
  package mutating func parseValue() throws(PreferencesError) -> PreferenceValue {
    isStrict = true
    guard let value = try value(depth: 0) else { throw malformed("null") }
    try end()
    return value
  }

  private mutating func end() throws(PreferencesError) {
    skipSpace()
    guard position == bytes.count else { throw unexpected("text after the value") }
  }

  /// `nil` for null.
  private mutating func value(depth: Int) throws(PreferencesError) -> PreferenceValue? {
    skipSpace()
    if skip("{") {
      try budget.spend(0, depth: depth)
      return .dictionary(try members(depth: depth + 1).compactMapValues(\.self))
    }
    if skip("[") {
      try budget.spend(0, depth: depth)
      return try array(depth: depth + 1)
    }
    if skip("\"") { return .string(try text(depth: depth)) }
    try budget.spend(8, depth: depth)
    if skip("true") { return .bool(true) }
    if skip("false") { return .bool(false) }
    if skip("null") { return nil }
    return try number()
  }

  private mutating func members(depth: Int) throws(PreferencesError) -> [String: PreferenceValue?] {
    var members = NameSpellings<(value: PreferenceValue?, range: Range<Int>)>()
    skipSpace()
    if skip("}") { return [:] }
    repeat {
      skipSpace()
      let start = position
      guard skip("\"") else { throw unexpected("expected a name") }
      let name = try text(depth: depth)
      // Choosing one of two values would be a guess.
      guard isStrict ? !members.contains(name) : !members.contains(spelling: name) else {
        throw malformed("a repeated name")
      }
      skipSpace()
      guard skip(":") else { throw unexpected("expected a colon") }
      let value = try value(depth: depth)
      guard value != nil || !isStrict else { throw malformed("null") }
      members.add((value, start..<position), named: name)
      skipSpace()
    } while skip(",")
    guard skip("}") else { throw unexpected("an object that does not end") }
    var values = members.first.mapValues(\.value)
    for (name, all) in members.equal { values[name] = JSONText.members(all.map { text($0.range) }) }
    return values
  }

  /// The array that begins before the current position.
  private mutating func array(depth: Int) throws(PreferencesError) -> PreferenceValue {
    let start = position - 1
    var elements: [PreferenceValue] = []
    var hasNull = false
    skipSpace()
    if skip("]") { return .array(elements) }
    repeat {
      skipSpace()
      let isNull = bytes[position...].starts(with: "null".utf8)
      guard !isNull || !isStrict else { throw malformed("null in an array") }
      hasNull = hasNull || isNull
      if let element = try value(depth: depth) { elements.append(element) }
      skipSpace()
    } while skip(",")
    guard skip("]") else { throw unexpected("an array that does not end") }
    return hasNull ? JSONText.value(text(start..<position)) : .array(elements)
  }

  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  // MARK: Scalars

  /// A number with a point or an exponent is a double, any other an integer if it has at most 64 bits.
  private mutating func number() throws(PreferencesError) -> PreferenceValue {
    let start = position
    _ = skip("-")
    guard skip("0") || skipDigits() else { throw unexpected("expected a value") }
    var isInteger = true
    if skip(".") {
      isInteger = false
      guard skipDigits() else { throw malformed("a number that does not end") }
    }
    if skip("e") || skip("E") {
      isInteger = false
      if !skip("+") { _ = skip("-") }
      guard skipDigits() else { throw malformed("a number that does not end") }
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger, let number = PreferenceValue(parsing: text, as: .integer) { return number }
    // Like other readers, an integer that no kind of integer can hold is read as a double.
    let double = isStrict && isInteger ? nil : PreferenceValue(parsing: text, as: .double)
    guard double != nil || !isStrict else { throw malformed("a number too large or too small for 64 bits") }
    return double ?? JSONText.value(text)
  }

  private mutating func skipDigits() -> Bool {
    let start = position
    while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
    return position > start
  }

  /// The string up to its closing quotation mark.
  private mutating func text(depth: Int) throws(PreferencesError) -> String {
    var text: [UInt8] = []
    while true {
      let start = position
      while position < bytes.count, bytes[position] >= 0x20, bytes[position] != 0x22, bytes[position] != 0x5C {
        position += 1
      }
      text += bytes[start..<position]
      if skip("\"") { break }
      guard skip("\\") else { throw malformed("text that does not end") }
      text += String(try escape()).utf8
    }
    try budget.spend(text.count, depth: depth)
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func escape() throws(PreferencesError) -> Unicode.Scalar {
    if skip("\"") { return "\"" }
    if skip("\\") { return "\\" }
    if skip("/") { return "/" }
    if skip("b") { return "\u{8}" }
    if skip("f") { return "\u{C}" }
    if skip("n") { return "\n" }
    if skip("r") { return "\r" }
    if skip("t") { return "\t" }
    guard skip("u") else { throw malformed("an unknown escape") }
    let unit = try codeUnit()
    guard (0xD800...0xDBFF).contains(unit) else {
      guard let scalar = Unicode.Scalar(unit) else { throw malformed("half a character") }
      return scalar
    }
    guard skip("\\u") else { throw malformed("half a character") }
    let low = try codeUnit()
    guard (0xDC00...0xDFFF).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
    else { throw malformed("half a character") }
    return scalar
  }

  private mutating func codeUnit() throws(PreferencesError) -> UInt32 {
    let digits = String(decoding: bytes[position...].prefix(4), as: UTF8.self)
    guard digits.utf8.count == 4, digits.allSatisfy(\.isHexDigit), let unit = UInt32(digits, radix: 16) else {
      throw malformed("an unknown escape")
    }
    position += 4
    return unit
  }

  // MARK: Bytes

  private mutating func skipSpace() {
    while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
  }

  private mutating func skip(_ text: StaticString) -> Bool {
    let isThere = text.withUTF8Buffer { text in
      // The first byte decides in most cases.
      position < bytes.count && bytes[position] == text[0] && bytes[position...].starts(with: text)
    }
    if isThere { position += text.utf8CodeUnitCount }
    return isThere
  }

  /// The error of what is at a place between values.
  private func unexpected(_ what: String) -> PreferencesError {
    let next = bytes[position...].prefix(2)
    let isComment = next.elementsEqual("//".utf8) || next.elementsEqual("/*".utf8) || next.first == UInt8(ascii: "#")
    return malformed(isComment ? "a comment, which JSON does not have" : what)
  }

  private func malformed(_ what: String) -> PreferencesError {
    PreferencesError(.malformed, "\(what) (JSON, byte \(position))")
  }
}
