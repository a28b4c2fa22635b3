import FoundationEssentials

/// Limits the values that a file unfolds into, and the values that are written.
package struct ValueBudget {
  /// The deepest nesting for which recursion fits the stack of any thread.
  package static let maximumDepth = 128
  /// The total cost of all values, in bytes. A binary property list can refer to one object many times, so a few
  /// hundred bytes could unfold into terabytes. An XML file of the largest size never costs as much.
  package static let maximumCost = 64 << 20

  private var remaining = maximumCost

  package init() {}

  /// Counts one value with `byteCount` bytes of content, at `depth`; throws `limitExceeded`.
  package mutating func spend(_ byteCount: Int, depth: Int) throws(PreferencesError) {
    guard depth <= Self.maximumDepth else { throw .tooDeep }
    // Any value takes at most 24 bytes in memory, besides its content.
    remaining -= 24 + byteCount
    guard remaining >= 0 else {
      throw PreferencesError(.limitExceeded, "the values take more than \(Self.maximumCost) bytes")
    }
  }

  /// Throws if a file of these values could not be read again.
  package static func check(_ values: [String: PreferenceValue]) throws(PreferencesError) {
    try check(.dictionary(values))
  }

  package static func check(_ value: PreferenceValue) throws(PreferencesError) {
    var budget = ValueBudget()
    try budget.spend(value, depth: 0)
  }

  private mutating func spend(_ value: PreferenceValue, depth: Int) throws(PreferencesError) {
    switch value {
    case .string(let text): try spend(text.utf8.count, depth: depth)
    case .data(let data): try spend(data.count, depth: depth)
    case .array(let items):
      try spend(0, depth: depth)
      for item in items { try spend(item, depth: depth + 1) }
    case .dictionary(let members):
      try spend(0, depth: depth)
      for (key, member) in members {
        try spend(key.utf8.count, depth: depth + 1)
        try spend(member, depth: depth + 1)
      }
    default: try spend(8, depth: depth)
    }
  }
}

extension PreferenceValue {
  /// Whether arrays and dictionaries are nested deeper than any store accepts. Code that recurses into a deeper value,
  /// such as hashing, would overflow the stack.
  var isTooDeep: Bool { isNested(deeperThan: ValueBudget.maximumDepth) }

  private func isNested(deeperThan levels: Int) -> Bool {
    switch self {
    case .array(let items): levels == 0 || items.contains { $0.isNested(deeperThan: levels - 1) }
    case .dictionary(let members): levels == 0 || members.values.contains { $0.isNested(deeperThan: levels - 1) }
    default: false
    }
  }
}

extension PreferencesError {
  /// The error of a value that is nested deeper than any store accepts.
  package static var tooDeep: PreferencesError {
    PreferencesError(.limitExceeded, "nested deeper than \(ValueBudget.maximumDepth) levels")
  }
}
