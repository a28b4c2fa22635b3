public import FoundationEssentials

/// Something that can be asked for preferences: a layer, or several behind one face.
///
/// Absent is nil, failed is thrown; the two never share an answer. Reads may come from any thread.
public protocol PreferencesReader: Sendable {
  /// What explanations and errors call this reader, such as `environment SHOP_*`.
  var name: String { get }

  /// Whether values are sealed where they are kept, so that dumps and merged dictionaries redact them.
  ///
  /// False unless a reader says otherwise.
  var isSealed: Bool { get }

  /// The value that is stored under `key`, with the type it was stored with.
  ///
  /// Nil means absent and nothing else.
  /// - Throws: ``PreferencesError/Code/invalidKey`` for a name against the rule, and whatever keeps the
  ///   reader from knowing.
  func value(forKey key: String) throws -> PreferenceValue?

  /// The value that is stored under `key`, where the caller wants one of `kind`.
  ///
  /// Layers that hold only text parse it here; others ignore the wish and return what they have, which the
  /// caller's conversion then judges. Nil means absent.
  /// - Throws: as ``value(forKey:)``, and ``PreferencesError/Code/typeMismatch`` when text does not parse.
  func value(forKey key: String, as kind: PreferenceValue.Kind) throws -> PreferenceValue?

  /// The keys that have a value, without duplicates.
  func keys() throws -> [String]

  /// Which store this is: equal for two that read and write the same values.
  var identity: StoreIdentity { get }

  /// Whether several readers stand behind this one, of which each answers for what its sealing allows. False unless a
  /// reader says otherwise.
  var isLayered: Bool { get }

  /// As ``value(forKey:as:)`` for a layer of a composite: nil as well where a key of that secrecy is not to be answered.
  ///
  /// - Parameter kind: what the caller wants; nil for whatever is stored.
  func value(
    forKey key: String, as kind: PreferenceValue.Kind?, secrecy: Secrecy
  ) throws -> PreferenceValue?

  /// Calls `notify` when values may have changed, until the observation ends; see ``ChangeBroadcast``. A reader that
  /// never changes, or cannot know, tells nothing.
  func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation

  /// Is told of failures that a caller has no other way to learn: in subscripts, wrappers and updates, which cannot throw.
  /// Tells ``PreferenceFailures`` unless a reader does something else.
  func handleFailure(_ error: any Error, key: String)
}

extension PreferencesReader {
  public var isSealed: Bool { false }
  public var isLayered: Bool { false }

  /// Of a reader without an object of its own: its type and name.
  public var identity: StoreIdentity { StoreIdentity(Self.self, name: name) }

  public func value(forKey key: String, as kind: PreferenceValue.Kind) throws -> PreferenceValue? {
    try value(forKey: key)
  }

  public func value(
    forKey key: String, as kind: PreferenceValue.Kind?, secrecy: Secrecy
  ) throws -> PreferenceValue? {
    guard secrecy.admits(sealed: isSealed) else { return nil }
    return try kind.map { try value(forKey: key, as: $0) } ?? value(forKey: key)
  }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation { .none }

  public func handleFailure(_ error: any Error, key: String) { PreferenceFailures.tell(error, key: key, reader: name) }
}

extension PreferencesReader where Self: AnyObject {
  /// The object itself.
  public var identity: StoreIdentity { StoreIdentity(self) }
}

/// The typed getters: nil means absent, another kind throws `typeMismatch` with the kinds but not the value.
extension PreferencesReader {
  /// The value of a declared key, or its default when it is absent.
  ///
  /// - Throws: ``PreferencesError/Code/typeMismatch`` or ``PreferencesError/Code/outOfRange`` when what is
  ///   stored is not a `Value`, never the default in its place.
  public func value<Value>(for key: PreferenceKey<Value>) throws -> Value {
    try storedValue(for: key) ?? key.defaultValue
  }

  /// The value of a declared key as it is stored; nil when it is absent, whatever the key's default.
  ///
  /// - Throws: as ``value(for:)-(PreferenceKey<Value>)``.
  public func storedValue<Value>(for key: PreferenceKey<Value>) throws -> Value? {
    try PreferenceKeyName.validate(key.name)
    guard let value = try value(forKey: key.name, as: key.kind, secrecy: routed(key.secrecy)) else { return nil }
    return try key.decoded(value)
  }

  /// What a key's secrecy means for this reader. Who asks one store by itself has chosen it: a sealed one answers for
  /// plain keys, too. A plain one never answers for secret keys.
  package func routed(_ secrecy: Secrecy) -> Secrecy { isLayered || secrecy == .secret ? secrecy : .any }

  /// The string under `key`; nil when absent.
  public func string(forKey key: String) throws -> String? { try value(for: PreferenceKey(key).allowingSealed()) }

  /// The data under `key`; nil when absent.
  public func data(forKey key: String) throws -> Data? { try value(for: PreferenceKey(key).allowingSealed()) }

  /// The boolean under `key`; nil when absent.
  public func bool(forKey key: String) throws -> Bool? { try value(for: PreferenceKey(key).allowingSealed()) }

  /// The integer under `key`, of either integer kind; nil when absent. One beyond `Int` throws `outOfRange`.
  public func integer(forKey key: String) throws -> Int? { try value(for: PreferenceKey(key).allowingSealed()) }

  /// The floating-point number under `key`; nil when absent.
  public func double(forKey key: String) throws -> Double? { try value(for: PreferenceKey(key).allowingSealed()) }

  /// The date under `key`; nil when absent.
  public func date(forKey key: String) throws -> Date? { try value(for: PreferenceKey(key).allowingSealed()) }

  /// The URL under `key`; nil when absent.
  public func url(forKey key: String) throws -> URL? { try value(for: PreferenceKey(key).allowingSealed()) }

  /// Whether `key` has a value, of whatever kind.
  public func contains(_ key: String) throws -> Bool {
    try PreferenceKeyName.validate(key)
    return try value(forKey: key) != nil
  }
}

// A reader that conforms to these prints as its name, and not even `dump` shows its values.
extension PreferencesReader where Self: CustomStringConvertible {
  /// The name, on one line.
  public var description: String { escapedForDisplay(name) }
}

extension PreferencesReader where Self: CustomReflectable {
  /// Shows nothing.
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
