internal import Preferences

/// The scalars of a JSON document (RFC 8259), with their paths.
struct JSONLeaf {
  enum ScalarKind { case text, number, bool, null }

  let place: JSONPlace
  let kind: ScalarKind
  /// The decoded text, or the spelling of a number or bool.
  let bytes: Range<Int>
  let line: Int

  /// The names and indices from the top level to the value.
  var path: [JSONPlace.Component] { place.path }

  /// The text as a name.
  func name(in bytes: UnsafeMutableRawBufferPointer) throws(PreferencesError) -> String {
    guard self.bytes.count <= SourceText.longestName else {
      throw .limit("a name of more than \(SourceText.longestName) bytes", line: line)
    }
    return String(decoding: bytes[self.bytes], as: UTF8.self)
  }
}
