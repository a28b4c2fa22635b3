public import Preferences

extension Setting where Value == Bool {
  /// Whether the value is true: as ``value``, which can be set and does not throw.
  public var isSet: Bool {
    get { value }
    @available(*, noasync, message: "the property may block: await set(_:)")
    nonmutating set { value = newValue }
    nonmutating _modify { yield &value }
  }

  /// Replaces the value by its opposite. No concurrent change is lost.
  ///
  /// - Throws: as ``update(_:)``.
  @discardableResult
  public func toggle() throws -> WriteOutcome { try update { $0.toggle() } }

  /// The asynchronous form of `toggle()`; does not block the calling thread.
  @discardableResult
  public func toggle() async throws -> WriteOutcome { try await update { $0.toggle() } }

  /// Returns a setting of the same preference that reads and stores the opposite, such as *enabled* for a stored
  /// `disabled`. The rules apply to the stored value, and the format to its opposite.
  public func inverted(title: String = "", info: String = "") -> Self {
    var setting = Self(
      key.inverted, in: store, title: title, info: info, rules: rules.map { .mapped(by: { !$0 }, $0) }, format: format)
    setting.isHidden = isHidden
    return setting
  }
}

extension PreferenceKey<Bool> {
  /// A key of the same name whose value is the opposite of what is stored.
  fileprivate var inverted: Self {
    Self(
      name, kind: kind, secrecy: secrecy, makeDefault: { [self] in !defaultValue },
      decode: { [decode] value throws(PreferencesError) in !(try decode(value)) },
      encode: { [encode] value throws(PreferencesError) in try encode(!value) })
  }
}
