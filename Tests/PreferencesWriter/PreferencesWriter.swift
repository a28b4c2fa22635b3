import Foundation
import Preferences
import PreferencesFoundation

/// The program that `Scripts/faults/kill-preferences` kills: `PreferencesWriter KIND PATH KEY [TEXT]` prints the text
/// under a key, or sets it.
///
/// `PreferencesWriter watch KIND PATH KEY` prints the text, and each new text, until it is killed.
///
/// For `Scripts/parsers`, `PreferencesWriter read KIND FOLDER` prints a line for each file of a folder: its name, a
/// tab, and its values as JSON with their types, or `!` and the code of the error.
@main enum PreferencesWriter {
  static func main() throws {
    let arguments = CommandLine.arguments
    if arguments[1] == "read" { return try read(arguments[2], arguments[3]) }
    if arguments[1] == "watch" {
      switch arguments[2] {
      case "json": return try watch(try JSONPreferences(at: arguments[3]), arguments[4])
      case "plist": return try watch(try PropertyListPreferences(at: arguments[3]), arguments[4])
      default: return try watch(try DotenvPreferences(at: arguments[3]), arguments[4])
      }
    }
    let store = try store(arguments[1], at: arguments[2])
    if arguments.count > 4 {
      try store.set(.string(arguments[4]), forKey: arguments[3])
    } else {
      print(try store.string(forKey: arguments[3]) ?? "")
    }
  }

  private static func watch(_ store: FilePreferences<some PreferenceFileFormat>, _ key: String) throws {
    let watch = try store.watch()
    let observation = store.observe(PreferenceKey<String?>(key), initial: true) { change in
      print(change.newValue ?? "")
      fflush(nil)
    }
    while true { sleep(600) }
    withExtendedLifetime((watch, observation)) {}
  }

  private static func read(_ kind: String, _ folder: String) throws {
    let format: any PreferenceFileFormat =
      switch kind {
      case "json": JSONFormat()
      case "plist": PropertyListFormat()
      default: DotenvFormat()
      }
    for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
      let bytes = Array(try Data(contentsOf: URL(filePath: folder + "/" + name)))
      let result: String
      do throws(PreferencesError) {
        let text = try JSONFormat.text(of: .dictionary(try format.values(from: bytes)))
        result = String(decoding: text, as: UTF8.self)
      } catch { result = "!\(error.code)" }
      print("\(name)\t\(result)")
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
