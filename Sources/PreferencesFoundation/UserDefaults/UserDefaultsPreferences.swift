public import Preferences

/// Preferences in a suite of user defaults: the file that Foundation's `UserDefaults` keeps for it.
///
/// ```swift
/// let defaults = try UserDefaultsPreferences(suiteName: "com.example.shop")
/// try defaults.set(8080, forKey: "server.port")
/// @StoredPreference("theme", in: UserDefaultsPreferences.standard) var theme = "light"
/// ```
///
/// A key is one entry of the suite, with or without dots. Every value comes back with its type. Foundation's own
/// objects read those that a property list has a form for: text, data, booleans, integers, doubles, dates of whole
/// seconds, and arrays and dictionaries of them. The others are kept as ``PropertyListPreferences`` keeps them: a URL
/// as the dictionary `$url`, a small unsigned integer as `$unsigned`, any other date as `$date`. What Foundation's
/// objects have stored is read as what it is. Only the suite answers: not what was registered or given as an argument,
/// not the global domain.
///
/// The file is read and replaced here and not by Foundation, which loses values when two processes write, replaces a
/// file that it cannot read, empties the file before it finds the disk full, and takes `1` and `1.0` for the same. So
/// every write is on disk when it returns, and when it throws, everything is as it was. What other processes have
/// written meanwhile is kept, key by key; that holds among users of this type. Who writes through Foundation's own
/// objects at the same moment may still overwrite others, and whenever they write, `-0.0` in the file becomes `0.0`.
///
/// All stores of one suite in a process are one: they share their values and their observers. A lookup sees the suite
/// as it was when it was last read or written here. What others have written, Foundation's objects in this process
/// among them, is seen after ``reload()``, or at once while ``watch()`` is in force. Foundation's objects in this
/// process see a write at once; each write, and ``reload()``, calls `synchronize()` for them, so that what they have
/// waiting is not written over it later.
public struct UserDefaultsPreferences: PreferencesStore {
  public let name: String
  private let suite: UserDefaultsSuite

  /// The program's own defaults, which `UserDefaults.standard` has: named after the bundle or, without one, after the
  /// executable. They are read when something is first asked of them, so whatever that throws is thrown then.
  public static let standard = UserDefaultsPreferences(name: "user defaults", suite: .program)

  /// Reads a suite, which need not exist yet.
  ///
  /// - Parameter suiteName: a name, or a path without its ending `.plist` that begins with `/`.
  /// - Throws: ``PreferencesError/Code/invalidKey`` for a name that breaks the rule of ``PreferenceKeyName``, leads out
  ///   of the folder, or is that of a domain which is no suite; ``PreferencesError/Code/unreadable``,
  ///   ``PreferencesError/Code/malformed`` or ``PreferencesError/Code/limitExceeded`` for the file.
  public init(suiteName: String) throws(PreferencesError) {
    self.init(name: "user defaults \(suiteName)", suite: try .named(suiteName))
    try reload()
  }

  private init(name: String, suite: UserDefaultsSuite) { (self.name, self.suite) = (name, suite) }

  /// Where the file of the suite is, or will be.
  public var path: String { suite.file.path }

  /// Equal for two stores of one suite.
  public var identity: StoreIdentity { StoreIdentity(Self.self, name: path) }

  // MARK: Reading

  /// - Throws: ``PreferencesError/Code/invalidKey``; for the program's own defaults, as ``reload()`` when they were not
  ///   read yet.
  public func value(forKey key: String) throws(PreferencesError) -> PreferenceValue? {
    try PreferenceKeyName.validate(key)
    return try values()[key]
  }

  /// The keys in ascending order.
  ///
  /// - Throws: as ``value(forKey:)``.
  public func keys() throws(PreferencesError) -> [String] {
    try values().keys.filter(PreferenceKeyName.isValid).sorted()
  }

  /// Has Foundation's objects in this process write what they have waiting, and reads the file again.
  ///
  /// - Throws: ``PreferencesError/Code/unreadable``, ``PreferencesError/Code/malformed``,
  ///   ``PreferencesError/Code/limitExceeded``. The values from before stay then.
  public func reload() throws(PreferencesError) { tell(try suite.reload()) }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    suite.changes.observe(notify)
  }

  /// Reloads whenever anybody changes the file, until the observation ends. Takes a thread.
  ///
  /// A file that then cannot be read leaves the values as they were, and goes to ``handleFailure(_:key:)`` with the key
  /// `*`.
  /// - Throws: ``PreferencesError/Code/unreadable`` when the folder cannot be watched,
  ///   ``PreferencesError/Code/unwritable`` when it is not there and cannot be made, and as ``reload()``.
  public func watch() throws(PreferencesError) -> PreferenceObservation {
    let watch: FileWatch
    do {
      try suite.file.makeFolder()
      watch = try FileWatch(path) {
        do { try reload() } catch { handleFailure(error, key: "*") }
      }
    } catch { throw error.about(name) }
    let observation = PreferenceObservation { watch.stop() }
    // What came between the last look and the first event.
    try reload()
    return observation
  }

  private func values() throws(PreferencesError) -> [String: PreferenceValue] {
    if let values = suite.values { return values }
    try reload()
    return suite.values ?? [:]
  }

  // MARK: Writing

  /// - Returns: ``WriteOutcome/visible``.
  /// - Throws: ``PreferencesError/Code/invalidKey``; ``PreferencesError/Code/unstorable`` for a date that is no moment,
  ///   ``PreferencesError/Code/limitExceeded``, ``PreferencesError/Code/unwritable``, and as ``reload()`` for the file
  ///   that is there.
  @discardableResult
  public func set(_ value: PreferenceValue, forKey key: String) throws(PreferencesError) -> WriteOutcome {
    try set([key: value])
    return .visible
  }

  /// In one step: the file is replaced once, and no reader sees a part of it.
  /// - Throws: as ``set(_:forKey:)-(PreferenceValue,String)``.
  public func set(_ new: [String: PreferenceValue]) throws(PreferencesError) {
    var storable: [String: PreferenceValue] = [:]
    for (key, value) in new {
      try PreferenceKeyName.validate(key)
      storable[key] = try suite.file.storable(value, forKey: key)
    }
    let values = storable
    if !values.isEmpty { try change { $0.merge(values) { $1 } } }
  }

  /// - Returns: ``WriteOutcome/visible``.
  /// - Throws: ``PreferencesError/Code/invalidKey``, ``PreferencesError/Code/unwritable``, and as ``reload()``.
  @discardableResult
  public func removeValue(forKey key: String) throws(PreferencesError) -> WriteOutcome {
    try PreferenceKeyName.validate(key)
    try change { $0[key] = nil }
    return .visible
  }

  /// - Throws: ``PreferencesError/Code/unwritable``, and as ``reload()``.
  public func removeAll() throws(PreferencesError) { try change { $0 = [:] } }

  /// In one step: no write through this type, in whatever process, comes between the comparison and this one.
  @discardableResult
  public func exchange(
    _ old: PreferenceValue?, for new: PreferenceValue?, forKey key: String, as kind: PreferenceValue.Kind?,
    secrecy: Secrecy
  ) throws(PreferencesError) -> WriteOutcome? {
    try PreferenceKeyName.validate(key)
    guard accepts(routed(secrecy)) else { throw .noStore(in: name, for: secrecy) }
    var storable: PreferenceValue?
    if let new { storable = try suite.file.storable(new, forKey: key) }
    var isExchanged = false
    try change { [storable] values in
      isExchanged = values[key].isSame(as: old)
      if isExchanged { values[key] = storable }
    }
    return isExchanged ? .visible : nil
  }

  private func change(_ edit: (inout [String: PreferenceValue]) -> Void) throws(PreferencesError) {
    tell(try suite.change(edit))
  }

  private func tell(_ changed: Set<String>) {
    if !changed.isEmpty { suite.changes.send(PreferenceChange(keys: changed)) }
  }
}

extension UserDefaultsPreferences: CustomStringConvertible, CustomReflectable {}
