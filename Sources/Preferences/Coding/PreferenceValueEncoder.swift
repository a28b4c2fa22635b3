import FoundationEssentials

/// Encodes any `Encodable` type as a stored value, without an intermediate format.
///
/// A struct becomes a dictionary and a sequence an array. Strings, booleans, integers, floating-point numbers, `Date`,
/// `Data` and `URL` keep their kinds, exactly. A `Decimal` becomes a number, or text if no number holds it exactly. A
/// property that is `nil` is omitted. A `nil` in an array, and a dictionary with optional values, are refused.
public struct PreferenceValueEncoder: Sendable {
  /// Contextual information for the types that are encoded.
  public var userInfo: [CodingUserInfoKey: any Sendable]

  /// Creates an encoder.
  public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) { self.userInfo = userInfo }

  /// Encodes `value`.
  ///
  /// - Throws: ``PreferencesError/Code/notStorable``, such as for a `nil` in an array; its cause is the error of the
  ///   type's own coding, if there is one and it is no `EncodingError`, which would contain the value.
  ///   ``PreferencesError/Code/limitExceeded`` for more than 128 levels. A `PreferencesError` that the type throws.
  public func encode<Value: Encodable>(_ value: Value) throws(PreferencesError) -> PreferenceValue {
    do {
      let node = EncodedNode(path: [])
      try node.encode(value, userInfo)
      return try node.finished()
    } catch { throw .notEncodable(Value.self, error) }
  }
}

/// What has been encoded so far at one path. A class, because a type may use several containers at a time.
private final class EncodedNode {
  enum Content {
    case nothing
    case null
    case value(PreferenceValue)
    case array([EncodedNode])
    case dictionary([String: EncodedNode])
    /// It was encoded in two ways at once.
    case contradictory
    /// It contains more levels than any store accepts.
    case tooDeep
  }

  let path: [any CodingKey]
  var content = Content.nothing

  init(path: [any CodingKey]) { self.path = path }

  func encode<Value: Encodable>(_ value: Value, _ userInfo: [CodingUserInfoKey: any Sendable]) throws {
    guard path.count < ValueBudget.maximumDepth else { throw PreferencesError.tooDeep.at(path) }
    if let value = value as? any StoredDirectly {
      content = .value(value.preferenceValue)
    } else if let form = (value as? Decimal)?.storedForm {
      content = .value(form)
    } else if value is any DictionaryOfOptionals {
      throw PreferencesError(.notStorable, "a dictionary of optionals cannot be stored").at(path)
    } else {
      try value.encode(to: NodeEncoder(node: self, info: userInfo))
    }
  }

  func becomeDictionary() {
    switch content {
    case .nothing: content = .dictionary([:])
    case .dictionary: break
    default: content = .contradictory
    }
  }

  func becomeArray() {
    switch content {
    case .nothing: content = .array([])
    case .array: break
    default: content = .contradictory
    }
  }

  /// A node of the deepest level gets no more levels: what is encoded there is lost, and encoding fails.
  private var inner: EncodedNode? {
    guard path.count >= ValueBudget.maximumDepth else { return nil }
    content = .tooDeep
    return EncodedNode(path: path)
  }

  func entry(_ key: any CodingKey) -> EncodedNode {
    if let inner { return inner }
    let node = EncodedNode(path: path + [key])
    if case .dictionary(var entries) = content {
      content = .nothing  // so that the dictionary is not copied
      entries[key.stringValue] = node
      content = .dictionary(entries)
    }
    return node
  }

  /// The node of a nested container: the present one if there is one, because a class and its base class may share it.
  func nested(_ key: any CodingKey) -> EncodedNode {
    guard case .dictionary(let entries) = content, let known = entries[key.stringValue] else { return entry(key) }
    return known
  }

  var count: Int { if case .array(let elements) = content { elements.count } else { 0 } }

  func element() -> EncodedNode {
    if let inner { return inner }
    let node = EncodedNode(path: path + [PositionKey(count)])
    if case .array(var elements) = content {
      content = .nothing
      elements.append(node)
      content = .array(elements)
    }
    return node
  }

  func finished() throws(PreferencesError) -> PreferenceValue {
    switch content {
    case .value(let value): return value
    case .array(let nodes):
      var elements: [PreferenceValue] = []
      for node in nodes { elements.append(try node.finished()) }
      return .array(elements)
    case .dictionary(let nodes):
      var entries: [String: PreferenceValue] = [:]
      for (key, node) in nodes {
        if case .null = node.content { continue }
        entries[key] = try node.finished()
      }
      return .dictionary(entries)
    case .null: throw PreferencesError(.notStorable, "nil cannot be stored here").at(path)
    // As `JSONEncoder`: an empty object, except at the top.
    case .nothing where !path.isEmpty: return .dictionary([:])
    case .nothing: throw PreferencesError(.notStorable, "the type has encoded nothing").at(path)
    case .tooDeep: throw PreferencesError.tooDeep.at(path)
    case .contradictory: throw PreferencesError(.notStorable, "the type was encoded in two ways at once").at(path)
    }
  }
}

/// Refused, because entries that are `nil` would be lost silently.
private protocol DictionaryOfOptionals {}
extension Dictionary: DictionaryOfOptionals where Value: ExpressibleByNilLiteral {}

private struct NodeEncoder: Encoder {
  let node: EncodedNode
  let info: [CodingUserInfoKey: any Sendable]

  var codingPath: [any CodingKey] { node.path }
  var userInfo: [CodingUserInfoKey: Any] { info }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    node.becomeDictionary()
    return KeyedEncodingContainer(KeyedNodes<Key>(node: node, info: info))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    node.becomeArray()
    return UnkeyedNodes(node: node, info: info)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleNode(node: node, info: info) }
}

private struct SingleNode: SingleValueEncodingContainer {
  let node: EncodedNode
  let info: [CodingUserInfoKey: any Sendable]
  var codingPath: [any CodingKey] { node.path }

  func encodeNil() { node.content = .null }
  func encode<T: Encodable>(_ value: T) throws { try node.encode(value, info) }
  func encode(_ value: Int128) throws { try node.encode(value, info) }
  func encode(_ value: UInt128) throws { try node.encode(value, info) }
}

private struct UnkeyedNodes: UnkeyedEncodingContainer {
  let node: EncodedNode
  let info: [CodingUserInfoKey: any Sendable]
  var codingPath: [any CodingKey] { node.path }
  var count: Int { node.count }

  func encodeNil() { node.element().content = .null }
  func encode<T: Encodable>(_ value: T) throws { try node.element().encode(value, info) }
  func encode(_ value: Int128) throws { try node.element().encode(value, info) }
  func encode(_ value: UInt128) throws { try node.element().encode(value, info) }
  func superEncoder() -> any Encoder { NodeEncoder(node: node.element(), info: info) }

  func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    NodeEncoder(node: node.element(), info: info).container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    NodeEncoder(node: node.element(), info: info).unkeyedContainer()
  }
}

private struct KeyedNodes<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: EncodedNode
  let info: [CodingUserInfoKey: any Sendable]
  var codingPath: [any CodingKey] { node.path }

  func encodeNil(forKey key: Key) { node.entry(key).content = .null }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try node.entry(key).encode(value, info) }
  // The protocol's own forms for these two types throw.
  func encode(_ value: Int128, forKey key: Key) throws { try node.entry(key).encode(value, info) }
  func encode(_ value: UInt128, forKey key: Key) throws { try node.entry(key).encode(value, info) }
  func superEncoder() -> any Encoder { NodeEncoder(node: node.entry(SuperKey()), info: info) }
  func superEncoder(forKey key: Key) -> any Encoder { NodeEncoder(node: node.entry(key), info: info) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    NodeEncoder(node: node.nested(key), info: info).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    NodeEncoder(node: node.nested(key), info: info).unkeyedContainer()
  }
}
