/// A reader under other names: keys are translated on the way in and back on the way out.
public struct MappedPreferences<Base: PreferencesReader>: PreferencesReader {
  /// The reader underneath.
  public let base: Base
  private let toBase: [String: String]
  private let fromBase: [String: String]

  /// - Parameter names: what a key is called underneath. Two keys never mean one value.
  /// - Throws: ``PreferencesError/Code/invalidKey`` when two are called the same underneath.
  init(_ base: Base, names: [String: String]) throws(PreferencesError) {
    var fromBase: [String: String] = [:]
    for (key, other) in names {
      try PreferenceKeyName.validate(key)
      try PreferenceKeyName.validate(other)
      guard fromBase.updateValue(key, forKey: other) == nil else {
        throw PreferencesError(.invalidKey, "two keys are called \"\(other)\" underneath")
      }
    }
    (self.base, toBase, self.fromBase) = (base, names, fromBase)
  }

  public var name: String { base.name }
  public var isSealed: Bool { base.isSealed }
  public var isLayered: Bool { base.isLayered }

  public var identity: StoreIdentity {
    let names = toBase.sorted { $0.key < $1.key }.map { "\($0.key)\u{0}\($0.value)" }.joined(separator: "\u{0}\u{0}")
    return StoreIdentity(Self.self, name: names, over: [base.identity])
  }

  public func value(forKey key: String) throws -> PreferenceValue? {
    guard let other = try translated(key) else { return nil }
    return try base.value(forKey: other)
  }

  public func value(forKey key: String, as kind: PreferenceValue.Kind) throws -> PreferenceValue? {
    guard let other = try translated(key) else { return nil }
    return try base.value(forKey: other, as: kind)
  }

  public func value(
    forKey key: String, as kind: PreferenceValue.Kind?, secrecy: Secrecy
  ) throws -> PreferenceValue? {
    guard let other = try translated(key) else { return nil }
    return try base.value(forKey: other, as: kind, secrecy: secrecy)
  }

  public func keys() throws -> [String] { try base.keys().compactMap(named) }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    base.observe { change in if let change = change.mapKeys(named) { notify(change) } }
  }

  public func handleFailure(_ error: any Error, key: String) { base.handleFailure(error, key: toBase[key] ?? key) }

  /// What a key is called underneath. A name that is somebody else's there has no key here.
  private func translated(_ key: String) throws(PreferencesError) -> String? {
    try PreferenceKeyName.validate(key)
    return toBase[key] ?? (fromBase[key] == nil ? key : nil)
  }

  private func named(_ other: String) -> String? { fromBase[other] ?? (toBase[other] == nil ? other : nil) }
}

extension MappedPreferences: PreferencesStore where Base: PreferencesStore {
  @discardableResult
  public func set(_ value: PreferenceValue, forKey key: String) throws -> WriteOutcome {
    try base.set(value, forKey: try writable(key))
  }

  @discardableResult
  public func removeValue(forKey key: String) throws -> WriteOutcome {
    guard let other = try translated(key) else { return .visible }
    return try base.removeValue(forKey: other)
  }

  public func accepts(_ secrecy: Secrecy) -> Bool { base.accepts(secrecy) }

  public func secrecy(ofWriting key: String, asked: Secrecy) -> Secrecy {
    base.secrecy(ofWriting: toBase[key] ?? key, asked: asked)
  }

  @discardableResult
  public func write(_ value: PreferenceValue?, forKey key: String, secrecy: Secrecy) throws -> WriteOutcome {
    guard value != nil else {
      guard let other = try translated(key) else { return .visible }
      return try base.write(nil, forKey: other, secrecy: secrecy)
    }
    return try base.write(value, forKey: try writable(key), secrecy: secrecy)
  }

  @discardableResult
  public func exchange(
    _ old: PreferenceValue?, for new: PreferenceValue?, forKey key: String, as kind: PreferenceValue.Kind?,
    secrecy: Secrecy
  ) throws -> WriteOutcome? {
    try base.exchange(old, for: new, forKey: try writable(key), as: kind, secrecy: secrecy)
  }

  public func set(_ values: [String: PreferenceValue]) throws {
    var translated: [String: PreferenceValue] = [:]
    for (key, value) in values { translated[try writable(key)] = value }
    try base.set(translated)
  }

  /// Removes every value that has a name here, and no other.
  public func removeAll() throws {
    let hasHidden = toBase.keys.contains { fromBase[$0] == nil }
    guard hasHidden else { return try base.removeAll() }
    for key in try keys() { try removeValue(forKey: key) }
  }

  private func writable(_ key: String) throws(PreferencesError) -> String {
    guard let other = try translated(key) else {
      throw PreferencesError(.invalidKey, "key \"\(key)\": underneath it is another key's name")
    }
    return other
  }
}

extension PreferencesReader {
  /// The same values under other names.
  ///
  /// - Parameter names: what a key is called underneath; keys that are not in it keep their names.
  /// - Throws: ``PreferencesError/Code/invalidKey`` when two keys would mean one value.
  public func renaming(_ names: [String: String]) throws(PreferencesError) -> MappedPreferences<Self> {
    try MappedPreferences(self, names: names)
  }
}

extension MappedPreferences: CustomStringConvertible, CustomReflectable {}
