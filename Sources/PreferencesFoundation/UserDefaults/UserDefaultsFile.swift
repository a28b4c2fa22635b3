import Foundation
package import Preferences

/// The file in which Foundation keeps a suite of user defaults.
package struct UserDefaultsFile: Sendable {
  package let path: String
  /// What Foundation calls it; nil for the program's own.
  private let suiteName: String?
  /// Waits before a file is looked at again that may be half written.
  private let pause: @Sendable () -> Void

  /// That of the program itself.
  static let program = UserDefaultsFile(path: path(of: programName), suiteName: nil, pause: shortPause)

  /// - Throws: `invalidKey`.
  package init(
    suite name: String, pausing pause: @escaping @Sendable () -> Void = Self.shortPause
  ) throws(PreferencesError) {
    do { try PreferenceKeyName.validate(name) } catch { throw error.about("the name of a suite") }
    guard !Self.reserved.contains(name) else {
      throw PreferencesError(.invalidKey, "\"\(name)\" is no suite")
    }
    guard name.hasPrefix("/") || !name.split(separator: "/").contains("..") else {
      throw PreferencesError(.invalidKey, "suite \"\(name)\": it leads out of the folder of user defaults")
    }
    self.init(path: Self.path(of: name), suiteName: name, pause: pause)
  }

  private init(path: String, suiteName: String?, pause: @escaping @Sendable () -> Void) {
    (self.path, self.suiteName, self.pause) = (path, suiteName, pause)
  }

  package static let shortPause: @Sendable () -> Void = { Thread.sleep(forTimeInterval: 0.02) }

  /// The domains that are every program's, or nobody's file.
  private static let reserved = [
    UserDefaults.globalDomain, ".GlobalPreferences", UserDefaults.argumentDomain, UserDefaults.registrationDomain,
  ]

  private static var programName: String {
    if let identifier = Bundle.main.bundleIdentifier, !identifier.isEmpty { return identifier }
    return ProcessInfo.processInfo.processName
  }

  /// As Foundation finds it. That is not the home directory of `NSHomeDirectory()`, which asks the user database first.
  private static func path(of name: String) -> String {
    if name.hasPrefix("/") { return name + ".plist" }
    let environment = ProcessInfo.processInfo.environment
    if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") { return "\(folder)/\(name).plist" }
    return "\(environment["HOME"] ?? "")/.config/\(name).plist"
  }

  // MARK: Reading

  /// The values in the file, with what Foundation's objects in this process had waiting; none when there is no file.
  ///
  /// - Throws: `unreadable`, `malformed`, `limitExceeded`.
  package func read() throws(PreferencesError) -> [String: PreferenceValue] {
    do {
      return try synchronizedContent().values
    } catch { throw error.about("user defaults \"\(path)\"") }
  }

  private func synchronizedContent() throws(PreferencesError) -> (values: [String: PreferenceValue], bytes: [UInt8]?) {
    // First of all: what it cannot read, Foundation takes for empty and writes over.
    let before = try content()
    synchronizeFoundation()
    return try bytes() == before.bytes ? before : content()
  }

  private func content() throws(PreferencesError) -> (values: [String: PreferenceValue], bytes: [UInt8]?) {
    for _ in 0..<Self.attempts {
      guard let bytes = try bytes() else { return ([:], nil) }
      do throws(PreferencesError) {
        if !bytes.isEmpty { return (try Self.format.values(from: bytes), bytes) }
        // What Foundation leaves when it is killed, or has no more values.
        if isSettled { return ([:], bytes) }
      } catch {
        if isSettled { throw error }
      }
      // Foundation empties a file before it writes it anew: whoever looks in between sees nothing, or a part.
      pause()
    }
    throw PreferencesError(.unreadable, "it is being written all the time")
  }

  /// Whether nobody has written to the file for a second.
  private var isSettled: Bool {
    do {
      let date = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
      return date.map { $0.timeIntervalSinceNow < -1 } ?? false
    } catch { return false }
  }

  private func bytes() throws(PreferencesError) -> [UInt8]? {
    do { return try RegularFile.read(path, upTo: PropertyListPreferences.maximumByteCount).bytes } catch {
      guard error.code == .notFound else { throw error }
      return nil
    }
  }

  private static let attempts = 100
  private static let format = PropertyListFormat.foundation

  // MARK: Writing

  /// Puts what `edit` makes of the values in their place.
  ///
  /// - Returns: the values that are in the file now.
  /// - Throws: `unwritable`, and as ``read()``; the file is as it was then.
  func replace(
    _ edit: (inout [String: PreferenceValue]) -> Void
  ) throws(PreferencesError) -> [String: PreferenceValue] {
    var values: [String: PreferenceValue] = [:]
    var isReplaced = false
    do {
      try makeFolder()
      // New files are this user's alone, as Foundation makes them.
      let replace = try FileReplacement(path, isPrivate: !FileManager.default.fileExists(atPath: path))
      try replace(upTo: PropertyListPreferences.maximumByteCount) { _ throws(PreferencesError) in
        let old = try synchronizedContent().values
        values = old
        edit(&values)
        isReplaced = !PreferenceValue.dictionary(values).isIdentical(to: .dictionary(old))
        return isReplaced ? try Self.format.bytes(of: values, replacing: nil) : nil
      }
    } catch { throw error.about("user defaults \"\(path)\"") }
    if isReplaced { synchronizeFoundation() }
    return values
  }

  /// Makes the folder, and those around it, this user's alone.
  func makeFolder() throws(PreferencesError) {
    let folder = URL(filePath: path).deletingLastPathComponent().path
    guard !FileManager.default.fileExists(atPath: folder) else { return }
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch { throw PreferencesError(.unwritable, "its folder cannot be made", cause: error) }
  }

  /// The value as it comes back from the file, so that it is the same before and after.
  ///
  /// - Throws: `unstorable`, `limitExceeded`.
  func storable(_ value: PreferenceValue, forKey key: String) throws(PreferencesError) -> PreferenceValue {
    do throws(PreferencesError) {
      let bytes = try Self.format.bytes(of: [key: value], replacing: nil)
      guard bytes.count <= PropertyListPreferences.maximumByteCount else {
        throw PreferencesError(.limitExceeded, "it takes more than \(PropertyListPreferences.maximumByteCount) bytes")
      }
      if let value = try Self.format.values(from: bytes)[key] { return value }
      throw PreferencesError(.unstorable, "it does not come back")
    } catch { throw error.about(key: key) }
  }

  /// Has Foundation's objects in this process write what they have waiting, and forget what they have read.
  ///
  /// It writes for all suites at once, and says no more than whether one of them failed: nothing of ours is among them.
  /// The object is made for the call, since on Linux it is not `Sendable`; what it stands for is behind locks of
  /// Foundation's own.
  private func synchronizeFoundation() {
    if let suiteName { UserDefaults(suiteName: suiteName)?.synchronize() } else { UserDefaults.standard.synchronize() }
  }
}
