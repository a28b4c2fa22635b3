internal import FoundationEssentials
internal import Preferences
internal import VaultCore
internal import VaultSealing

/// The text of a value that is neither text nor data, as ``ValueText`` writes it, and `set` and `import` read it.
///
/// Numbers, bools and dates are parsed as everywhere in this package. JSON is stored as it is written.
enum TypedText {
  /// The longest text of a number, bool or date.
  private static let longest = 400

  /// The kind under which text of `kind` is stored: a whole number above the largest ``ValueKind/integer`` becomes an
  /// ``ValueKind/unsignedInteger``. `nil` if the text is no value of the kind.
  static func kind(_ kind: ValueKind, of text: RawSpan) throws(VaultError) -> ValueKind? {
    switch kind {
    case .string, .data: return kind
    case .json:
      var copy = try SecretBytes(copying: text)
      return copy.withUnsafeMutableBytes { GuardedJSONParser.isValue($0) } ? .json : nil
    default: return value(kind, text)?.kind
    }
  }

  /// Whether text can be a part of a document of JSON that `import` reads: it is one value, does not begin with a byte
  /// order mark, and leaves room below the parser's limit of 64 for what is around it.
  static func canBeNested(_ json: UnsafeRawBufferPointer) throws(VaultError) -> Bool {
    guard json.first != 0xEF, try kind(.json, of: json.bytes) != nil else { return false }
    var (depth, isText, isEscaped) = (0, false, false)
    for byte in json {
      switch byte {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\") where isText: isEscaped = true
      case UInt8(ascii: "\""): isText.toggle()
      case UInt8(ascii: "["), UInt8(ascii: "{"): if !isText { depth += 1 }
      case UInt8(ascii: "]"), UInt8(ascii: "}"): if !isText { depth -= 1 }
      default: break
      }
      guard depth <= 32 else { return false }
    }
    return true
  }

  /// The bytes that are stored for text of `kind`; `nil` if the text is no value of the kind.
  static func body(_ kind: ValueKind, _ text: RawSpan) throws(VaultError) -> SecretBytes? {
    guard try self.kind(kind, of: text) != nil else { return nil }
    guard let body = value(kind, text)?.body else { return try SecretBytes(copying: text) }
    return try SecretBytes(copying: body.span.bytes)
  }

  /// The kind of a JSON number: a whole number of 64 bits, or a double whose shortest text is the same number. Any
  /// other number stays JSON, with all its digits.
  static func kind(ofNumber text: UnsafeRawBufferPointer) -> ValueKind {
    guard text.count <= longest, let text = String(validating: text, as: UTF8.self) else { return .json }
    if text != "-0" {
      if Int64(text) != nil { return .integer }
      if UInt64(text) != nil { return .unsignedInteger }
    }
    guard let number = Double(text), number.isFinite, Digits(text) == Digits("\(number)") else { return .json }
    return .double
  }

  /// A number, bool, date or URL; `nil` for other kinds, and for text that is none.
  private static func value(_ kind: ValueKind, _ text: RawSpan) -> (kind: ValueKind, body: [UInt8]?)? {
    let kinds: [ValueKind: PreferenceValue.Kind] = [
      .bool: .bool, .integer: .integer, .unsignedInteger: .unsignedInteger, .double: .double, .date: .date, .url: .url,
    ]
    guard let asked = kinds[kind], text.byteCount <= longest || kind == .url,
      let words = text.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }),
      let value = PreferenceValue(parsing: words, as: asked)
    else { return nil }
    switch value {
    case .bool(let flag): return (.bool, [flag ? 1 : 0])
    case .integer where kind == .unsignedInteger: return nil
    case .integer(let number): return (.integer, word(UInt64(bitPattern: number)))
    case .unsignedInteger(let number): return (.unsignedInteger, word(number))
    case .double(let number): return (.double, word(number.bitPattern))
    case .date(let date): return (.date, word(date.timeIntervalSinceReferenceDate.bitPattern))
    case .url: return (.url, nil)
    default: return nil
    }
  }

  private static func word(_ word: UInt64) -> [UInt8] { withUnsafeBytes(of: word.littleEndian, Array.init) }

  /// A decimal number by its digits without zeros at the ends, and its exponent.
  private struct Digits: Equatable {
    private var isNegative = false
    private var digits: [UInt8] = []
    private var exponent = 0

    init(_ text: String) {
      let parts = text.split(whereSeparator: { $0 == "e" || $0 == "E" })
      // No double has an exponent that is as large, also after the digits have changed it.
      exponent = parts.count > 1 ? min(max(Int(parts[1]) ?? .max, -1_000_000), 1_000_000) : 0
      var isFraction = false
      for byte in (parts.first ?? "").utf8 {
        switch byte {
        case UInt8(ascii: "-"): isNegative = true
        case UInt8(ascii: "."): isFraction = true
        default:
          if byte != UInt8(ascii: "0") || !digits.isEmpty { digits.append(byte) }
          if isFraction { exponent -= 1 }
        }
      }
      while digits.last == UInt8(ascii: "0") {
        digits.removeLast()
        exponent += 1
      }
      if digits.isEmpty { exponent = 0 }
    }
  }
}
