internal import FoundationEssentials
internal import Preferences

/// A preference value as JSON that preserves the value's type.
///
/// Strings, booleans, integers within 64 bits, lists, dictionaries and doubles that are not whole numbers are plain
/// JSON. Every other value is an object with one member: `$data` (base64), `$date` (seconds since 2001-01-01 UTC),
/// `$url`, `$unsigned`, `$double` (a number, or the text `nan`, `inf`, `-inf`, `-0`). A dictionary key that starts with
/// `$` gets a second `$`.
struct JSONValue: Codable {
  let value: PreferenceValue

  init(_ value: PreferenceValue) { self.value = value }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }

    static let data = Key(stringValue: "$data")
    static let date = Key(stringValue: "$date")
    static let url = Key(stringValue: "$url")
    static let unsigned = Key(stringValue: "$unsigned")
    static let double = Key(stringValue: "$double")
  }

  // MARK: Encoding

  func encode(to encoder: any Encoder) throws {
    switch value {
    case .string(let text): try Self.plain(text, encoder)
    case .bool(let flag): try Self.plain(flag, encoder)
    case .integer(let number): try Self.plain(number, encoder)
    case .unsignedInteger(let number): try Self.marked(number, .unsigned, encoder)
    case .double(let number): try Self.double(number, encoder)
    case .data(let data): try Self.marked(data.base64EncodedString(), .data, encoder)
    case .date(let date): try Self.marked(date.timeIntervalSinceReferenceDate, .date, encoder)
    case .url(let url): try Self.marked(url.absoluteString, .url, encoder)
    case .array(let items): try Self.plain(items.map(JSONValue.init), encoder)
    case .dictionary(let members):
      var container = encoder.container(keyedBy: Key.self)
      for (name, member) in members {
        try container.encode(
          JSONValue(member), forKey: Key(stringValue: name.hasPrefix("$") ? "$" + name : name))
      }
    }
  }

  private static func plain(_ value: some Encodable, _ encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }

  private static func marked(_ value: some Encodable, _ key: Key, _ encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(value, forKey: key)
  }

  private static func double(_ number: Double, _ encoder: any Encoder) throws {
    if !number.isFinite || (number == 0 && number.sign == .minus) {
      try marked(number == 0 ? "-0" : "\(number)", .double, encoder)
    } else if number.rounded() == number {
      try marked(number, .double, encoder)  // 1.0 would come back as the integer 1
    } else {
      try plain(number, encoder)
    }
  }

  // MARK: Decoding

  init(from decoder: any Decoder) throws {
    if let container = try fitting({ try decoder.container(keyedBy: Key.self) }) {
      value = try Self.tagged(container) ?? Self.dictionary(container)
    } else if var container = try fitting({ try decoder.unkeyedContainer() }) {
      var items: [PreferenceValue] = []
      while !container.isAtEnd { items.append(try container.decode(JSONValue.self).value) }
      value = .array(items)
    } else {
      value = try Self.scalar(try decoder.singleValueContainer())
    }
  }

  private static func scalar(_ container: any SingleValueDecodingContainer) throws -> PreferenceValue {
    // The decoder never converts between kinds of JSON values.
    if let flag = try fitting({ try container.decode(Bool.self) }) { return .bool(flag) }
    if let text = try fitting({ try container.decode(String.self) }) { return .string(text) }
    // A number that is not a 64-bit integer fails with a decoder-specific error, so every failure is taken to mean
    // that.
    do { return .integer(try container.decode(Int64.self)) } catch {
      return .double(try container.decode(Double.self))
    }
  }

  private static func dictionary(_ container: KeyedDecodingContainer<Key>) throws -> PreferenceValue {
    var members: [String: PreferenceValue] = [:]
    for key in container.allKeys {
      let name = key.stringValue
      guard !name.hasPrefix("$") || name.hasPrefix("$$") else {
        throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "unknown mark")
      }
      members[name.hasPrefix("$") ? String(name.dropFirst()) : name] =
        try container.decode(JSONValue.self, forKey: key).value
    }
    return .dictionary(members)
  }

  private static func tagged(_ container: KeyedDecodingContainer<Key>) throws -> PreferenceValue? {
    guard container.allKeys.count == 1, let key = container.allKeys.first else { return nil }
    func corrupted() -> DecodingError {
      DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "a value breaks its form")
    }
    switch key.stringValue {
    case Key.data.stringValue:
      guard let data = Data(base64Encoded: try container.decode(String.self, forKey: key)) else { throw corrupted() }
      return .data(data)
    case Key.date.stringValue:
      return .date(Date(timeIntervalSinceReferenceDate: try container.decode(Double.self, forKey: key)))
    case Key.url.stringValue:
      guard let url = URL(string: try container.decode(String.self, forKey: key)) else { throw corrupted() }
      return .url(url)
    case Key.unsigned.stringValue: return .unsignedInteger(try container.decode(UInt64.self, forKey: key))
    case Key.double.stringValue:
      // A number, or the text of a value that a JSON number cannot represent.
      if let number = try fitting({ try container.decode(Double.self, forKey: key) }) { return .double(number) }
      guard let number = Double(try container.decode(String.self, forKey: key)) else { throw corrupted() }
      return .double(number)
    default: return nil
    }
  }
}

/// Returns the result of `decode`, or `nil` if the JSON value is of a different kind. Rethrows every other error.
private func fitting<R>(_ decode: () throws -> R) throws -> R? {
  do { return try decode() } catch DecodingError.typeMismatch { return nil }
}
