import DurableFiles
public import Preferences

/// Preferences in a suite of user defaults: the file that Foundation's `UserDefaults` keeps for it.
///
/// ```swift
/// let defaults = try UserDefaultsPreferences(suiteName: "com.example.shop")
/// try defaults.set(8080, forKey: "server.port")
/// @StoredPreference("theme", in: UserDefaultsPreferences.standard) var theme = "light"
/// ```
///
/// A key is one entry of the suite, with or without dots. Every value is read with its type. Foundation's own objects
/// can read the types of a property list: text, data, booleans, integers, doubles, dates of whole seconds, and arrays
/// and dictionaries of them. Other types are stored as by `PropertyListFormat(_:keepingTypes: true)`: a URL as the
/// dictionary `$url`, an unsigned integer up to `Int64.max` as `$unsigned`, any other date as `$date`. Values stored by
/// Foundation's objects are read as they are. Only the suite itself is read, not registered defaults, arguments or the
/// global domain.
///
/// This type reads and replaces the file itself. Foundation loses values if two processes write, replaces a file that
/// it cannot read, truncates the file before it finds that the disk is full, and treats `1` and `1.0` as equal. Here
/// every write is on disk when it returns. If it throws, nothing is changed, unless only the sync of the folder failed.
/// Values of other keys that other processes have written meanwhile through this type are kept. A process that writes
/// through Foundation's objects at the same moment may still overwrite values, and whenever it writes, `-0.0` in the
/// file becomes `0.0`.
///
/// All stores of one suite in a process share their values and observers. A lookup returns the values of the last read
/// or write in this process. Writes by other processes, and by Foundation's objects in this process, are seen after
/// `reload()`, or at once while `watch()` is active. Foundation's objects in this process see a write at once: each
/// write and each `reload()` calls `synchronize()`, so that their pending changes do not overwrite it later. If a
/// different thread reads through such an object at that moment, Foundation may keep the old values until the next
/// `synchronize()`.
public struct UserDefaultsPreferences: PreferencesStore {
  public let name: String
  private let suite: UserDefaultsSuite

  /// The program's own defaults, as in `UserDefaults.standard`: named after the bundle or, without one, after the
  /// executable. They are read on first use, which throws if that fails.
  public static let standard = UserDefaultsPreferences(name: "user defaults", suite: .program)

  /// Reads a suite, which does not have to exist.
  ///
  /// - Parameter suiteName: a name, or an absolute path without the suffix `.plist`.
  /// - Throws: ``PreferencesError/Code/invalidKey`` for a name that breaks the rule of ``PreferenceName``, leads out
  ///   of the folder, or names a domain that is not a suite; ``PreferencesError/Code/unreadable``,
  ///   ``PreferencesError/Code/malformed`` or ``PreferencesError/Code/limitExceeded`` for the file.
  public init(suiteName: String) throws(PreferencesError) {
    self.init(name: "user defaults \(suiteName)", suite: try .named(suiteName))
    try reload()
  }

  private init(name: String, suite: UserDefaultsSuite) {
    self.name = name
    self.suite = suite
  }

  /// The path of the suite's file, which may not exist yet.
  public var path: String { suite.file.path }

  // MARK: Reading

  /// - Throws: the errors of `reload()`, if these are the program's own defaults and were not read yet.
  public func value(for query: PreferenceQuery) throws(PreferencesError) -> PreferenceValue? {
    try values()[query.name.text]
  }

  /// The names in ascending order.
  ///
  /// - Throws: the errors of ``value(for:)``.
  public func names(of secrecy: Secrecy) throws(PreferencesError) -> [PreferenceName] {
    PreferenceName.valid(try values().keys.sorted())
  }

  /// Makes Foundation's objects in this process write their pending changes, and reads the file again.
  ///
  /// - Throws: ``PreferencesError/Code/unreadable``, ``PreferencesError/Code/malformed``,
  ///   ``PreferencesError/Code/limitExceeded``. The values do not change then.
  public func reload() throws(PreferencesError) {
    let changed = try suite.reload()
    suite.changes.send(changed, ofOthers: changed)
  }

  /// The asynchronous form of `reload()`. Cancelling the task does not stop it.
  public func reload() async throws(PreferencesError) {
    try await HelperPool.waiting(for: path).run { () throws(PreferencesError) in try reload() }
  }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    suite.changes.observe(notify)
  }

  /// Reloads after every change of the file, on a separate thread, until the observation ends.
  ///
  /// Every part of the path is watched, as by `FilePreferences.watch()`.
  ///
  /// If the file cannot be read, the values do not change, and the error is reported to ``PreferenceFailures`` with the
  /// key `*`.
  /// - Throws: ``PreferencesError/Code/unreadable`` if the folder cannot be watched,
  ///   ``PreferencesError/Code/unwritable`` if it does not exist and cannot be created, and the codes of `reload()`.
  public func watch() throws(PreferencesError) -> PreferenceObservation {
    let watch: FileWatch<PreferencesError>
    do {
      try suite.file.makeFolder()
      watch = try FileWatch(path) {
        do { try reload() } catch { PreferenceFailures.report(error, key: "*", reader: name) }
      }
    } catch { throw error.about(name) }
    let observation = PreferenceObservation { watch.stop() }
    // Loads changes that were made before the watch began.
    try reload()
    return observation
  }

  /// The asynchronous form of `watch()`. Cancelling the task does not stop it.
  public func watch() async throws(PreferencesError) -> PreferenceObservation {
    try await HelperPool.waiting(for: path).run { () throws(PreferencesError) in try watch() }
  }

  private func values() throws(PreferencesError) -> [String: PreferenceValue] {
    if let values = suite.values { return values }
    try reload()
    return suite.values ?? [:]
  }

  // MARK: Writing

  /// Applies the edits in one step: the file is replaced once, and no reader sees a part of them. No other write
  /// through this type, in any process, happens between a comparison and its edit.
  ///
  /// - Throws: ``PreferencesError/Code/unsupportedByFormat`` for a date that is not finite,
  ///   ``PreferencesError/Code/limitExceeded``, ``PreferencesError/Code/unwritable``,
  ///   ``PreferencesError/Code/durabilityUnknown``, and the errors of `reload()` for the current file.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    let conditions = try edits.edits.compactMap { edit -> (String, PreferenceValue?)? in
      guard case .ifStored(let expected) = edit.condition else { return nil }
      return (edit.name.text, try expected?.value())
    }
    let new = try edits.edits.map { edit in
      (edit.name.text, try edit.content.map { try suite.file.storable(try $0.value(), forKey: edit.name.text) })
    }
    var isMet = true
    let (changed, ofOthers, failure) = try suite.change { values in
      isMet = conditions.allSatisfy { key, expected in values[key].isSame(as: expected) }
      guard isMet else { return }
      if edits.clears { values = [:] }
      for (key, value) in new { values[key] = value }
    }
    suite.changes.send(changed, ofOthers: ofOthers)
    if let failure { throw failure }
    return isMet ? .visible : .conflict
  }

  /// The asynchronous form of `apply`, with its observers on a separate thread; does not block the calling thread.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) async throws -> WriteOutcome {
    try await HelperPool.waiting(for: path).run { try apply(edits) }
  }
}

/// Two stores of one suite have equal identities.
extension UserDefaultsPreferences: Identifiable {
  public var id: StoreIdentity { StoreIdentity(Self.self, name: path) }
}

extension UserDefaultsPreferences: CustomStringConvertible, CustomReflectable {}
