import FoundationEssentials

/// How much a file may still unfold into while it is read, and what is written may amount to.
package struct ValueBudget {
  /// Arrays and dictionaries inside each other; keeps recursion away from the end of any thread's stack.
  static let maximumDepth = 128
  /// What all values may cost together. A binary property list can refer to one object many times, and a few hundred
  /// bytes then unfold into terabytes. An XML file within the bound on files never costs as much as this.
  static let maximumCost = 64 << 20

  private var remaining = maximumCost

  package init() {}

  /// Pays for one value with `byteCount` bytes of its own, at `depth`.
  package mutating func spend(_ byteCount: Int, depth: Int) throws(PreferencesError) {
    guard depth <= Self.maximumDepth else {
      throw PreferencesError(.limitExceeded, "nested deeper than \(Self.maximumDepth) levels")
    }
    // A value in memory takes 24 bytes or less, whatever it is.
    remaining -= 24 + byteCount
    guard remaining >= 0 else {
      throw PreferencesError(.limitExceeded, "the values take more than \(Self.maximumCost) bytes")
    }
  }

  /// Returns when a file of these values can be read again.
  static func check(_ values: [String: PreferenceValue]) throws(PreferencesError) {
    var budget = ValueBudget()
    try budget.spend(.dictionary(values), depth: 0)
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
