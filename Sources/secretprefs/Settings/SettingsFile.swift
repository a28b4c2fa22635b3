internal import DurableFiles
internal import FoundationEssentials
internal import Preferences
internal import PreferencesSettings
internal import Secrets

/// The settings in a file, and in a vault if they include secrets.
struct SettingsFile {
  let path: String
  let store: any PreferencesStore
  let groups: [SettingGroup]
  /// The members of a JSON file that are not shown as a setting, and why, in the order of the file.
  let unshown: [(name: String, reason: String)]
  /// Loads changes by other processes until the observation ends.
  let watch: () throws -> PreferenceObservation

  /// Reads the file. It may be missing if there are descriptions.
  ///
  /// - Parameter descriptions: The path of a file that describes the settings.
  init(_ path: String, descriptions: String?, secrets: SecretPreferences?) throws {
    let start = try Self.content(path)
    guard !path.hasSuffix(".spv"), !VaultLocation.isVault(start ?? []) else {
      throw ToolError.usage(
        "\(path): a vault is not a settings file",
        hint: "\"secretprefs list --vault <path>\" lists the keys of a vault")
    }
    guard start != nil || descriptions != nil else { throw ToolError.noSettingsFile(path) }
    let options: PreferenceFileOptions = descriptions == nil ? [] : .creating
    let file: any PreferencesStore
    if Self.isPropertyList(path, start) {
      let list = try PropertyListPreferences(at: path, options: options)
      file = list
      watch = { try list.watch() }
    } else {
      let json = try JSONPreferences(at: path, options: options)
      file = json
      watch = { try json.watch() }
    }
    self.path = path
    unshown = file is JSONPreferences ? Self.unshown(start ?? []) : []
    store = secrets.map { CompositePreferences([$0.claiming(.names([])), file]) } ?? file
    guard let descriptions else {
      groups = try SettingGroup.groups(inferredFrom: file)
      return
    }
    guard let data = try Self.content(descriptions, Self.described) else {
      throw ToolError.io("\(Self.described)\"\(descriptions)\": open the file", ENOENT)
    }
    do throws(PreferencesError) { groups = try SettingGroup.groups(describedBy: Data(data), in: store) } catch {
      throw error.about("\(Self.described)\"\(descriptions)\"")
    }
  }

  private static let described = "the descriptions "

  /// Returns `nil` if there is no file.
  ///
  /// - Parameter what: What it is, before its path in errors.
  private static func content(_ path: String, _ what: String = "") throws -> [UInt8]? {
    do throws(PreferencesError) {
      return try RegularFile.read(path, upTo: JSONPreferences.maximumByteCount)
    } catch {
      guard error.code == .notFound else { throw error.about("\(what)\"\(path)\"") }
      return nil
    }
  }

  private static func unshown(_ content: [UInt8]) -> [(name: String, reason: String)] {
    var content = content
    return content.withUnsafeMutableBytes { bytes in
      do throws(PlainFault) {
        let leaves = try GuardedJSONParser.parts(of: bytes).leaves.filter { !$0.isInArray }
        var names: Set<String> = []
        return leaves.compactMap { leaf in
          let path = leaf.path.map(\.text)
          guard !PreferenceName.valid(path.prefix(1)).isEmpty else {
            return names.insert(path[0]).inserted ? (path[0], "a name that is empty or has a control character") : nil
          }
          let name = path.joined(separator: ".")
          let isNew = names.insert(name).inserted
          if leaf.kind == .null { return (name, "null, which is no value") }
          return isNew ? nil : (name, "twice in the file, once with a dot in its name")
        }
      } catch { return [] }
    }
  }

  /// Whether the file is a property list by its name or, under a different name, by its beginning.
  private static func isPropertyList(_ path: String, _ content: [UInt8]?) -> Bool {
    if path.hasSuffix(".plist") { return true }
    guard let content, !path.hasSuffix(".json") else { return false }
    return content.starts(with: Array("bplist".utf8)) || content.first { $0 > 0x20 } == UInt8(ascii: "<")
  }
}
