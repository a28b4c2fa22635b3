/// Secrets of Kubernetes in JSON, as `kubectl get secret -o json` prints one, or a list of them. Their `data` is in
/// base64; `stringData` is text, and overrides it. The keys of a list are `<name of the Secret>/<key>`.
struct KubernetesParser {
  /// An object, which may be of another kind, or the list itself.
  private struct Object {
    var name = ""
    var isSecret = false
    var values: [(key: String, isText: Bool, leaf: JSONLeaf)] = []
    var left = LeftParts()
    let line: Int
    /// Its place in a list; `nil` if it is in none.
    let index: Int?

    var title: String { name.isEmpty ? index.map { "items.\($0)" } ?? "" : name }
    /// What is in front of its keys.
    var prefix: String { index == nil || name.isEmpty ? "" : "\(name)/" }
  }

  private let bytes: UnsafeMutableRawBufferPointer
  private var records = PlainRecords()

  private init(bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

  /// Whether a document is a Secret, or a list with one.
  static func recognizes(_ leaves: [JSONLeaf], in bytes: UnsafeMutableRawBufferPointer) -> Bool {
    leaves.contains { $0.place.depth == 1 && $0.path[0] == .name("apiVersion") }
      && leaves.contains { isSecret($0, in: bytes) }
  }

  /// Whether a value says that the object around it, or all of its list, are Secrets.
  private static func isSecret(_ leaf: JSONLeaf, in bytes: UnsafeMutableRawBufferPointer) -> Bool {
    guard leaf.kind == .text, [1, 3].contains(leaf.place.depth) else { return false }
    let path = leaf.path
    guard path.last == .name("kind"), path.count == 1 || path[0] == .name("items") else { return false }
    return ["Secret", "SecretList"].contains { bytes[leaf.bytes].elementsEqual($0.utf8) }
  }

  /// Whether a text is a Secret in YAML, which is not read.
  static func isYAML(_ bytes: UnsafeMutableRawBufferPointer) -> Bool {
    var text = InputText(bytes)
    text.skip(while: InputText.isSpace)
    guard text.next != UInt8(ascii: "{"), bytes.firstRange(of: Array("apiVersion:".utf8)) != nil,
      let kind = bytes.firstRange(of: Array("kind: Secret".utf8))
    else { return false }
    return kind.upperBound == bytes.count || InputText.isSpace(bytes[kind.upperBound])
  }

  static func records(
    of leaves: [JSONLeaf], in bytes: UnsafeMutableRawBufferPointer
  ) throws(PlainFault) -> PlainRecords {
    var parser = KubernetesParser(bytes: bytes)
    // Those of a SecretList do not say it themselves.
    let areSecrets = leaves.contains { $0.place.depth == 1 && isSecret($0, in: bytes) }
    var places: [Int?: Int] = [:]
    var objects: [Object] = []
    for leaf in GuardedJSONParser.decoded(leaves, in: bytes) {
      let path = leaf.path
      var index: Int?
      if path.count > 2, path[0] == .name("items"), case .index(let number) = path[1] { index = number }
      let place = places[index] ?? objects.count
      if place == objects.count {
        places[index] = place
        objects.append(Object(isSecret: areSecrets, line: leaf.line, index: index))
      }
      parser.add(leaf, path[(index == nil ? 0 : 2)...].map(\.text), to: &objects[place])
    }
    for object in objects { try parser.add(object) }
    return parser.records
  }

  private func add(_ leaf: JSONLeaf, _ path: [String], to object: inout Object) {
    switch (path[0], path.count) {
    case ("data", 2), ("stringData", 2): object.values.append((path[1], path[0] == "stringData", leaf))
    // The array of a list, and what names the form.
    case ("items", 1) where object.index == nil, ("apiVersion", 1): break
    case ("kind", 1): object.isSecret = object.isSecret || Self.isSecret(leaf, in: bytes)
    default:
      if path == ["metadata", "name"] { object.name = PlainRecords.title(leaf.cutName(in: bytes)) }
      if leaf.kind != .null, leaf.kind != .emptyObject { object.left.add(path[0]) }
    }
  }

  private mutating func add(_ object: Object) throws(PlainFault) {
    guard object.isSecret || object.index == nil else {
      return try records.skip(object.title, "no Secret", line: object.line)
    }
    for member in object.left.all {
      try records.skip(object.prefix + member, "no value of a Secret", line: object.line)
    }
    let texts = Set(object.values.compactMap { $0.isText ? $0.key : nil })
    for value in object.values {
      if !value.isText, texts.contains(value.key) {
        try records.skip(object.prefix + value.key, "stringData has the same key", line: value.leaf.line)
      } else {
        try add(object.prefix + value.key, value.leaf, isText: value.isText)
      }
    }
  }

  private mutating func add(_ key: String, _ leaf: JSONLeaf, isText: Bool) throws(PlainFault) {
    guard leaf.kind != .null else { return try records.leave(key, .left("null"), line: leaf.line) }
    guard leaf.kind == .text, let value = isText ? leaf.bytes : DecodedText.goBase64(leaf.bytes, in: bytes) else {
      let reason = isText || leaf.kind != .text ? "a value that is no text" : "a value that is not base64"
      return try records.leave(
        key, .bad(PlainFault(line: leaf.line, name: PlainRecords.shown(key), reason: reason)), line: leaf.line)
    }
    try records.add(key, value, line: leaf.line)
  }
}
