import FoundationEssentials

extension PreferenceValue {
  /// Whether both are the same in a file. Unlike `==`, distinguishes -0 from 0 and composed from decomposed accents,
  /// and NaN is identical to itself.
  package func isIdentical(to other: PreferenceValue) -> Bool {
    switch (self, other) {
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.url(let a), .url(let b)): a.absoluteString.utf8.elementsEqual(b.absoluteString.utf8)
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
    case (.array(let a), .array(let b)): a.elementsEqual(b) { $0.isIdentical(to: $1) }
    case (.dictionary(let a), .dictionary(let b)):
      a.count == b.count && a.allSatisfy { name, value in b[spelled: name]?.isIdentical(to: value) ?? false }
    default: self == other
    }
  }
}

extension [String: PreferenceValue] {
  /// The value whose name has the same bytes. A dictionary also finds a name that is equal and has different bytes,
  /// such as with composed and decomposed accents.
  subscript(spelled name: String) -> PreferenceValue? {
    guard let index = index(forKey: name), self[index].key.utf8.elementsEqual(name.utf8) else { return nil }
    return self[index].value
  }

  /// The spelling of a name that is equal and has different bytes.
  func otherSpelling(of name: String) -> String? {
    guard let index = index(forKey: name), !self[index].key.utf8.elementsEqual(name.utf8) else { return nil }
    return self[index].key
  }
}
