import PreferenceFiles
import Preferences
import PreferencesFoundation

/// The program that `Scripts/faults/kill-preferences` kills: `PreferencesWriter KIND PATH KEY [TEXT]` prints the text
/// under a key, or sets it.
@main enum PreferencesWriter {
  static func main() throws {
    let arguments = CommandLine.arguments
    let store = try store(arguments[1], at: arguments[2])
    if arguments.count > 4 {
      try store.set(.string(arguments[4]), forKey: arguments[3])
    } else {
      print(try store.string(forKey: arguments[3]) ?? "")
    }
  }

  private static func store(_ kind: String, at path: String) throws -> any PreferencesStore {
    switch kind {
    case "json": try JSONPreferences(at: path, options: .creating)
    case "plist": try PropertyListPreferences(at: path, options: .creating)
    case "env": try DotenvPreferences(at: path, options: .creating)
    // Foundation adds the extension.
    default: try UserDefaultsPreferences(suiteName: String(path.dropLast(".plist".count)))
    }
  }
}
