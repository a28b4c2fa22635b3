/// A value in guarded memory. Composites and views do not open it, so that a secret stays out of ordinary memory.
public protocol GuardedValue: AnyObject, Sendable {
  /// Returns a copy in ordinary memory, which cannot be wiped.
  func value() throws -> PreferenceValue

  /// Returns the kind of the value. The default opens a copy of it.
  func preferenceKind() throws -> PreferenceValue.Kind

  /// Whether both values are the same. The time it takes depends on the lengths alone.
  func isSame(as other: any GuardedValue) throws -> Bool

  /// Feeds the value to a hasher like the same value in ordinary memory: with ``PreferenceValue/hash(_:of:into:)`` for
  /// bytes, ``PreferenceContent/hash(into:)`` for other values.
  func hash(into hasher: inout Hasher)
}

extension GuardedValue {
  public func preferenceKind() throws -> PreferenceValue.Kind { try value().kind }
}

/// A reader that returns secrets in guarded memory: a sealed store, or a reader over one.
///
/// ``CompositePreferences`` and the views of this package conform. A view that does not conform returns secrets as
/// ordinary values, which cannot be wiped.
public protocol GuardingReader: PreferencesReader {
  /// Returns the value of ``PreferencesReader/value(for:)-(PreferenceQuery)`` in guarded memory; `nil` if it is absent.
  func guardedValue(for query: PreferenceQuery) throws -> (any GuardedValue)?
}

/// A value that is read from or written to a store, in ordinary or guarded memory.
public enum PreferenceContent: Sendable {
  /// In ordinary memory.
  case value(PreferenceValue)
  /// In guarded memory.
  case guarded(any GuardedValue)

  /// Returns the value; for guarded memory, a copy that cannot be wiped.
  public func value() throws -> PreferenceValue {
    switch self {
    case .value(let value): value
    case .guarded(let guarded): try guarded.value()
    }
  }

  /// The kind of an ordinary value; `nil` in guarded memory.
  public var kind: PreferenceValue.Kind? { if case .value(let value) = self { value.kind } else { nil } }

  /// Feeds the content to a hasher. Equal contents hash equally, in guarded memory or not; NaN equals NaN.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .value(let value): Optional(value).feed(&hasher)
    case .guarded(let guarded): guarded.hash(into: &hasher)
    }
  }

  func isSame(as other: Self) throws -> Bool {
    if case (.guarded(let a), .guarded(let b)) = (self, other) { return try a.isSame(as: b) }
    return Optional(try value()).isSame(as: try other.value())
  }
}

extension PreferenceContent? {
  /// A hash that is equal for equal contents in this process, in guarded memory or not.
  public var fingerprint: Int {
    var hasher = Hasher()
    self?.hash(into: &hasher)
    return hasher.finalize()
  }

  /// Whether both are the same value, or both absent. Unlike with `==`, NaN is the same as NaN.
  public func isSame(as other: Self) throws -> Bool {
    switch (self, other) {
    case (nil, nil): true
    case (let a?, let b?): try a.isSame(as: b)
    default: false
    }
  }
}

extension PreferenceValue? {
  /// Whether both are the same value, or both absent, as compare-and-set compares: unlike with `==`, NaN is the same as
  /// NaN.
  public func isSame(as other: Self) -> Bool { self == other || fingerprint == other.fingerprint }
}

// Does not print or dump the value.
extension PreferenceContent: CustomStringConvertible, CustomReflectable {
  public var description: String { "<content>" }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
