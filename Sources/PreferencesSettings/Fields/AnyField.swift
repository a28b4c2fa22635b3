public import FoundationEssentials
public import Preferences
import Synchronization

/// A field, whatever the type of its value, for code that treats a list of fields alike.
///
/// ```swift
/// for field in person.fields {
///   form.addLine(field.name, field.control, field.text) { try field.set(text: $0) }
/// }
/// for field in person.fields where !field.isValid { print(field.name, field.validation) }
/// ```
public protocol AnyField: AnyObject, Sendable {
  /// The name of the field's key; may be empty.
  var name: String { get }
  /// Whether the field's value is loaded.
  var loadState: FieldLoadState { get }
  /// When a value was last set or loaded; `nil` if no value was. An initial value does not count.
  var updatedAt: Date? { get }
  /// When a set or a load last changed the value; `nil` if none did.
  var changedAt: Date? { get }

  /// The control that fits the value.
  var control: SettingControl { get }
  /// The value for people to edit: text that ``set(text:)`` accepts. Empty for a secret, for no value, and for a value
  /// without a text form, such as an array or a type without a stored form.
  var text: String { get }
  /// Sets the value that `text` describes; empty text sets `nil`, except for a secret. A value that breaks a rule is
  /// set as well: ``validate()`` finds it.
  ///
  /// - Throws: ``PreferencesError/Code/typeMismatch`` if `text` does not parse, ``PreferencesError/Code/outOfRange`` if
  ///   it is not a possible value, is empty for a secret, or has several lines for ``SettingControl/text``, all with
  ///   nothing changed.
  func set(text: String) throws(PreferencesError)

  /// The result of the last validation, with the added errors; ``FieldValidation/unknown`` after a set.
  var validation: FieldValidation { get }
  /// Checks the value against all rules. Errors added with ``addError(_:)`` stay.
  @discardableResult
  func validate() -> FieldValidation
  /// Checks the value unless it has been checked since it was set.
  @discardableResult
  func validateIfNeeded() -> FieldValidation
  /// Adds an error from elsewhere, such as from a server. It stays until the next set or ``resetValidation()``.
  func addError(_ message: String)
  /// Discards the result of the validation, and the added errors.
  func resetValidation()

  /// Sets the value from the entry of `values` under the name of the field's key; does nothing if there is no entry. An
  /// entry that is `nil`, for null, sets `nil`.
  ///
  /// - Parameter named: selects a key in ``Field/keys``; if there is no such key, the field's own key is used.
  /// - Throws: ``PreferencesError/Code/typeMismatch`` or ``PreferencesError/Code/outOfRange`` with the name of the key,
  ///   if the value does not convert. The field is then unchanged.
  func importValue(from values: [String: PreferenceValue?], named: String?) throws(PreferencesError)
  /// Adds the value to `values` under the name of the field's key. A secret is left out.
  ///
  /// - Parameters:
  ///   - named: as in ``importValue(from:named:)``.
  ///   - explicitNull: whether `nil`, for null, is added if the field is loaded and has no value; otherwise nothing is
  ///     added.
  func exportValue(
    to values: inout [String: PreferenceValue?], named: String?, explicitNull: Bool
  ) throws(PreferencesError)
}

extension AnyField {
  /// Whether the value satisfies all rules and no error was added. Checks the value if it was not checked yet.
  public var isValid: Bool { validateIfNeeded() == .valid }
}

extension Sequence where Element == any AnyField {
  /// Sets each field to its value in `values`. A field whose key is absent keeps its value; an entry that is `nil`, for
  /// null, sets `nil`.
  ///
  /// ```swift
  /// try person.importValues(from: ["name": "Ann", "birth_date": "1990-05-17"], named: "api")
  /// ```
  ///
  /// - Parameter named: selects a key in each field's ``Field/keys``; a field without such a key uses its own key.
  /// - Throws: an error that names every key whose value does not convert, without the values. The fields of these keys
  ///   keep their values; the other fields are set.
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
  ///   - named: as in ``importValues(from:named:)``.
  ///   - explicitNull: whether a loaded field without a value is `nil`, for null, instead of absent. A dictionary in a
  ///     dictionary has no `nil` entries.
  /// - Throws: the errors of the keys' conversions.
  public func exportValues(
    named: String? = nil, explicitNull: Bool
  ) throws(PreferencesError) -> [String: PreferenceValue?] {
    var values: [String: PreferenceValue?] = [:]
    for field in self { try field.exportValue(to: &values, named: named, explicitNull: explicitNull) }
    return values
  }

  /// Returns the values of the fields that have one. Secrets are left out.
  ///
  /// - Parameter named: as in ``importValues(from:named:)``.
  /// - Throws: the errors of the keys' conversions.
  public func exportValues(named: String? = nil) throws(PreferencesError) -> [String: PreferenceValue] {
    try exportValues(named: named, explicitNull: false).compactMapValues(\.self)
  }
}

extension Field {
  public var name: String { key.name }

  private func key(named name: String?) -> PreferenceKey<Value?> { name.flatMap { keys[$0] } ?? key }

  public func importValue(from values: [String: PreferenceValue?], named: String?) throws(PreferencesError) {
    let key = key(named: named)
    guard !key.name.isEmpty, let stored = values[key.name] else { return }
    if let stored { value = try key.decoded(stored) } else { value = nil }
  }

  public func exportValue(
    to values: inout [String: PreferenceValue?], named: String?, explicitNull: Bool
  ) throws(PreferencesError) {
    let key = key(named: named)
    guard !key.name.isEmpty, key.secrecy == .plain else { return }
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
