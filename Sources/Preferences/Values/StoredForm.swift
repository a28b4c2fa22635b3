/// A type that is stored in the form of a different type.
protocol StoredAsForm: PreferenceConvertible {
  associatedtype Form: PreferenceConvertible
  /// - Throws: ``PreferencesError/Code/outOfRange`` for a form that no value of this type has.
  init(form: Form) throws(PreferencesError)
  var form: Form { get }
}

extension StoredAsForm {
  public static var preferenceKind: PreferenceValue.Kind { Form.preferenceKind }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    try self.init(form: try Form(preferenceValue: value))
  }

  public var preferenceValue: PreferenceValue { form.preferenceValue }
}
