/// An enum, an option set or any other type with a raw value needs one line, and is stored as its raw value:
///
/// ```swift
/// enum Theme: String { case light, dark }
/// extension Theme: PreferenceConvertible {}
/// ```
///
/// A raw value without an instance throws ``PreferencesError/Code/outOfRange``. A type of a different package needs no
/// conformance: ``PreferenceKey/codable(_:default:kind:encoder:decoder:)`` makes its keys.
extension PreferenceConvertible where Self: RawRepresentable, RawValue: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { RawValue.preferenceKind }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    guard let known = Self(rawValue: try RawValue(preferenceValue: value)) else {
      throw PreferencesError(.outOfRange, "the value is not a raw value of \(Self.self)")
    }
    self = known
  }

  public var preferenceValue: PreferenceValue { rawValue.preferenceValue }
}
