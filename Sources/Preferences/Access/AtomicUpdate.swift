extension PreferencesStore {
  /// Replaces the value of a declared key by what `change` makes of it. Of several updates at once none is lost.
  ///
  /// `change` gets what the key reads as, runs with no lock held, and is called again when another change came between.
  /// - Throws: what `change` throws, with the old value still there; as
  ///   ``PreferencesReader/value(for:)-(PreferenceKey<Value>)`` and ``set(_:for:)``.
  @discardableResult
  public func update<Value>(
    _ key: PreferenceKey<Value>, _ change: (inout Value) throws -> Void
  ) throws -> WriteOutcome {
    try updating(key) {
      var value = $0
      try change(&value)
      return value
    }.outcome
  }

  func updating<Value>(
    _ key: PreferenceKey<Value>, _ change: (Value) throws -> Value
  ) throws -> (old: Value, new: Value, outcome: WriteOutcome) {
    try PreferenceKeyName.validate(key.name)
    while true {
      let raw = try value(forKey: key.name, as: key.kind, secrecy: routed(key.secrecy))
      let old = try raw.map { try key.decoded($0) } ?? key.defaultValue
      let new = try change(old)
      let outcome = try exchange(
        raw, for: try key.encoded(new), forKey: key.name, as: key.kind, secrecy: key.secrecy)
      if let outcome { return (old, new, outcome) }
    }
  }

  // The rule for stores that do not bring their own: one lock for each store, by its identity. It does not keep out what
  // calls `set`, nor other processes.
  @discardableResult
  public func exchange(
    _ old: PreferenceValue?, for new: PreferenceValue?, forKey key: String, as kind: PreferenceValue.Kind?,
    secrecy: Secrecy
  ) throws -> WriteOutcome? {
    try StoreLock.withLock(of: identity) {
      let stored = try value(forKey: key, as: kind, secrecy: routed(secrecy))
      return try stored.isSame(as: old) ? write(new, forKey: key, secrecy: secrecy) : nil
    }
  }
}

extension PreferenceValue? {
  /// Whether this is that value, or both are absent. Unlike with `==`, NaN is NaN: what an exchange compares by.
  public func isSame(as other: Self) -> Bool { self == other || fingerprint == other.fingerprint }
}
