internal import Preferences

/// A value of a JSON document (RFC 8259) that is imported as one, with its path.
struct JSONLeaf {
  enum LeafKind { case text, number, bool, null, array, emptyObject }

  let place: JSONPosition
  let kind: LeafKind
  /// The text between the quotation marks: as it is written, or as it is meant after
  /// ``GuardedJSONParser/decoded(_:in:keepingArrays:)``. For any other value, its spelling.
  var bytes: Range<Int>
  let line: Int

  /// The names and indices from the top level to the value.
  var path: [JSONPosition.Component] { place.path }

  /// Whether the value is an element of an array, or inside one.
  var isInArray: Bool { path.contains { if case .index = $0 { true } else { false } } }

  /// The text as a name.
  func name(in bytes: UnsafeMutableRawBufferPointer) throws(PlainFault) -> String {
    guard self.bytes.count <= InputText.longestName else {
      throw .limit("a name of more than \(InputText.longestName) bytes", line: line)
    }
    return String(decoding: bytes[self.bytes], as: UTF8.self)
  }

  /// The text as a name, or so much of one that is too long that the key with it is refused, and named.
  func cutName(in bytes: UnsafeMutableRawBufferPointer) -> String {
    String(decoding: bytes[self.bytes.prefix(InputText.longestName + 1)], as: UTF8.self)
  }
}
