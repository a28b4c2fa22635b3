/// A value in guarded memory. Layers pass it on without opening it, so that a secret is never a string on its way.
public protocol GuardedValue: AnyObject, Sendable {
  /// The value as a copy in ordinary memory, which cannot be wiped.
  func value() throws -> PreferenceValue

  /// Whether both are the same value. The time it takes depends on the lengths alone.
  func isSame(as other: any GuardedValue) throws -> Bool

  /// Feeds the value to a hasher, in the same way as the equal value in ordinary memory is fed:
  /// ``PreferenceValue/hash(_:of:into:)`` for bytes, ``PreferenceContent/hash(into:)`` for other values.
  func hash(into hasher: inout Hasher)
}

/// A reader that returns secrets in guarded memory: a sealed store, and what passes its values on.
///
/// ``CompositePreferences`` and the views of this package adopt it. Through a view of another package that does not, a
/// secret is an ordinary value, which cannot be wiped.
public protocol GuardingReader: PreferencesReader {
  /// The value that ``PreferencesReader/value(for:)-(PreferenceQuery)`` would return, in guarded memory; nil means absent.
  func guardedValue(for query: PreferenceQuery) throws -> (any GuardedValue)?
}

/// A value on its way to a store, or out of one.
public enum PreferenceContent: Sendable {
  /// In ordinary memory.
  case value(PreferenceValue)
  /// In guarded memory.
  case guarded(any GuardedValue)

  /// The value; of a guarded one a copy that cannot be wiped.
  public func value() throws -> PreferenceValue {
    switch self {
    case .value(let value): value
    case .guarded(let guarded): try guarded.value()
    }
  }

  /// The kind of an ordinary value; `nil` in guarded memory.
  public var kind: PreferenceValue.Kind? { if case .value(let value) = self { value.kind } else { nil } }

  /// Feeds the content to a hasher. Equal contents are fed equally, in guarded memory or not; NaN equals NaN.
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

  /// Whether both are the same value, or both absent. Unlike with `==`, NaN is NaN.
  public func isSame(as other: Self) throws -> Bool {
    switch (self, other) {
    case (nil, nil): true
    case (let a?, let b?): try a.isSame(as: b)
    default: false
    }
  }
}

extension PreferenceValue? {
  /// Whether this is that value, or both are absent. Unlike with `==`, NaN is NaN: what compare-and-set compares by.
  public func isSame(as other: Self) -> Bool { self == other || fingerprint == other.fingerprint }
}

// Neither prints nor dumps what it holds.
extension PreferenceContent: CustomStringConvertible, CustomReflectable {
  public var description: String { "<content>" }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
