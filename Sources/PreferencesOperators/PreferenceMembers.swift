public import Preferences

/// The plain values of a reader as members: `preferences.members.port`.
///
/// Any name compiles. Members reach plain values and, in a composite, secrets whose names a sealed layer claims. On a
/// reader that holds no plain values, such as a sealed store, every member fails. A member is a whole key;
/// `preferences.below("server.").members.port` reaches `server.port`.
///
/// Failures are reported to `PreferenceFailures` and read as `nil`. A change in place of a value that cannot be read
/// writes nothing.
@dynamicMemberLookup
public struct PreferenceMembers<Base: PreferencesReader>: Sendable {
  let base: Base

  private func plain<R>(_ body: () throws -> R) throws -> R {
    guard base.custody.holds(.plain) else {
      throw PreferencesError(.unavailable, "\"\(base.name)\" is sealed: members reach plain values only")
    }
    return try body()
  }

  private func read<Value: PreferenceConvertible>(_ key: String, as type: Value.Type) -> Value? {
    change(key, as: type).value
  }

  private func change<Value: PreferenceConvertible>(_ key: String, as type: Value.Type) -> ChangeInPlace<Value?> {
    ChangeInPlace(of: key, in: base.name, or: nil) {
      try plain { try base.value(for: PreferenceKey<Value?>(key)) }
    }
  }
}

extension PreferenceMembers {
  /// The value under the member's name; `nil` if it is absent.
  public subscript(dynamicMember key: String) -> PreferenceValue? { read(key, as: PreferenceValue.self) }

  /// The value under the member's name as the type that the context requires; `nil` if it is absent.
  public subscript<Value: PreferenceConvertible>(dynamicMember key: String) -> Value? { read(key, as: Value.self) }
}

extension PreferenceMembers where Base: PreferencesStore {
  /// The value under the member's name; setting `nil` removes it. A write that a higher layer hides is done and
  /// reported to `PreferenceFailures` as `PreferencesError.Code.shadowed`.
  public subscript(dynamicMember key: String) -> PreferenceValue? {
    get { read(key, as: PreferenceValue.self) }
    @available(*, noasync, message: "a member may block: await a method such as set(_:forKey:)")
    nonmutating set {
      PreferenceFailures.writing(key, in: base.name) {
        try plain { try base.set(newValue, for: PreferenceKey<PreferenceValue?>(key)) }
      }
    }
    nonmutating _modify {
      var change = change(key, as: PreferenceValue.self)
      defer { change.finish { self[dynamicMember: key] = $0 } }
      yield &change.value
    }
  }

  /// The value under the member's name as the type that the context requires; setting `nil` removes it.
  public subscript<Value: PreferenceConvertible>(dynamicMember key: String) -> Value? {
    get { read(key, as: Value.self) }
    @available(*, noasync, message: "a member may block: await a method such as set(_:forKey:)")
    nonmutating set { self[dynamicMember: key] = newValue?.preferenceValue }
    nonmutating _modify {
      var change = change(key, as: Value.self)
      defer { change.finish { self[dynamicMember: key] = $0 } }
      yield &change.value
    }
  }
}

extension PreferencesReader {
  /// The plain values as members.
  public var members: PreferenceMembers<Self> { PreferenceMembers(base: self) }
}
