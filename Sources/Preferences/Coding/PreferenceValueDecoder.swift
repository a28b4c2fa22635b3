import FoundationEssentials

/// Decodes a stored value to any `Decodable` type; the reverse of ``PreferenceValueEncoder``.
///
/// Numbers are converted exactly, as ``PreferenceConvertible`` describes; a `Decimal` is also decoded from a number,
/// which JSON and property lists have rounded to a double unless it is an integer of 64 bits. Strings are parsed as
/// numbers, dates and URLs only if the type cannot be decoded from the value as it is. Unknown entries are ignored, so
/// a later version of a struct may drop a property or add an optional one.
public struct PreferenceValueDecoder: Sendable {
  /// Contextual information for the types that are decoded.
  public var userInfo: [CodingUserInfoKey: any Sendable]

  /// Creates a decoder.
  public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) { self.userInfo = userInfo }

  /// Decodes `value`.
  ///
  /// - Throws: ``PreferencesError/Code/typeMismatch``, ``PreferencesError/Code/outOfRange`` or
  ///   ``PreferencesError/Code/malformed``, with the path of the affected part; ``PreferencesError/Code/limitExceeded``
  ///   if the type reads more than 128 levels.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, from value: PreferenceValue
  ) throws(PreferencesError) -> Value {
    // A type that tries several forms, such as a number and then a string, must not find a number in a string. So text
    // is parsed only where a type cannot be decoded otherwise, which the failure of a pass shows.
    let parsing = TextParsing()
    let owner = ObjectIdentifier(Self.self)
    var first: PreferencesError?
    while true {
      let decoder = ValueDecoder(value: value, codingPath: [], info: userInfo, parsing: parsing, owner: owner)
      do { return try parsing.decoding(owner) { try decoder.decoded(type) } } catch {
        first = first ?? .notDecodable(type, error)
        guard parsing.goesOn() else { throw first ?? .notDecodable(type, error) }
      }
    }
  }
}

/// Where text is parsed as another kind: in the values that types of these decode themselves, and not in those of other
/// types within.
private final class TextParsing {
  private var types: Set<ObjectIdentifier> = []
  /// Whether a value of the type that is being decoded is text that was not parsed.
  private var hasRefused = false
  /// The type whose decoding has failed after such a refusal.
  private var refused: ObjectIdentifier?

  func parses(_ owner: ObjectIdentifier) -> Bool { types.contains(owner) }

  /// Notes text that is not parsed.
  func refuse() { hasRefused = true }

  /// Decodes a value of `owner`.
  func decoding<Value>(_ owner: ObjectIdentifier, _ body: () throws -> Value) rethrows -> Value {
    let (outer, before) = (hasRefused, refused)
    hasRefused = false
    defer { hasRefused = outer }
    do {
      let value = try body()
      // A failure in between was no failure of the whole.
      refused = before
      return value
    } catch {
      if hasRefused { refused = owner }
      throw error
    }
  }

  /// Whether another pass may succeed: one that parses text in one more type.
  func goesOn() -> Bool {
    guard let type = refused, types.insert(type).inserted else { return false }
    refused = nil
    return true
  }
}

/// Throws only `DecodingError`, which types catch to try several forms.
private struct ValueDecoder: Decoder {
  /// `nil` for a missing entry, which an optional decodes as `nil`.
  let value: PreferenceValue?
  let codingPath: [any CodingKey]
  let info: [CodingUserInfoKey: any Sendable]
  let parsing: TextParsing
  /// The type that decodes the value, or of which it is a part.
  let owner: ObjectIdentifier
  /// Whether strings are parsed as other kinds.
  private let parsesText: Bool

  init(
    value: PreferenceValue?, codingPath: [any CodingKey], info: [CodingUserInfoKey: any Sendable],
    parsing: TextParsing, owner: ObjectIdentifier
  ) {
    self.value = value
    self.codingPath = codingPath
    self.info = info
    self.parsing = parsing
    self.owner = owner
    parsesText = parsing.parses(owner)
  }

  var userInfo: [CodingUserInfoKey: Any] { info }

  func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if type == Decimal.self {
      if let decoded = decimal as? Value { return decoded }
      if case .string? = value {
        parsing.refuse()
        throw mismatch(type, "expected number, found string")
      }
    }
    guard let direct = type as? any StoredDirectly.Type else {
      guard codingPath.count < ValueBudget.maximumDepth else { throw PreferencesError.tooDeep.at(codingPath) }
      let owner = ObjectIdentifier(type)
      let part = ValueDecoder(value: value, codingPath: codingPath, info: info, parsing: parsing, owner: owner)
      return try parsing.decoding(owner) { try Value(from: part) }
    }
    // The widest integers are stored as text if 64 bits do not hold them.
    if case .string? = value, !parsesText, direct.isParsed, type != Int128.self, type != UInt128.self {
      parsing.refuse()
      throw mismatch(type, "expected \(direct.preferenceKind), found string")
    }
    do {
      // The cast holds: `direct` is `Value`.
      if let decoded = try direct.init(preferenceValue: present(type)) as? Value { return decoded }
    } catch let error as PreferencesError {
      let context = DecodingError.Context(
        codingPath: codingPath, debugDescription: error.message, underlyingError: error)
      throw error.code == .typeMismatch
        ? DecodingError.typeMismatch(type, context) : DecodingError.dataCorrupted(context)
    }
    throw mismatch(type, "another type")
  }

  /// The decimal that a number is; `nil` for the form in which `Decimal` encodes itself.
  private var decimal: Decimal? {
    switch value {
    case .integer(let number)?: Decimal(number)
    case .unsignedInteger(let number)?: Decimal(number)
    // The shortest text of the number, so that 0.1 is one tenth.
    case .double(let number)? where number.isFinite: Decimal(string: "\(number)")
    case .string(let text)?: parsesText ? Decimal(numberIn: text) : Decimal(storedText: text)
    default: nil
    }
  }

  func present(_ type: Any.Type) throws -> PreferenceValue {
    guard let value else {
      throw DecodingError.valueNotFound(type, .init(codingPath: codingPath, debugDescription: "there is no value"))
    }
    return value
  }

  /// The value, or the array or dictionary that its text is.
  private func structure(_ type: Any.Type) throws -> PreferenceValue {
    let value = try present(type)
    guard parsesText else {
      if case .string = value { parsing.refuse() }
      return value
    }
    return value.unfolded
  }

  func mismatch(_ type: Any.Type, _ text: String) -> DecodingError {
    let error = PreferencesError(.typeMismatch, text)
    return .typeMismatch(type, .init(codingPath: codingPath, debugDescription: text, underlyingError: error))
  }

  func at(_ key: any CodingKey, _ value: PreferenceValue?) -> ValueDecoder {
    ValueDecoder(value: value, codingPath: codingPath + [key], info: info, parsing: parsing, owner: owner)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let value = try structure(type)
    guard case .dictionary(let entries) = value else {
      throw mismatch([String: Any].self, "expected dictionary, found \(JSONText.name(of: value))")
    }
    return KeyedDecodingContainer(KeyedValues(decoder: self, entries: entries))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let value = try structure([Any].self)
    guard case .array(let elements) = value else {
      throw mismatch([Any].self, "expected array, found \(JSONText.name(of: value))")
    }
    return UnkeyedValues(decoder: self, elements: elements)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { SingleValue(decoder: self) }
}

private struct SingleValue: SingleValueDecodingContainer {
  let decoder: ValueDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.value == nil }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.decoded(type) }
  // The protocol's own forms for these two types throw.
  func decode(_ type: Int128.Type) throws -> Int128 { try decoder.decoded(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try decoder.decoded(type) }
}

private struct UnkeyedValues: UnkeyedDecodingContainer {
  let decoder: ValueDecoder
  let elements: [PreferenceValue]
  var currentIndex = 0

  init(decoder: ValueDecoder, elements: [PreferenceValue]) {
    self.decoder = decoder
    self.elements = elements
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  func decodeNil() throws -> Bool {
    _ = try next(Any.self)
    return false
  }

  mutating func decode(_ type: Int128.Type) throws -> Int128 { try element(type) }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try element(type) }
  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try element(type) }

  private mutating func element<T: Decodable>(_ type: T.Type) throws -> T {
    let decoded = try next(type).decoded(type)
    currentIndex += 1
    return decoded
  }

  mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let container = try next(type).container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try next([Any].self).unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = try next((any Decoder).self)
    currentIndex += 1
    return decoder
  }

  private func next(_ type: Any.Type) throws -> ValueDecoder {
    let key = PositionKey(currentIndex)
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type, .init(codingPath: codingPath + [key], debugDescription: "there are no more elements"))
    }
    return decoder.at(key, elements[currentIndex])
  }
}

private struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: ValueDecoder
  let entries: [String: PreferenceValue]

  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { entries.keys.compactMap(Key.init(stringValue:)) }

  func contains(_ key: Key) -> Bool { entries[key.stringValue] != nil }
  func decodeNil(forKey key: Key) -> Bool { !contains(key) }

  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try entry(key).decoded(type) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try entry(key).decoded(type) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try (type is any ExpressibleByNilLiteral.Type ? decoder.at(key, entries[key.stringValue]) : entry(key)).decoded(
      type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try entry(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try entry(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try entry(SuperKey()) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try entry(key) }

  private func entry(_ key: any CodingKey) throws -> ValueDecoder {
    guard let value = entries[key.stringValue] else {
      throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "there is no such entry"))
    }
    return decoder.at(key, value)
  }
}
