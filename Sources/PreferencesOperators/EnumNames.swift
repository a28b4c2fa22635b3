public import Preferences

// Names declared as the cases of an enum, `enum Name: String { case port = "server.port" }`, in place of strings.

public import FoundationEssentials

extension PreferencesReader {
  /// The value under the raw name of `name`, of any kind; `nil` if it is absent.
  public func value(forKey name: some RawRepresentable<String>) throws -> PreferenceValue? {
    try value(forKey: name.rawValue)
  }

  /// The value under the raw name of `name` as a `Value`; `nil` if it is absent.
  public func value<Value: PreferenceConvertible>(
    forKey name: some RawRepresentable<String>, as type: Value.Type
  ) throws -> Value? {
    try value(forKey: name.rawValue, as: type)
  }

  /// The string under the raw name of `name`; `nil` if it is absent.
  public func string(forKey name: some RawRepresentable<String>) throws -> String? {
    try string(forKey: name.rawValue)
  }

  /// The data under the raw name of `name`; `nil` if it is absent.
  public func data(forKey name: some RawRepresentable<String>) throws -> Data? { try data(forKey: name.rawValue) }

  /// The boolean under the raw name of `name`; `nil` if it is absent.
  public func bool(forKey name: some RawRepresentable<String>) throws -> Bool? { try bool(forKey: name.rawValue) }

  /// The integer under the raw name of `name`; `nil` if it is absent.
  public func integer(forKey name: some RawRepresentable<String>) throws -> Int? {
    try integer(forKey: name.rawValue)
  }

  /// The floating-point number under the raw name of `name`; `nil` if it is absent.
  public func double(forKey name: some RawRepresentable<String>) throws -> Double? {
    try double(forKey: name.rawValue)
  }

  /// The floating-point number under the raw name of `name`, rounded to a float; `nil` if it is absent.
  public func float(forKey name: some RawRepresentable<String>) throws -> Float? { try float(forKey: name.rawValue) }

  /// The date under the raw name of `name`; `nil` if it is absent.
  public func date(forKey name: some RawRepresentable<String>) throws -> Date? { try date(forKey: name.rawValue) }

  /// The URL under the raw name of `name`; `nil` if it is absent.
  public func url(forKey name: some RawRepresentable<String>) throws -> URL? { try url(forKey: name.rawValue) }

  /// The array under the raw name of `name`; `nil` if it is absent.
  public func array(forKey name: some RawRepresentable<String>) throws -> [PreferenceValue]? {
    try array(forKey: name.rawValue)
  }

  /// The array of strings under the raw name of `name`; `nil` if it is absent.
  public func stringArray(forKey name: some RawRepresentable<String>) throws -> [String]? {
    try stringArray(forKey: name.rawValue)
  }

  /// The dictionary under the raw name of `name`; `nil` if it is absent.
  public func dictionary(forKey name: some RawRepresentable<String>) throws -> [String: PreferenceValue]? {
    try dictionary(forKey: name.rawValue)
  }

  /// Whether the raw name of `name` has a value, of any kind.
  public func contains(_ name: some RawRepresentable<String>) throws -> Bool { try contains(name.rawValue) }

  /// The value under the raw name of `name`, as with a string.
  public subscript<Name: RawRepresentable<String>>(name: Name) -> PreferenceValue? { self[name.rawValue] }

  /// The value under the raw name of `name` as the type that the context requires, as with a string.
  public subscript<Name: RawRepresentable<String>, Value: PreferenceConvertible>(name: Name) -> Value? {
    self[name.rawValue]
  }
}

extension PreferencesStore {
  /// Stores `value` under the raw name of `name`.
  @discardableResult
  public func set(_ value: PreferenceValue, forKey name: some RawRepresentable<String>) throws -> WriteOutcome {
    try set(value, forKey: name.rawValue)
  }

  /// Stores `value` under the raw name of `name`.
  @discardableResult
  public func set(
    _ value: some PreferenceConvertible, forKey name: some RawRepresentable<String>
  ) throws -> WriteOutcome {
    try set(value, forKey: name.rawValue)
  }

  /// The asynchronous form of `set(_:forKey:)`; does not block the calling thread.
  @discardableResult
  public func set(
    _ value: PreferenceValue, forKey name: some RawRepresentable<String>
  ) async throws -> WriteOutcome {
    try await set(value, forKey: name.rawValue)
  }

  /// The asynchronous form of `set(_:forKey:)`; does not block the calling thread.
  @discardableResult
  public func set(
    _ value: some PreferenceConvertible, forKey name: some RawRepresentable<String>
  ) async throws -> WriteOutcome {
    try await set(value, forKey: name.rawValue)
  }

  /// Removes the value under the raw name of `name`.
  @discardableResult
  public func removeValue(forKey name: some RawRepresentable<String>) throws -> WriteOutcome {
    try removeValue(forKey: name.rawValue)
  }

  /// The asynchronous form of `removeValue(forKey:)`; does not block the calling thread.
  @discardableResult
  public func removeValue(forKey name: some RawRepresentable<String>) async throws -> WriteOutcome {
    try await removeValue(forKey: name.rawValue)
  }

  /// The value under the raw name of `name`, as with a string.
  public subscript<Name: RawRepresentable<String>>(name: Name) -> PreferenceValue? {
    get { self[name.rawValue] }
    @available(*, noasync, message: "a subscript may block: await a method such as set(_:forKey:)")
    nonmutating set { self[name.rawValue] = newValue }
    nonmutating _modify { yield &self[name.rawValue] }
  }

  /// The value under the raw name of `name` as the type that the context requires, as with a string.
  public subscript<Name: RawRepresentable<String>, Value: PreferenceConvertible>(name: Name) -> Value? {
    get { self[name.rawValue] }
    @available(*, noasync, message: "a subscript may block: await a method such as set(_:forKey:)")
    nonmutating set { self[name.rawValue] = newValue }
    nonmutating _modify { yield &self[name.rawValue] }
  }

  /// The handle of the plain preference with the raw name of `name`.
  public func preference<Value: PreferenceConvertible>(
    _ name: some RawRepresentable<String>, as type: Value.Type = Value.self
  ) -> Preference<Value> {
    preference(name.rawValue)
  }
}

extension PreferenceMembers {
  /// The value under the raw name of `name`, as a member.
  public subscript(name: some RawRepresentable<String>) -> PreferenceValue? { self[dynamicMember: name.rawValue] }
}

extension PreferenceMembers where Base: PreferencesStore {
  /// The value under the raw name of `name`, as a member; setting `nil` removes it.
  public subscript(name: some RawRepresentable<String>) -> PreferenceValue? {
    get { self[dynamicMember: name.rawValue] }
    @available(*, noasync, message: "a subscript may block: await a method such as set(_:forKey:)")
    nonmutating set { self[dynamicMember: name.rawValue] = newValue }
    nonmutating _modify { yield &self[dynamicMember: name.rawValue] }
  }
}

extension PreferenceKey where Value: PreferenceConvertible {
  /// Creates a key under the raw name of `name` that reads as `defaultValue` while it is not set.
  public init(_ name: some RawRepresentable<String>, default defaultValue: Value) {
    self.init(name.rawValue, default: defaultValue)
  }
}

extension PreferenceKey {
  /// Creates a key under the raw name of `name` that reads as `nil` while it is not set.
  public init<Wrapped: PreferenceConvertible>(_ name: some RawRepresentable<String>) where Value == Wrapped? {
    self.init(name.rawValue)
  }
}

extension StoredPreference {
  /// Wraps the raw name of `name`; reads as the property's initial value while nothing is stored.
  public init(
    wrappedValue: Value, _ name: some RawRepresentable<String>, in store: any PreferencesStore = SharedPreferences()
  ) where Value: PreferenceConvertible {
    self.init(wrappedValue: wrappedValue, name.rawValue, in: store)
  }

  /// Wraps the raw name of `name`; reads as `nil` while nothing is stored.
  public init<Wrapped: PreferenceConvertible>(
    _ name: some RawRepresentable<String>, in store: any PreferencesStore = SharedPreferences()
  ) where Value == Wrapped? {
    self.init(name.rawValue, in: store)
  }
}

extension ReadPreference {
  /// Wraps the raw name of `name`; reads as `nil` while there is no value.
  public init<Wrapped: PreferenceConvertible>(
    _ name: some RawRepresentable<String>, in reader: any PreferencesReader = SharedPreferences()
  ) where Value == Wrapped? {
    self.init(name.rawValue, in: reader)
  }
}

/// The handle of the plain preference with the raw name of `name`.
public func <| <Value: PreferenceConvertible>(
  store: any PreferencesStore, name: some RawRepresentable<String>
) -> Preference<Value> {
  store <| name.rawValue
}

/// Stores all of `values` under their raw names, replacing existing values.
@available(*, noasync, message: "the operator may block: await the one that takes strings")
public func += <Name: RawRepresentable<String>>(
  store: any PreferencesStore, values: [Name: PreferenceValue]
) throws {
  try store += byRawName(values)
}

/// Stores each of `values` whose raw name has no value yet.
@available(*, noasync, message: "the operator may block: await the one that takes strings")
public func ?= <Name: RawRepresentable<String>>(
  store: any PreferencesStore, values: [Name: PreferenceValue]
) throws {
  try store ?= byRawName(values)
}

/// Removes the value under the raw name of `name`.
@available(*, noasync, message: "the operator may block: await the one that takes strings")
public func -= (store: any PreferencesStore, name: some RawRepresentable<String>) throws {
  try store -= name.rawValue
}

/// Removes the values under the raw names of `names`.
@available(*, noasync, message: "the operator may block: await the one that takes strings")
public func -= <Name: RawRepresentable<String>>(store: any PreferencesStore, names: some Sequence<Name>) throws {
  try store -= names.map(\.rawValue)
}

// An enum with a custom conformance may return the same raw name for two cases.
private func byRawName<Name: RawRepresentable<String>>(
  _ values: [Name: PreferenceValue]
) -> [String: PreferenceValue] {
  Dictionary(values.map { ($0.key.rawValue, $0.value) }, uniquingKeysWith: { _, last in last })
}
