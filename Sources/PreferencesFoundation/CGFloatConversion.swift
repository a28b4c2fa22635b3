public import Foundation
public import Preferences

/// Stored as a double.
extension CGFloat: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .double }

  public var preferenceValue: PreferenceValue { .double(Double(self)) }

  /// - Throws: ``PreferencesError/Code/typeMismatch`` if the value is not a number.
  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    self = CGFloat(try Double(preferenceValue: value))
  }
}
