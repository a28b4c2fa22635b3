/// Preferences from the stored properties of a value or object, read-only: the key is the property's name.
///
/// Inherited properties are included; if two have the same name, the subclass's property is used. A property is absent
/// if it is `nil` or lazy, or if its type is not `PreferenceConvertible`. An object's properties are read at each
/// lookup.
public struct ReflectingPreferences: PreferencesReader {
  public let name: String
  private let subject: any Sendable

  /// Creates a layer over the properties of `subject`. The default name contains the type of `subject`.
  public init(_ subject: some Sendable, name: String? = nil) {
    self.subject = subject
    self.name = name ?? "properties of \(type(of: subject))"
  }

  public func value(for query: PreferenceQuery) -> PreferenceValue? {
    properties().first { $0.name == query.name.text }?.value
  }

  /// The names of the properties that have a value, the subclass's first.
  public func names(of secrecy: Secrecy) -> [PreferenceName] { PreferenceName.valid(properties().map(\.name)) }

  private func properties() -> [(name: String, value: PreferenceValue)] {
    var properties: [(name: String, value: PreferenceValue)] = []
    var seen: Set<String> = []
    var mirror: Mirror? = Mirror(reflecting: subject)
    while let present = mirror {
      for child in present.children {
        // Lazy properties are stored under generated names.
        guard let name = child.label, !name.hasPrefix("$__lazy_storage_$_"),
          seen.insert(name).inserted, let value = Self.stored(child.value)
        else { continue }
        properties.append((name, value))
      }
      mirror = present.superclassMirror
    }
    return properties
  }

  private static func stored(_ property: Any) -> PreferenceValue? {
    (property as? any PreferenceConvertible)?.preferenceValue
  }
}

extension ReflectingPreferences: CustomStringConvertible, CustomReflectable {}
