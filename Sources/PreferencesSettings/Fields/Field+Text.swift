public import Preferences

extension Field {
  /// The control that fits the value, see ``AnyField/control``.
  public var control: SettingControl {
    switch key.kind {
    case .array, .dictionary: .readOnly
    case _ where key.secrecy == .secret: .secret
    case .bool: .toggle
    default: .text
    }
  }

  /// The value for people to edit; empty for a secret, see ``AnyField/text``.
  public var text: String { key.secrecy == .secret ? "" : key.text(of: value) }

  /// Sets the value that `text` describes.
  ///
  /// - Throws: `typeMismatch` or `outOfRange`, with nothing changed, see ``AnyField/set(text:)``.
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
