public import Preferences

/// An object that consists of fields, and can itself be the value of a field.
///
/// ```swift
/// final class Address: FieldModel {
///   let city = Field<String>("city")
///   var fields: [any AnyField] { [city] }
/// }
/// final class Person: FieldModel {
///   let name = Field<String>("name")
///   let address = Field(PreferenceKey("address", makeModel: Address.init))
///   var fields: [any AnyField] { [name, address] }
/// }
/// ```
///
/// Two models are equal if they are the same object, unless the class implements `==`.
public protocol FieldModel: AnyObject, Sendable, Equatable {
  /// The fields that are imported and exported.
  var fields: [any AnyField] { get }
}

extension FieldModel {
  public static func == (a: Self, b: Self) -> Bool { a === b }

  /// Sets each field to its value in `values`; as for a list of fields.
  public func importValues(from values: [String: PreferenceValue?], named: String? = nil) throws(PreferencesError) {
    try fields.importValues(from: values, named: named)
  }

  /// Returns the values of the fields; as for a list of fields. A model in a field is exported as a dictionary. A model
  /// that is already being exported, because a field within it leads back to it, is left out.
  public func exportValues(
    named: String? = nil, explicitNull: Bool
  ) throws(PreferencesError) -> [String: PreferenceValue?] {
    let models = ModelsBeingExported.current.union([ObjectIdentifier(self)])
    let result = ModelsBeingExported.$current.withValue(models) {
      Result { () throws(PreferencesError) in try fields.exportValues(named: named, explicitNull: explicitNull) }
    }
    return try result.get()
  }

  /// Returns the values of the fields that have one; as for a list of fields.
  public func exportValues(named: String? = nil) throws(PreferencesError) -> [String: PreferenceValue] {
    try exportValues(named: named, explicitNull: false).compactMapValues(\.self)
  }
}

private enum ModelsBeingExported {
  @TaskLocal static var current: Set<ObjectIdentifier> = []
}

extension PreferenceKey {
  /// Creates a key of a model, which is stored as the dictionary of its fields.
  ///
  /// - Parameters:
  ///   - named: selects a key in each field's ``Field/keys``.
  ///   - makeModel: returns the model that a stored dictionary is imported into.
  public init<Model: FieldModel>(
    _ name: String, named: String? = nil, makeModel: @escaping @Sendable () -> Model
  ) where Value == Model? {
    self.init(
      name, kind: .dictionary, makeDefault: { nil },
      decode: { stored throws(PreferencesError) in
        let model = makeModel()
        try model.importValues(from: try [String: PreferenceValue](preferenceValue: stored), named: named)
        return model
      },
      encode: { model throws(PreferencesError) in
        guard let model, !ModelsBeingExported.current.contains(ObjectIdentifier(model)) else { return nil }
        return .dictionary(try model.exportValues(named: named))
      })
  }
}
