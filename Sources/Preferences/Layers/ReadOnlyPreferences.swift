/// A reader without the means to change it: what it is made of is not reachable from here.
public struct ReadOnlyPreferences: PreferencesReader {
  private let base: any PreferencesReader

  init(_ base: any PreferencesReader) { self.base = base }

  public var name: String { base.name }
  public var isSealed: Bool { base.isSealed }
  public var isLayered: Bool { base.isLayered }
  public var identity: StoreIdentity { base.identity }

  public func value(forKey key: String) throws -> PreferenceValue? { try base.value(forKey: key) }

  public func value(forKey key: String, as kind: PreferenceValue.Kind) throws -> PreferenceValue? {
    try base.value(forKey: key, as: kind)
  }

  public func value(
    forKey key: String, as kind: PreferenceValue.Kind?, secrecy: Secrecy
  ) throws -> PreferenceValue? {
    try base.value(forKey: key, as: kind, secrecy: secrecy)
  }

  public func keys() throws -> [String] { try base.keys() }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    base.observe(notify)
  }

  public func handleFailure(_ error: any Error, key: String) { base.handleFailure(error, key: key) }
}

extension PreferencesReader {
  /// The same values, which cannot be changed through it.
  public var readOnly: ReadOnlyPreferences { ReadOnlyPreferences(self) }
}

extension ReadOnlyPreferences: CustomStringConvertible, CustomReflectable {}
