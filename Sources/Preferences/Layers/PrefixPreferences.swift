/// A reader's keys below a prefix, under shorter names: with the prefix `server.` the key `port` is `server.port`.
///
/// The prefix is used as it is written, its separator included; an empty one changes nothing. Views nest. What may be
/// read and written is decided by the reader underneath, with the long name.
public struct PrefixPreferences<Base: PreferencesReader>: PreferencesReader {
  /// The reader underneath.
  public let base: Base
  /// What stands before each key.
  public let prefix: String

  init(_ base: Base, prefix: String) { (self.base, self.prefix) = (base, prefix) }

  public var name: String { "\(base.name) below \"\(prefix)\"" }
  public var isSealed: Bool { base.isSealed }
  public var isLayered: Bool { base.isLayered }
  public var identity: StoreIdentity { StoreIdentity(Self.self, name: prefix, over: [base.identity]) }

  public func value(forKey key: String) throws -> PreferenceValue? {
    try base.value(forKey: try lengthened(key))
  }

  public func value(forKey key: String, as kind: PreferenceValue.Kind) throws -> PreferenceValue? {
    try base.value(forKey: try lengthened(key), as: kind)
  }

  public func value(
    forKey key: String, as kind: PreferenceValue.Kind?, secrecy: Secrecy
  ) throws -> PreferenceValue? {
    try base.value(forKey: try lengthened(key), as: kind, secrecy: secrecy)
  }

  /// The keys below the prefix, without it.
  public func keys() throws -> [String] { try base.keys().compactMap(shortened) }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    base.observe { change in if let change = change.mapKeys(shortened) { notify(change) } }
  }

  public func handleFailure(_ error: any Error, key: String) { base.handleFailure(error, key: prefix + key) }

  /// What a key is called underneath.
  private func lengthened(_ key: String) throws(PreferencesError) -> String {
    try PreferenceKeyName.validate(key)
    let long = prefix + key
    // An accent at the beginning would change the prefix's last letter, and the key would no longer be below it.
    guard shortened(long) == key else {
      throw PreferencesError(.invalidKey, "key \"\(key)\": it does not begin with a character of its own")
    }
    return long
  }

  private func shortened(_ key: String) -> String? {
    // Compared as the names are: by their bytes a composed accent would not be the decomposed one.
    guard key.hasPrefix(prefix), key.count > prefix.count else { return nil }
    return String(key.dropFirst(prefix.count))
  }
}

extension PrefixPreferences: PreferencesStore where Base: PreferencesStore {
  @discardableResult
  public func set(_ value: PreferenceValue, forKey key: String) throws -> WriteOutcome {
    try base.set(value, forKey: try lengthened(key))
  }

  @discardableResult
  public func removeValue(forKey key: String) throws -> WriteOutcome {
    try base.removeValue(forKey: try lengthened(key))
  }

  public func accepts(_ secrecy: Secrecy) -> Bool { base.accepts(secrecy) }

  public func secrecy(ofWriting key: String, asked: Secrecy) -> Secrecy {
    base.secrecy(ofWriting: prefix + key, asked: asked)
  }

  @discardableResult
  public func write(_ value: PreferenceValue?, forKey key: String, secrecy: Secrecy) throws -> WriteOutcome {
    try base.write(value, forKey: try lengthened(key), secrecy: secrecy)
  }

  @discardableResult
  public func exchange(
    _ old: PreferenceValue?, for new: PreferenceValue?, forKey key: String, as kind: PreferenceValue.Kind?,
    secrecy: Secrecy
  ) throws -> WriteOutcome? {
    try base.exchange(old, for: new, forKey: try lengthened(key), as: kind, secrecy: secrecy)
  }

  public func set(_ values: [String: PreferenceValue]) throws {
    var lengthened: [String: PreferenceValue] = [:]
    for (key, value) in values { lengthened[try self.lengthened(key)] = value }
    try base.set(lengthened)
  }

  /// Removes every value below the prefix, one after another, and no other.
  public func removeAll() throws {
    if prefix.isEmpty { return try base.removeAll() }
    for key in try keys() { try removeValue(forKey: key) }
  }
}

extension PreferencesReader {
  /// The keys below `prefix`, under names without it.
  public func below(_ prefix: String) -> PrefixPreferences<Self> { PrefixPreferences(self, prefix: prefix) }
}

extension PrefixPreferences: CustomStringConvertible, CustomReflectable {}
