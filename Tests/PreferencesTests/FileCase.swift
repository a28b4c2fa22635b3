import FoundationEssentials
import Glibc
import Preferences
import Synchronization
import Testing

/// A store in a file, whatever its format.
protocol FileStore: PreferencesStore {
  var hasUnsavedChanges: Bool { get }
  func reload() throws(PreferencesError)
  func save() throws(PreferencesError)
  func watch() throws(PreferencesError) -> PreferenceObservation
}

extension FilePreferences: FileStore {}

/// One format of files, which keeps the types of all values.
enum FileCase: String, CaseIterable, CustomTestStringConvertible {
  case json, xml, binary

  var testDescription: String { rawValue }

  func open(_ path: String, _ options: PreferenceFileOptions = .creating) throws(PreferencesError) -> any FileStore {
    switch self {
    case .json: try JSONPreferences(at: path, format: JSONFormat(keepingTypes: true), options: options)
    case .xml: try list(path, .xml, options)
    case .binary: try list(path, .binary, options)
    }
  }

  private func list(
    _ path: String, _ encoding: PropertyListFormat.Encoding, _ options: PreferenceFileOptions
  ) throws(PreferencesError) -> any FileStore {
    try PropertyListPreferences(
      at: path, format: PropertyListFormat(encoding, keepingTypes: true), options: options)
  }
}
