public import Preferences

infix operator <| : MultiplicationPrecedence

/// The handle of the plain preference with this name.
public func <| <Value: PreferenceConvertible>(store: any PreferencesStore, name: String) -> Preference<Value> {
  store.preference(name)
}

/// The handle of a declared key with a default.
public func <| <Value>(store: any PreferencesStore, key: PreferenceKey<Value>) -> Preference<Value> {
  store.preference(for: key)
}

/// The handle of a declared key that may be `nil`.
public func <| <Value>(store: any PreferencesStore, key: PreferenceKey<Value?>) -> Preference<Value> {
  store.preference(for: key)
}

extension Preference {
  /// Stores `value` if nothing is stored; a default does not count as stored. `value` is evaluated only then.
  public static func ?= (preference: Self, value: @autoclosure () throws -> Value) throws {
    try preference.setIfAbsent(try value())
  }

  /// The asynchronous form of `preference ?= value`; does not block the calling thread.
  public static func ?= (preference: Self, value: @autoclosure () throws -> Value) async throws {
    try await preference.setIfAbsent(try value())
  }
}
