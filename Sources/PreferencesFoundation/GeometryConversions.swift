public import Foundation
public import Preferences

/// Stored as the string that `NSStringFromPoint` returns, such as `{1.0, 2.5}`. No other form is read.
///
/// Every number is read back bit for bit, including infinities, and NaN as NaN. `NSPointFromString` cannot be used: on
/// Linux it reads `{inf, 1}` as different numbers, and any other text as zeros.
extension CGPoint: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .string }

  /// - Throws: ``PreferencesError/Code/typeMismatch`` if the value is not a string,
  ///   ``PreferencesError/Code/outOfRange`` if the string is not a point.
  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    guard let (x, y) = BracedPair.numbers(in: try String(preferenceValue: value)[...]) else {
      throw PreferencesError(.outOfRange, "the string is not a point")
    }
    self.init(x: x, y: y)
  }

  public var preferenceValue: PreferenceValue { .string(NSStringFromPoint(self)) }
}

/// Stored as the string that `NSStringFromSize` returns, such as `{640.0, 480.0}`. See the conversion of `CGPoint`.
extension CGSize: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .string }

  /// - Throws: ``PreferencesError/Code/typeMismatch`` if the value is not a string,
  ///   ``PreferencesError/Code/outOfRange`` if the string is not a size.
  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    guard let (width, height) = BracedPair.numbers(in: try String(preferenceValue: value)[...]) else {
      throw PreferencesError(.outOfRange, "the string is not a size")
    }
    self.init(width: width, height: height)
  }

  public var preferenceValue: PreferenceValue { .string(NSStringFromSize(self)) }
}

/// Stored as the string that `NSStringFromRect` returns, such as `{{0.0, 0.0}, {640.0, 480.0}}`. See the conversion of
/// `CGPoint`.
extension CGRect: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .string }

  /// - Throws: ``PreferencesError/Code/typeMismatch`` if the value is not a string,
  ///   ``PreferencesError/Code/outOfRange`` if the string is not a rectangle.
  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    guard let (origin, size) = BracedPair.parts(of: try String(preferenceValue: value)[...]),
      let (x, y) = BracedPair.numbers(in: origin), let (width, height) = BracedPair.numbers(in: size)
    else { throw PreferencesError(.outOfRange, "the string is not a rectangle") }
    self.init(x: x, y: y, width: width, height: height)
  }

  public var preferenceValue: PreferenceValue { .string(NSStringFromRect(self)) }
}

/// Text of the form `{a, b}`, where both parts may have this form as well.
private enum BracedPair {
  static func numbers(in text: Substring) -> (Double, Double)? {
    guard let (first, second) = parts(of: text),
      case .double(let a)? = PreferenceValue(parsing: String(first), as: .double),
      case .double(let b)? = PreferenceValue(parsing: String(second), as: .double)
    else { return nil }
    return (a, b)
  }

  static func parts(of text: Substring) -> (Substring, Substring)? {
    let text = trimmed(text)
    guard text.first == "{", text.last == "}", text.count > 2 else { return nil }
    let inside = text.dropFirst().dropLast()
    var depth = 0
    let comma = inside.firstIndex { character in
      depth += character == "{" ? 1 : character == "}" ? -1 : 0
      return depth == 0 && character == ","
    }
    guard let comma else { return nil }
    return (trimmed(inside[..<comma]), trimmed(inside[inside.index(after: comma)...]))
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return text
  }
}
