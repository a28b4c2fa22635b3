public import Preferences

extension Field {
  public var control: SettingControl {
    switch key.kind {
    case .array, .dictionary: .readOnly
    case _ where key.secrecy == .secret: .secret
    case .bool: .toggle
    default: .text
    }
  }

  public var text: String { key.secrecy == .secret ? "" : key.text(of: value) }

  public func set(text: String) throws(PreferencesError) { value = try key.value(parsing: text, from: control) }
}

extension PreferenceKey {
  /// A key of a value without a stored form, which no control edits.
  static func unstorable<Wrapped>(_ name: String) -> Self where Value == Wrapped? {
    Self(
      name, kind: .dictionary, makeDefault: { nil },
      decode: { _ throws(PreferencesError) in throw .unstorable(Wrapped.self) },
      encode: { value throws(PreferencesError) in
        guard value != nil else { return nil }
        throw .unstorable(Wrapped.self)
      })
  }
}

extension PreferencesError {
  fileprivate static func unstorable(_ type: Any.Type) -> Self {
    PreferencesError(.notStorable, "\(type) has no stored form")
  }
}
