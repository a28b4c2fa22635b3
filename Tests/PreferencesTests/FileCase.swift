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

/// One format of files.
enum FileCase: String, CaseIterable, CustomTestStringConvertible {
  case json, xml, binary

  var testDescription: String { rawValue }

  func open(_ path: String, _ options: PreferenceFileOptions = .creating) throws(PreferencesError) -> any FileStore {
    switch self {
    case .json: try JSONPreferences(at: path, options: options)
    case .xml: try PropertyListPreferences(at: path, format: PropertyListFormat(.xml), options: options)
    case .binary: try PropertyListPreferences(at: path, format: PropertyListFormat(.binary), options: options)
    }
  }
}
