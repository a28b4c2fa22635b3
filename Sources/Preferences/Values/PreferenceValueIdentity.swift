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
      a.count == b.count && a.allSatisfy { key, value in b[key]?.isIdentical(to: value) ?? false }
    default: self == other
    }
  }
}
