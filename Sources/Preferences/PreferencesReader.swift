/// A source of preferences, such as a layer or a composite of layers.
///
/// An absent value is nil, and a failure is thrown. Reads may come from any thread.
public protocol PreferencesReader: Sendable {
  /// The name of this reader in explanations and errors, such as `environment SHOP_*`.
  var name: String { get }

  /// Which values the reader holds: plain ones by default. It never changes.
  var custody: Custody { get }

  /// The value that is stored under the query's name, with the type it was stored with.
  ///
  /// Nil means only that the value is absent. Layers that hold text parse it as the query's kind; others ignore the kind and
  /// return what they have. Call ``PreferencesReader/lookUp(_:)``, which looks up no secret in a reader of plain values.
  /// - Throws: ``PreferencesError/Code/typeMismatch`` when text does not parse, and what keeps the reader from reading.
  func value(for query: PreferenceQuery) throws -> PreferenceValue?

  /// The names that have a value of that secrecy, without duplicates. It is called only for values that ``custody`` holds, so
  /// a reader of one kind can ignore `secrecy`.
  func names(of secrecy: Secrecy) throws -> [PreferenceName]

  /// Calls `notify` when values may have changed, until the observation ends; see ``ChangeBroadcast``. A reader that never
  /// changes, or cannot know, does not implement this.
  func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation
}

extension PreferencesReader {
  public var custody: Custody { .plain }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation { .none }
}

// MARK: Looking up

extension PreferencesReader {
  /// The value that `query` finds; nil when absent, and for a secret in a reader that holds none.
  public func lookUp(_ query: PreferenceQuery) throws -> PreferenceValue? {
    if query.secrecy == .secret, !custody.holdsSecrets { return nil }
    return try value(for: query)
  }

  /// As ``lookUp(_:)``, with a secret in guarded memory where the reader has it there.
  public func content(for query: PreferenceQuery) throws -> PreferenceContent? {
    let custody = custody
    guard custody.secrecy(of: query.name, asked: query.secrecy) == .secret else {
      return try value(for: query).map(PreferenceContent.value)
    }
    guard custody.holdsSecrets else { return nil }
    if let reader = self as? any GuardingReader {
      return try reader.guardedValue(for: query).map(PreferenceContent.guarded)
    }
    return try value(for: query).map(PreferenceContent.value)
  }

  /// The value that is stored under `key`, with the type it was stored with; nil when absent.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey`` for a name against the rule, and what keeps the reader from reading.
  public func value(forKey key: String) throws -> PreferenceValue? { try value(for: try PreferenceQuery(key)) }

  /// The value that is stored under `key`, where the caller wants one of `kind`; nil when absent.
  ///
  /// - Throws: as ``value(forKey:)-(String)``, and ``PreferencesError/Code/typeMismatch`` when text does not parse.
  public func value(forKey key: String, as kind: PreferenceValue.Kind) throws -> PreferenceValue? {
    try value(for: try PreferenceQuery(key, as: kind))
  }

  /// The names that have a value, plain ones first, without duplicates.
  public func keys() throws -> [String] {
    let custody = custody
    // First, so that a failing sealed layer ends the call before plain layers are read.
    let secrets = custody.holdsSecrets ? try names(of: .secret) : []
    guard custody.holdsPlain else { return secrets.map(\.text) }
    let plain = try names(of: .plain)
    guard !secrets.isEmpty else { return plain.map(\.text) }
    let seen = Set(plain)
    return (plain + secrets.filter { !seen.contains($0) }).map(\.text)
  }

  /// Whether `key` has a value, of whatever kind.
  public func contains(_ key: String) throws -> Bool { try content(for: try PreferenceQuery(key)) != nil }
}

/// The typed getters: nil means absent, another kind throws `typeMismatch` with the kinds but not the value.
extension PreferencesReader {
  /// The value of a declared key, or its default when it is absent.
  ///
  /// - Throws: ``PreferencesError/Code/typeMismatch`` or ``PreferencesError/Code/outOfRange`` when what is
  ///   stored is not a `Value`, never the default in its place.
  public func value<Value>(for key: PreferenceKey<Value>) throws -> Value {
    guard let content = try content(of: key.untyped) else { return key.makeDefault() }
    guard case .value(let value) = content else { return try key.decoded(content) }
    // Not `decoded`: see ``UntypedKey``.
    do { return try key.decode(value) } catch { throw error.about(key: key.untyped.name) }
  }

  /// The value of a declared key as it is stored; nil when it is absent, whatever the key's default.
  ///
  /// - Throws: as ``value(for:)-(PreferenceKey<Value>)``.
  public func storedValue<Value>(for key: PreferenceKey<Value>) throws -> Value? {
    guard let content = try content(of: key.untyped) else { return nil }
    return try key.decoded(content)
  }

  /// What is stored under a declared key, in guarded memory only if the key's type stays there.
  private func content(of key: UntypedKey) throws -> PreferenceContent? {
    let query = try key.query()
    return key.isGuarded ? try content(for: query) : try lookUp(query).map(PreferenceContent.value)
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
