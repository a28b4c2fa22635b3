import FoundationEssentials

/// A total order of all values, in which the elements of sets are stored. It must never change.
enum PreferenceValueOrder {
  enum Ordering { case less, equal, greater }

  static func compare(_ a: PreferenceValue, _ b: PreferenceValue) -> Ordering {
    switch (a, b) {
    case (.string(let a), .string(let b)): natural(a, b)
    case (.data(let a), .data(let b)): sequences(a, b, by: natural)
    case (.bool(let a), .bool(let b)): natural(a ? 1 : 0, b ? 1 : 0)
    case (.integer(let a), .integer(let b)): natural(a, b)
    case (.unsignedInteger(let a), .unsignedInteger(let b)): natural(a, b)
    case (.double(let a), .double(let b)): doubles(a, b)
    case (.date(let a), .date(let b)):
      doubles(a.timeIntervalSinceReferenceDate, b.timeIntervalSinceReferenceDate)
    case (.url(let a), .url(let b)): natural(a.absoluteString, b.absoluteString)
    case (.array(let a), .array(let b)): sequences(a, b, by: compare)
    case (.dictionary(let a), .dictionary(let b)):
      sequences(a.sorted { $0.key < $1.key }, b.sorted { $0.key < $1.key }) { a, b in
        let keys = natural(a.key, b.key)
        return keys == .equal ? compare(a.value, b.value) : keys
      }
    default: natural(a.kind.rawValue, b.kind.rawValue)
    }
  }

  private static func natural<C: Comparable>(_ a: C, _ b: C) -> Ordering {
    a < b ? .less : b < a ? .greater : .equal
  }

  /// Compares the bits of NaN, which `<` does not order.
  private static func doubles(_ a: Double, _ b: Double) -> Ordering {
    a.isNaN || b.isNaN ? natural(a.bitPattern, b.bitPattern) : natural(a, b)
  }

  private static func sequences<S: Sequence>(
    _ a: S, _ b: S, by compare: (S.Element, S.Element) -> Ordering
  ) -> Ordering {
    var rest = b.makeIterator()
    for element in a {
      guard let other = rest.next() else { return .greater }
      let ordering = compare(element, other)
      if ordering != .equal { return ordering }
    }
    return rest.next() == nil ? .equal : .less
  }
}
