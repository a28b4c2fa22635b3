import DurableFiles
import Foundation
package import Preferences

/// The file in which Foundation stores a suite of user defaults.
package struct UserDefaultsFile: Sendable {
  package let path: String
  /// The name of the suite in Foundation; `nil` for the program's own suite.
  private let suiteName: String?
  /// Waits before a file that may be incomplete is read again.
  private let pause: @Sendable () -> Void

  /// The file of the program itself.
  static let program = UserDefaultsFile(path: path(of: programName), suiteName: nil, pause: shortPause)

  /// - Throws: `invalidKey`.
  package init(
    suite name: String, pausing pause: @escaping @Sendable () -> Void = Self.shortPause
  ) throws(PreferencesError) {
    do { _ = try PreferenceName(name) } catch { throw error.about("the name of a suite") }
    guard !Self.reserved.contains(name) else {
      throw PreferencesError(.invalidKey, "\"\(name)\" is no suite")
    }
    guard name.hasPrefix("/") || !name.split(separator: "/").contains("..") else {
      throw PreferencesError(.invalidKey, "suite \"\(name)\": it leads out of the folder of user defaults")
    }
    self.init(path: Self.path(of: name), suiteName: name, pause: pause)
  }

  private init(path: String, suiteName: String?, pause: @escaping @Sendable () -> Void) {
    self.path = path
    self.suiteName = suiteName
    self.pause = pause
  }

  package static let shortPause: @Sendable () -> Void = { Thread.sleep(forTimeInterval: 0.02) }

  /// The names of domains that are shared by all programs or have no file.
  private static let reserved = [
    UserDefaults.globalDomain, ".GlobalPreferences", UserDefaults.argumentDomain, UserDefaults.registrationDomain,
  ]

  private static var programName: String {
    if let identifier = Bundle.main.bundleIdentifier, !identifier.isEmpty { return identifier }
    return ProcessInfo.processInfo.processName
  }

  /// The path that Foundation uses. It is not in `NSHomeDirectory()`, which prefers the user database to the
  /// environment.
  private static func path(of name: String) -> String {
    if name.hasPrefix("/") { return name + ".plist" }
    let environment = ProcessInfo.processInfo.environment
    if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") { return "\(folder)/\(name).plist" }
    return "\(environment["HOME"] ?? "")/.config/\(name).plist"
  }

  // MARK: Reading

  /// The values in the file, after Foundation's objects in this process have written their pending changes; empty if
  /// there is no file.
  ///
  /// - Throws: `unreadable`, `malformed`, `limitExceeded`.
  package func read() throws(PreferencesError) -> [String: PreferenceValue] {
    do {
      return try synchronizedContent().values
    } catch { throw error.about("user defaults \"\(path)\"") }
  }

  private func synchronizedContent() throws(PreferencesError) -> (values: [String: PreferenceValue], bytes: [UInt8]?) {
    // First, because Foundation treats a file that it cannot read as empty and overwrites it. A file that this package
    // can read and Foundation cannot is not synchronized before it is written in Foundation's form.
    let before = try content()
    guard before.bytes.map(FoundationReading.canRead) ?? true else { return before }
    synchronizeFoundation()
    return try bytes() == before.bytes ? before : content()
  }

  private func content() throws(PreferencesError) -> (values: [String: PreferenceValue], bytes: [UInt8]?) {
    for _ in 0..<Self.attempts {
      guard let bytes = try bytes() else { return ([:], nil) }
      do throws(PreferencesError) {
        if !bytes.isEmpty { return (try Self.format.values(from: bytes), bytes) }
        // Foundation leaves an empty file if it is killed, or if there are no more values.
        if isSettled { return ([:], bytes) }
      } catch {
        if isSettled { throw error }
      }
      // Foundation truncates a file before it writes it, so a reader may see an empty or incomplete file.
      pause()
    }
    throw PreferencesError(.unreadable, "it is being written continuously")
  }

  /// Whether the file was not written for a second.
  private var isSettled: Bool {
    do {
      let date = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
      return date.map { $0.timeIntervalSinceNow < -1 } ?? false
    } catch { return false }
  }

  private func bytes() throws(PreferencesError) -> [UInt8]? {
    do { return try RegularFile.read(path, upTo: PropertyListPreferences.maximumByteCount) } catch {
      guard error.code == .notFound else { throw error }
      return nil
    }
  }

  private static let attempts = 100
  private static let format = PropertyListFormat.foundation

  // MARK: Writing

  /// Replaces the values in the file with the result of `edit`.
  ///
  /// - Returns: The values that are in the file afterwards.
  /// - Throws: `unwritable`, and the codes of ``read()``, with the file intact; `durabilityUnknown` with the new file
  ///   in place.
  func replace(
    _ edit: (inout [String: PreferenceValue]) -> Void
  ) throws(PreferencesError) -> [String: PreferenceValue] {
    do throws(PreferencesError) {
      try makeFolder()
      do throws(PreferencesError) { return try replaceOnce(edit) } catch {
        guard error.code == .exposed else { throw error }
        // Foundation created the file in between. It is readable by others until Foundation has set its mode.
        pause()
        return try replaceOnce(edit)
      }
    } catch { throw error.about("user defaults \"\(path)\"") }
  }

  private func replaceOnce(
    _ edit: (inout [String: PreferenceValue]) -> Void
  ) throws(PreferencesError) -> [String: PreferenceValue] {
    var values: [String: PreferenceValue] = [:]
    var isReplaced = false
    // A new file is readable by this user only, as with Foundation.
    let replace = try FileReplacement(path, isPrivate: !FileManager.default.fileExists(atPath: path))
    try replace(upTo: PropertyListPreferences.maximumByteCount) { _ throws(PreferencesError) in
      let old = try synchronizedContent().values
      values = old
      edit(&values)
      isReplaced = !PreferenceValue.dictionary(values).isIdentical(to: .dictionary(old))
      guard isReplaced else { return nil }
      let new = try Self.format.bytes(of: values, replacing: nil)
      guard FoundationReading.canRead(new) else {
        throw PreferencesError(.unsupportedByFormat, "Foundation could not read the new file")
      }
      return new
    }
    if isReplaced { synchronizeFoundation() }
    return values
  }

  /// Creates the folder and its missing parents, accessible by this user only.
  func makeFolder() throws(PreferencesError) {
    try Descriptor<PreferencesError>.makeDirectory(PathName.directory(of: path), isPrivate: true)
  }

  /// The value as it will be read from the file, so that reads before and after a reload are equal.
  ///
  /// - Throws: `unsupportedByFormat`, `limitExceeded`.
  func storable(_ value: PreferenceValue, forKey key: String) throws(PreferencesError) -> PreferenceValue {
    try Self.format.storable(value, forKey: key)
  }

  /// Makes Foundation's objects in this process write their pending changes and discard what they have read.
  ///
  /// It writes all suites at once and returns only whether one of them failed. Nothing of this package is among the
  /// pending changes. The object is created for the call, because it is not `Sendable` on Linux; the state behind it is
  /// protected by Foundation's locks.
  private func synchronizeFoundation() {
    if let suiteName { UserDefaults(suiteName: suiteName)?.synchronize() } else { UserDefaults.standard.synchronize() }
  }
}
