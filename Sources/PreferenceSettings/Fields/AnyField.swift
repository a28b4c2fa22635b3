public import FoundationEssentials
public import Preferences
import Synchronization

/// A field, whatever the type of its value, for code that treats a list of fields alike.
///
/// ```swift
/// for field in person.fields where !field.isValid { print(field.name, field.validation) }
/// ```
public protocol AnyField: AnyObject, Sendable {
  /// The name: that of the field's key.
  var name: String { get }
  /// Whether the field has its value.
  var loadState: FieldLoadState { get }
  /// When a value was last set or loaded; `nil` if none was. An initial value does not count.
  var updatedAt: Date? { get }
  /// When a value was last set or loaded that differed from the one before; `nil` if none was.
  var changedAt: Date? { get }

  /// What the last validation found, with the errors that were added since; ``FieldValidation/unknown`` after a set.
  var validation: FieldValidation { get }
  /// Checks the value against all rules. Errors that were added by hand stay.
  @discardableResult
  func validate() -> FieldValidation
  /// Checks the value unless it was checked since it was set.
  @discardableResult
  func validateIfNeeded() -> FieldValidation
  /// Adds an error from elsewhere, such as from a server. It stays until the next set or ``resetValidation()``.
  func addError(_ message: String)
  /// Forgets what the validation found, and the errors that were added.
  func resetValidation()

  /// Sets the value to the one in `values` under the name of the field's key; does nothing if there is none. Null, which
  /// is `nil`, sets `nil`.
  ///
  /// - Parameter named: the name of the key to use among the field's other keys; the field's own if it has none such.
  /// - Throws: ``PreferencesError/Code/typeMismatch`` or ``PreferencesError/Code/outOfRange`` with the name of the key,
  ///   if the value does not convert. The field is then unchanged.
  func importValue(from values: [String: PreferenceValue?], named: String?) throws(PreferencesError)
  /// Adds the value to `values` under the name of the field's key. A secret is left out.
  ///
  /// - Parameters:
  ///   - named: as of ``importValue(from:named:)``.
  ///   - explicitNull: whether null is added for a loaded field without a value; otherwise nothing is.
  func exportValue(
    to values: inout [String: PreferenceValue?], named: String?, explicitNull: Bool
  ) throws(PreferencesError)
}

extension AnyField {
  /// Whether the value satisfies all rules and no error was added. Checks the value if it was not checked yet.
  public var isValid: Bool { validateIfNeeded() == .valid }
}

extension Sequence where Element == any AnyField {
  /// Sets each field to its value in `values`. A field whose key is absent keeps its value; null, which is `nil`, sets
  /// `nil`.
  ///
  /// ```swift
  /// try person.importValues(from: ["name": "Ann", "birth_date": "1990-05-17"], named: "api")
  /// ```
  ///
  /// - Parameter named: the name of the key to use among the other keys of each field; a field without it uses its own.
  /// - Throws: an error that names every key whose value does not convert, without the values. Their fields keep what
  ///   they have; the others are set.
  public func importValues(from values: [String: PreferenceValue?], named: String? = nil) throws(PreferencesError) {
    var errors: [PreferencesError] = []
    for field in self {
      do throws(PreferencesError) { try field.importValue(from: values, named: named) } catch { errors.append(error) }
    }
    guard let first = errors.first else { return }
    throw PreferencesError(first.code, errors.map(\.message).joined(separator: "; "), cause: first.cause)
  }

  /// Returns the values of the fields. Secrets are left out.
  ///
  /// - Parameters:
  ///   - named: as of ``importValues(from:named:)``.
  ///   - explicitNull: whether a loaded field without a value is null, which is `nil`, instead of absent. A dictionary
  ///     in a dictionary has no null.
  /// - Throws: as the conversions of the keys.
  public func exportValues(
    named: String? = nil, explicitNull: Bool
  ) throws(PreferencesError) -> [String: PreferenceValue?] {
    var values: [String: PreferenceValue?] = [:]
    for field in self { try field.exportValue(to: &values, named: named, explicitNull: explicitNull) }
    return values
  }

  /// Returns the values of the fields that have one. Secrets are left out.
  ///
  /// - Parameter named: as of ``importValues(from:named:)``.
  /// - Throws: as the conversions of the keys.
  public func exportValues(named: String? = nil) throws(PreferencesError) -> [String: PreferenceValue] {
    try exportValues(named: named, explicitNull: false).compactMapValues(\.self)
  }
}

extension Field {
  public var name: String { key.name }

  private func key(named name: String?) -> PreferenceKey<Value?> { name.flatMap { keys[$0] } ?? key }

  public func importValue(from values: [String: PreferenceValue?], named: String?) throws(PreferencesError) {
    let key = key(named: named)
    guard let stored = values[key.name] else { return }
    if let stored { value = try key.decoded(stored) } else { value = nil }
  }

  public func exportValue(
    to values: inout [String: PreferenceValue?], named: String?, explicitNull: Bool
  ) throws(PreferencesError) {
    let key = key(named: named)
    guard key.secrecy == .plain else { return }
    let (value, isLoaded) = state.withLock { ($0.value, $0.loadState.isLoaded) }
    do throws(PreferencesError) {
      if let exported = try key.encode(value) {
        values[key.name] = exported
      } else if explicitNull, isLoaded, value == nil {
        values.updateValue(nil, forKey: key.name)
      }
    } catch { throw error.about(key: key.name) }
  }
}
