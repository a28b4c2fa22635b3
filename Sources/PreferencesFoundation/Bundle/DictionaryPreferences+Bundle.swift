public import Foundation
public import Preferences

extension DictionaryPreferences {
  /// Reads a resource of a bundle, such as the values that a program brings along.
  ///
  /// ```swift
  /// let defaults = try DictionaryPreferences(resource: "Defaults", in: .module)
  /// let settings = CompositePreferences([file, defaults])
  /// ```
  ///
  /// - Parameters:
  ///   - name: the name of the file without its extension.
  ///   - type: the extension.
  /// - Throws: ``PreferencesError/Code/notFound`` if the bundle has no such resource; as
  ///   ``DictionaryPreferences/init(contentsOf:format:)``.
  public convenience init<Format: PreferenceFileFormat>(
    resource name: String, ofType type: String = "plist", in bundle: Bundle = .main,
    format: Format = PropertyListFormat()
  ) throws(PreferencesError) {
    guard let path = bundle.path(forResource: name, ofType: type) else {
      throw PreferencesError(.notFound, "bundle \(bundle.bundlePath): there is no resource \"\(name).\(type)\"")
    }
    try self.init(contentsOf: path, format: format)
  }
}
