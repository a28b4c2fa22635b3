/// A source of preferences, such as a layer or a composite of layers.
///
/// An absent value is `nil`, and a failure is thrown. Reads can be made on any thread.
public protocol PreferencesReader: Sendable {
  /// The name of this reader in explanations and errors, such as `environment SHOP_*`.
  var name: String { get }

  /// Which values the reader holds; plain ones by default. It must not change, unless it is ``Custody/replaceable``.
  var custody: Custody { get }

  /// Returns the value for `query`, with the type it was stored with; `nil` only if it is absent.
  ///
  /// Text-backed layers parse their text as the query's kind; others ignore the kind. Call
  /// ``PreferencesReader/lookUp(_:)`` instead, which looks up no secret in a reader of plain values.
  /// - Throws: ``PreferencesError/Code/typeMismatch`` if text does not parse, and any error of the reader.
  func value(for query: PreferenceQuery) throws -> PreferenceValue?

  /// The names that have a value of this secrecy, without duplicates. Called only for values that ``custody`` holds, so
  /// a reader that holds only plain values, or only secrets, can ignore `secrecy`.
  func names(of secrecy: Secrecy) throws -> [PreferenceName]

  /// Calls `notify` when values may have changed, until the observation ends; see ``ChangeBroadcast``. A reader that
  /// never changes, or cannot detect changes, does not implement this.
  func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation
}

extension PreferencesReader {
  public var custody: Custody { .plain }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation { .none }
}

// MARK: Looking up

extension PreferencesReader {
  /// Returns the value for `query`; `nil` if it is absent, or is a secret and the reader holds none.
  public func lookUp(_ query: PreferenceQuery) throws -> PreferenceValue? {
    if query.secrecy == .secret, !custody.holds(.secret) { return nil }
    return try value(for: query)
  }

  /// As ``lookUp(_:)``, but returns a secret in guarded memory if the reader has it there.
  public func content(for query: PreferenceQuery) throws -> PreferenceContent? {
    let custody = custody
    guard custody.secrecy(of: query.name, asked: query.secrecy) == .secret else {
      return try value(for: query).map(PreferenceContent.value)
    }
    guard custody.holds(.secret) else { return nil }
    if let reader = self as? any GuardingReader {
      return try reader.guardedValue(for: query).map(PreferenceContent.guarded)
    }
    return try value(for: query).map(PreferenceContent.value)
  }

  /// Returns the value under `key`, with the type it was stored with; `nil` if it is absent.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey``, and any error of the reader.
  public func value(forKey key: String) throws -> PreferenceValue? { try value(for: try PreferenceQuery(key)) }

  /// The names that have a value, plain ones first, without duplicates.
  public func keys() throws -> [String] {
    let custody = custody
    // First, so that a failing sealed layer ends the call before plain layers are read.
    let secrets = custody.holds(.secret) ? try names(of: .secret) : []
    guard custody.holds(.plain) else { return secrets.map(\.text) }
    let plain = try names(of: .plain)
    guard !secrets.isEmpty else { return plain.map(\.text) }
    let seen = Set(plain)
    return (plain + secrets.filter { !seen.contains($0) }).map(\.text)
  }

  /// Whether `key` has a value of any kind.
  public func contains(_ key: String) throws -> Bool { try content(for: try PreferenceQuery(key)) != nil }
}

extension PreferencesReader {
  /// Returns the value of a declared key; its default if it is absent.
  ///
  /// - Throws: ``PreferencesError/Code/typeMismatch`` or ``PreferencesError/Code/outOfRange`` if the stored value is
  ///   not a `Value`; never returns the default in its place.
  public func value<Value>(for key: PreferenceKey<Value>) throws -> Value {
    guard let content = try content(of: key.untyped) else { return key.makeDefault() }
    guard case .value(let value) = content else { return try key.decoded(content) }
    // Not `decoded`: see ``UntypedKey``.
    do { return try key.decode(value) } catch { throw conversionError(error, of: key.untyped) }
  }

  /// Returns the stored value of a declared key; `nil` if it is absent. The default is not used.
  ///
  /// - Throws: as ``value(for:)-(PreferenceKey<Value>)``.
  public func storedValue<Value>(for key: PreferenceKey<Value>) throws -> Value? {
    guard let content = try content(of: key.untyped) else { return nil }
    return try key.decoded(content, of: self)
  }

  fileprivate func conversionError(_ error: PreferencesError, of key: UntypedKey) -> PreferencesError {
    let isSecret: Bool
    // A name that is not valid has no value, but its caller may have one.
    do { isSecret = custody.secrecy(of: try key.checkedName(), asked: key.secrecy) == .secret } catch {
      isSecret = true
    }
    return (isSecret ? error.withoutValues : error).about(key: key.name)
  }

  /// The content of a declared key, in guarded memory only if the key's values stay there.
  private func content(of key: UntypedKey) throws -> PreferenceContent? {
    let query = try key.query()
    return key.isGuarded ? try content(for: query) : try lookUp(query).map(PreferenceContent.value)
  }
}

extension PreferenceKey {
  /// Converts content of `reader` to the type of the key.
  ///
  /// - Throws: what the key's conversion throws, with the key's name; for a secret, without anything of the value.
  package func decoded(_ content: PreferenceContent, of reader: any PreferencesReader) throws -> Value {
    guard case .value(let value) = content else { return try decoded(content) }
    do { return try decode(value) } catch { throw reader.conversionError(error, of: untyped) }
  }

  /// Converts a value for storing in `reader`. Throws as ``decoded(_:of:)``.
  package func encoded(
    _ value: Value, for reader: any PreferencesReader
  ) throws(PreferencesError) -> PreferenceContent? {
    do { return try unnamedContent(of: value) } catch { throw reader.conversionError(error, of: untyped) }
  }
}

// A reader that conforms prints as its name, and `dump` does not show its values.
extension PreferencesReader where Self: CustomStringConvertible {
  /// The name, on one line.
  public var description: String { escapedForDisplay(name) }
}

extension PreferencesReader where Self: CustomReflectable {
  /// Shows nothing.
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
