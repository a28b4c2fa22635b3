extension JSONText {
  /// Returns `new` with what `old` has and no reader returns: its null members, unless `new` has a value of that name,
  /// and its integers beyond 64 bits, where `new` has the same number.
  ///
  /// - Parameter old: parsed with foreign values kept.
  static func restoring(
    _ old: [String: PreferenceValue], in new: [String: PreferenceValue]
  ) -> [String: PreferenceValue] {
    var restored = new
    for (name, before) in old {
      if let after = new[name] {
        restored[name] = restoring(before, in: after)
      } else if before == foreign("null") {
        restored[name] = before
      }
    }
    return restored
  }

  private static func restoring(_ old: PreferenceValue, in new: PreferenceValue) -> PreferenceValue {
    switch (old, new) {
    case (_, .double(let number)):
      guard case .data = old, let text = text(of: old), Double(text) == number else { return new }
      return old
    case (.dictionary(let before), .dictionary(let after)): return .dictionary(restoring(before, in: after))
    case (.array(let before), .array(let after)) where before.count == after.count:
      return .array(zip(before, after).map { restoring($0, in: $1) })
    default: return new
    }
  }
}
