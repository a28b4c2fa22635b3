import Synchronization

/// Preferences in one file whose top level is a dictionary: see ``PropertyListPreferences`` and ``JSONPreferences``.
///
/// A dot in a key leads into dictionaries. `server.port` is the entry of that name if there is one, else the
/// entry `port` of the dictionary `server`; inside it the rest of the key is looked up by the same rule. A new value goes
/// into the innermost dictionary that its name leads into.
///
/// Every write is on disk when it returns, unless ``PreferenceFileOptions/savingExplicitly`` says otherwise. The file is
/// replaced as a whole, with its permissions: a crash leaves the old or the new one. What other processes have written
/// meanwhile is kept, key by key. A file that cannot be read is never replaced.
///
/// Shared by reference; a lookup sees the file as it was when it was last read or written here. Another process's changes
/// are seen after ``reload()``, or at once while ``watch()`` is in force.
public final class FilePreferences<Format: PreferenceFileFormat>: PreferencesStore {
  /// The largest file that is read or written, in bytes (16 MiB).
  public static var maximumByteCount: Int { 16 << 20 }

  public let name: String
  /// Where the file is.
  public let path: String
  /// How the file is made and kept.
  public let options: PreferenceFileOptions
  private let format: Format
  private let state = Mutex(UnsavedValues())
  /// Held while the file is replaced, so that its state is taken over in the same order. Comes before `state`.
  private let saving = Mutex(())
  private let changes = ChangeBroadcast()

  /// Reads the file at `path`, which must be a regular file.
  ///
  /// - Throws: ``PreferencesError/Code/notFound`` unless the options say to create it,
  ///   ``PreferencesError/Code/unreadable``, ``PreferencesError/Code/exposed``, ``PreferencesError/Code/malformed``, or
  ///   ``PreferencesError/Code/limitExceeded`` when the file has more than 16 MiB, is nested deeper than 128 levels, or
  ///   would unfold into more than 64 MiB.
  public init(
    at path: String, format: Format = Format(), options: PreferenceFileOptions = []
  ) throws(PreferencesError) {
    name = "\(Format.name) \(path)"
    self.path = path
    self.format = format
    self.options = options
    let values = try read()
    state.withLock { _ = $0.rebase(on: values) }
  }

  // MARK: Reading

  /// - Throws: ``PreferencesError/Code/invalidKey``.
  public func value(forKey key: String) throws(PreferencesError) -> PreferenceValue? {
    try PreferenceKeyName.validate(key)
    return NestedValues.find(key, in: state.withLock { $0.values })
  }

  /// As ``value(forKey:)``, with a string parsed where a URL or a date is wanted, which people write so.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey``, ``PreferencesError/Code/typeMismatch`` when the
  ///   string is none.
  public func value(
    forKey key: String, as kind: PreferenceValue.Kind
  ) throws(PreferencesError) -> PreferenceValue? {
    try PreferenceKeyName.validate(key)
    return try NestedValues.find(key, as: kind, in: state.withLock { $0.values })
  }

  /// The keys in ascending order; a dictionary is listed by its entries, as `server.port`.
  public func keys() -> [String] { NestedValues.keys(of: state.withLock { $0.values }) }

  /// Reads the file again. What has not been saved stays as it is here.
  ///
  /// When it throws, with the codes of ``init(at:format:options:)``, the values from before stay.
  public func reload() throws(PreferencesError) {
    let changed = try saving.withLock { _ throws(PreferencesError) in
      let fresh = try read()
      return state.withLock { $0.rebase(on: fresh).changed }
    }
    tell(changed)
  }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    changes.observe(notify)
  }

  /// Reloads whenever anybody changes the file, until the observation ends. Takes a thread.
  ///
  /// A file that then cannot be read leaves the values as they were, and goes to
  /// ``PreferencesReader/handleFailure(_:key:)`` with the key `*`.
  /// - Throws: ``PreferencesError/Code/unreadable`` when the folder cannot be watched, and as ``reload()``.
  public func watch() throws(PreferencesError) -> PreferenceObservation {
    let watch: FileWatch
    do {
      watch = try FileWatch(path) { [weak self] in
        do { try self?.reload() } catch { self?.handleFailure(error, key: "*") }
      }
    } catch { throw error.about("\(Format.name) \"\(path)\"") }
    let observation = PreferenceObservation { watch.stop() }
    // What came between the last look and the first event.
    try reload()
    return observation
  }

  // MARK: Writing

  /// - Returns: ``WriteOutcome/visible``.
  /// - Throws: ``PreferencesError/Code/invalidKey``, ``PreferencesError/Code/unstorable`` for a value that the format has
  ///   no form for, and what ``save()`` throws when that is done now; then nothing has changed.
  @discardableResult
  public func set(_ value: PreferenceValue, forKey key: String) throws(PreferencesError) -> WriteOutcome {
    try set([key: value])
    return .visible
  }

  /// In one step: the file is replaced once, and no reader sees a part of it.
  /// - Throws: as ``set(_:forKey:)-(PreferenceValue,String)``.
  public func set(_ new: [String: PreferenceValue]) throws(PreferencesError) {
    var storable: [(String, PreferenceValue)] = []
    // Outer names first: the inner ones are then found inside them.
    for (key, value) in new.sorted(by: { ($0.key.utf8.count, $0.key) < ($1.key.utf8.count, $1.key) }) {
      try PreferenceKeyName.validate(key)
      storable.append((key, try self.storable(value, forKey: key)))
    }
    let values = storable
    guard !values.isEmpty else { return }
    try change { state in
      for (key, value) in values { state.write(key) { NestedValues.store(value, under: key, in: &$0) } }
    }
  }

  /// - Returns: ``WriteOutcome/visible``.
  /// - Throws: ``PreferencesError/Code/invalidKey``, and what ``save()`` throws when that is done now.
  @discardableResult
  public func removeValue(forKey key: String) throws(PreferencesError) -> WriteOutcome {
    try PreferenceKeyName.validate(key)
    try change { state in state.write(key) { NestedValues.remove(key, from: &$0) } }
    return .visible
  }

  /// - Throws: what ``save()`` throws when that is done now.
  public func removeAll() throws(PreferencesError) {
    try change { $0.removeAll() }
  }

  /// Whether there are changes that are not in the file.
  public var hasUnsavedChanges: Bool { state.withLock { !$0.isEmpty } }

  /// Puts what has changed here into the file, over what is there now. On disk when it returns.
  ///
  /// - Throws: ``PreferencesError/Code/unwritable``, and as ``init(at:format:options:)`` for the file that is there. It is
  ///   left as it is then, and the changes still wait.
  public func save() throws(PreferencesError) {
    let changed = try saving.withLock { _ throws(PreferencesError) in
      let candidate = state.withLock { $0 }
      return candidate.isEmpty ? [] : try replaceFile(with: candidate)
    }
    tell(changed)
  }

  private func change(_ edit: (inout UnsavedValues) -> Void) throws(PreferencesError) {
    guard !options.contains(.savingExplicitly) else {
      let changed = state.withLock { state in
        let old = state.values
        edit(&state)
        return NestedValues.changes(from: old, to: state.values)
      }
      return tell(changed)
    }
    let changed = try saving.withLock { _ throws(PreferencesError) in
      var candidate = state.withLock { $0 }
      edit(&candidate)
      return try replaceFile(with: candidate)
    }
    tell(changed)
  }

  /// Brings the candidate's changes into the file and then here.
  private func replaceFile(with candidate: UnsavedValues) throws(PreferencesError) -> Set<String> {
    var written = candidate
    do {
      let replace = try FileReplacement(path, isPrivate: options.contains(.private))
      try replace(upTo: Self.maximumByteCount) { old throws(PreferencesError) in
        let fresh = try self.values(in: old)
        written = candidate
        guard written.rebase(on: fresh).differs else { return nil }
        return try format.bytes(of: written.values, replacing: old)
      }
    } catch { throw error.about("\(Format.name) \"\(path)\"") }
    let inFile = written.values
    return state.withLock { state in
      state.forget(candidate)
      return state.rebase(on: inFile).changed
    }
  }

  private func tell(_ changed: Set<String>) {
    if !changed.isEmpty { changes.send(PreferenceChange(keys: changed)) }
  }

  // MARK: The file

  private func read() throws(PreferencesError) -> [String: PreferenceValue] {
    do {
      let isPrivate = options.contains(.private)
      return try values(in: try RegularFile.read(path, upTo: Self.maximumByteCount, isPrivate: isPrivate).bytes)
    } catch {
      if error.code == .notFound, options.contains(.creating) { return [:] }
      throw error.about("\(Format.name) \"\(path)\"")
    }
  }

  private func values(in bytes: [UInt8]?) throws(PreferencesError) -> [String: PreferenceValue] {
    if let bytes { return try format.values(from: bytes) }
    guard options.contains(.creating) else { throw PreferencesError(.notFound, "the file is gone") }
    return [:]
  }

  /// The value as it comes back from the file, so that it is the same before and after.
  private func storable(_ value: PreferenceValue, forKey key: String) throws(PreferencesError) -> PreferenceValue {
    do throws(PreferencesError) {
      let bytes = try format.bytes(of: [key: value], replacing: nil)
      guard bytes.count <= Self.maximumByteCount else {
        throw PreferencesError(.limitExceeded, "it takes more than \(Self.maximumByteCount) bytes")
      }
      let stored = try format.values(from: bytes)
      if let value = stored[key] { return value }
      throw PreferencesError(.unstorable, "it does not come back")
    } catch { throw error.about(key: key) }
  }
}

extension FilePreferences: CustomStringConvertible, CustomReflectable {}
