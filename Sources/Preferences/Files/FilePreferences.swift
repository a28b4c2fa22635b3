package import DurableFiles
import Synchronization

/// Preferences in a file whose top level is a dictionary: see ``PropertyListPreferences``, ``JSONPreferences`` and
/// ``DotenvPreferences``.
///
/// Dots in a key lead into nested dictionaries: `server.port` is the entry of that name if it exists, else the entry
/// `port` of the dictionary `server`, where the rest of the key is looked up by the same rule. A new value is stored in
/// the innermost existing dictionary that its key leads into.
///
/// Every write is durable when it returns, unless ``PreferenceFileOptions/savingExplicitly`` is set. The file is
/// replaced atomically and keeps its owner and permissions. Changes that other processes made to other keys are kept. A
/// file that cannot be read is never replaced.
///
/// Lookups return the values from the last time that this object read or wrote the file. Changes of other processes are
/// loaded by `reload()`, or as they happen while `watch()` is active.
public final class FilePreferences<Format: PreferenceFileFormat>: PreferencesStore {
  /// The largest file that is read or written, in bytes (16 MiB).
  public static var maximumByteCount: Int { 16 << 20 }

  public let name: String
  /// The absolute path of the file. A relative path is resolved when the store is created.
  public let path: String
  /// How the file is created and written.
  public let options: PreferenceFileOptions
  private let format: Format
  /// The format of the file as it was read last.
  private let present: Mutex<Format>
  /// What errors call the file: its path as the caller gave it.
  private let label: String
  private let state = Mutex(UnsavedValues())
  /// Held while the file is replaced, so that `state` is updated in the same order. Locked before `state`.
  private let saving = Mutex(())
  private let changes = ChangeBroadcast()

  /// Reads the regular file at `path`.
  ///
  /// - Throws: `notFound` unless ``PreferenceFileOptions/creating`` is set;
  ///   `unreadable`, `exposed` or `malformed`;
  ///   `limitExceeded` if the file has more than 16 MiB, is nested deeper than 128 levels, or
  ///   would unfold into more than 64 MiB.
  public init(
    at path: String, format: Format = Format(), options: PreferenceFileOptions = []
  ) throws(PreferencesError) {
    name = "\(Format.name) \(path)"
    label = "\(Format.name) \"\(path)\""
    self.path = PathName.absolute(path)
    self.format = format
    present = Mutex(format)
    self.options = options
    let values = try read()
    state.withLock { _ = $0.rebase(on: values) }
  }

  // MARK: Reading

  /// Returns the value; `nil` if it is absent. A string is parsed if the query is for a URL or a date. A format of text
  /// alone parses every string as the query's kind.
  ///
  /// - Throws: `typeMismatch` if the string does not parse.
  public func value(for query: PreferenceQuery) throws(PreferencesError) -> PreferenceValue? {
    try NestedValues.find(query, in: state.withLock { $0.values }, isText: Format.isText)
  }

  /// The values of the file with the unsaved changes.
  var loadedValues: [String: PreferenceValue] { state.withLock { $0.values } }

  /// The names in ascending order; the entries of a dictionary are listed as `server.port`.
  public func names(of secrecy: Secrecy) -> [PreferenceName] {
    NestedValues.keys(of: state.withLock { $0.values })
  }

  /// The names in ascending order; the entries of a dictionary are listed as `server.port`.
  public func keys() -> [String] { names(of: .plain).map(\.text) }

  /// Reads the file again. Unsaved changes are kept.
  ///
  /// - Throws: the codes of ``init(at:format:options:)``, with the previous values intact.
  public func reload() throws(PreferencesError) { try tell(try loadChanges()) }

  /// The asynchronous form of `reload()`. Cancelling the task does not stop it.
  public func reload() async throws(PreferencesError) {
    try await HelperPool.waiting(for: path).run { () throws(PreferencesError) in try reload() }
  }

  private func loadChanges() throws(PreferencesError) -> Change {
    try saving.withLock { _ throws(PreferencesError) in
      let fresh = try read()
      let keys = state.withLock { $0.rebase(on: fresh).changed }
      return Change(keys: keys, ofOthers: keys)
    }
  }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    changes.observe(notify)
  }

  /// Reloads after each change of the file, until the observation ends, on a separate thread.
  ///
  /// A program that saves a file may remove or truncate it first. With ``PreferenceFileOptions/creating``, a file that
  /// is missing or empty is therefore loaded only after half a second, so that observers receive no defaults in
  /// between.
  ///
  /// Every part of the path and of the links in it is watched, and may be replaced, removed and made again. On a file
  /// system that does not report all changes, such as one of a network, and where a folder of the path cannot be read,
  /// the file is also looked at every two seconds.
  ///
  /// A change of the file in place is loaded when its writer closes the file.
  ///
  /// If a reload fails, the values stay, and the error is reported to `PreferenceFailures` with the key `*`.
  /// - Throws: `unreadable` if the folder cannot be watched, `unwritable` if ``PreferenceFileOptions/creating`` is set
  ///   and the folder cannot be made, and as `reload()`.
  public func watch() throws(PreferencesError) -> PreferenceObservation {
    let watch: FileWatch<PreferencesError>
    do {
      try makeFolder()
      watch = try FileWatch(path) { [weak self] in
        guard let self else { return }
        waitForContent()
        do { try reload() } catch { PreferenceFailures.report(error, key: "*", reader: name) }
      }
    } catch { throw error.about(label) }
    let observation = PreferenceObservation { watch.stop() }
    // Loads changes that were made before the watch began.
    try reload()
    return observation
  }

  /// The asynchronous form of `watch()`. Cancelling the task does not stop it.
  public func watch() async throws(PreferencesError) -> PreferenceObservation {
    try await HelperPool.waiting(for: path).run { () throws(PreferencesError) in try watch() }
  }

  // MARK: Writing

  /// Makes the edits with one replacement of the file; no reader sees a part of them. Conditions are checked against
  /// the current file with the unsaved changes, or against memory with ``PreferenceFileOptions/savingExplicitly``.
  /// Without this option, lookups then return the values of the file, even if there are no edits.
  ///
  /// - Throws: `unsupportedByFormat` for a value that the format cannot represent, and the codes of
  ///   `save()` if the file is written.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    let (outcome, change) = try write(try prepared(edits))
    try tell(change)
    return outcome
  }

  /// The asynchronous form of `apply(_:)`; replaces the file and calls the observers on a separate thread.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) async throws -> WriteOutcome {
    try await HelperPool.waiting(for: path).run { try apply(edits) }
  }

  /// Edits with values as the file stores them.
  private struct Prepared: Sendable {
    var clears: Bool
    /// The values that are expected, each also in the form in which the file stores it.
    var conditions: [(query: PreferenceQuery, expected: PreferenceValue?, stored: PreferenceValue?)] = []
    var changes: [(key: String, value: PreferenceValue?)] = []

    func isMet(by values: [String: PreferenceValue]) throws(PreferencesError) -> Bool {
      for (query, expected, stored) in conditions {
        let found = NestedValues.find(query.name.text, in: values)
        if found.isSame(as: expected) || found.isSame(as: stored) { continue }
        if try !NestedValues.find(query, in: values, isText: Format.isText).isSame(as: expected) { return false }
      }
      return true
    }

    func make(in state: inout UnsavedValues) {
      if clears { state.removeAll() }
      for (key, value) in changes {
        state.write(key) { values in
          if let value {
            NestedValues.store(value, under: key, in: &values)
          } else {
            NestedValues.remove(key, from: &values)
          }
        }
      }
    }
  }

  private func prepared(_ edits: PreferenceEdits) throws -> Prepared {
    var prepared = Prepared(clears: edits.clears)
    let format = present.withLock(\.self)
    for edit in edits.edits {
      if case .ifStored(let expected) = edit.condition {
        let expected = try expected?.value()
        prepared.conditions.append((PreferenceQuery(edit.name, as: expected?.kind), expected, stored(expected, format)))
      }
      let key = edit.name.text
      let value = try edit.content.map { try format.storable(try $0.value(), forKey: key) }
      prepared.changes.append((key, value))
    }
    guard edits.isUnordered else { return prepared }
    // Outer names first, so that inner names are found inside them.
    let order = prepared.changes.enumerated().sorted { a, b in
      (a.element.key.utf8.count, a.element.key, a.offset) < (b.element.key.utf8.count, b.element.key, b.offset)
    }
    prepared.changes = order.map(\.element)
    return prepared
  }

  /// The value in the form in which the file stores it; the value itself if the file cannot store it.
  private func stored(_ value: PreferenceValue?, _ format: Format) -> PreferenceValue? {
    guard let value else { return nil }
    do throws(PreferencesError) { return try format.storable(value, forKey: "value") } catch { return value }
  }

  private func write(_ prepared: Prepared) throws -> (WriteOutcome, Change) {
    guard !options.contains(.savingExplicitly) else {
      return try state.withLock { state in
        let old = state.values
        guard try prepared.isMet(by: old) else { return (.conflict, Change()) }
        prepared.make(in: &state)
        return (.visible, Change(keys: NestedValues.changes(from: old, to: state.values)))
      }
    }
    return try saving.withLock { _ in
      let unsaved = state.withLock(\.self)
      var isMet = true
      let change = try replaceFile(from: unsaved) { candidate throws(PreferencesError) in
        isMet = try prepared.isMet(by: candidate.values)
        if isMet { prepared.make(in: &candidate) }
      }
      return (isMet ? .visible : .conflict, change)
    }
  }

  /// Whether there are changes that are not saved.
  public var hasUnsavedChanges: Bool { state.withLock { !$0.isEmpty } }

  /// Writes the unsaved changes to the file, over its current content. The file is durable when the method returns.
  ///
  /// - Throws: `unwritable`, and as ``init(at:format:options:)`` for the current file: the changes stay unsaved, and
  ///   the file is intact. `durabilityUnknown` if only the sync of its folder failed: the new file is in place, lookups
  ///   return its values, and observers are notified.
  public func save() throws(PreferencesError) { try tell(try saveChanges()) }

  /// The asynchronous form of `save()`; replaces the file on a separate thread. Cancelling the task does not stop it.
  public func save() async throws(PreferencesError) {
    try await HelperPool.waiting(for: path).run { () throws(PreferencesError) in try save() }
  }

  private func saveChanges() throws(PreferencesError) -> Change {
    try saving.withLock { _ throws(PreferencesError) in
      let candidate = state.withLock { $0 }
      return candidate.isEmpty ? Change() : try replaceFile(from: candidate)
    }
  }

  /// What a load or a write has changed.
  private struct Change: Sendable {
    var keys: Set<String> = []
    /// The keys that others have changed in the file.
    var ofOthers: Set<String> = []
    /// The error of a write whose file is in place, but may not survive a power failure.
    var failure: PreferencesError?
  }

  /// Writes the unsaved changes and `edit` to the file, then updates `state`. `edit` gets the current file's values
  /// with the unsaved changes.
  private func replaceFile(
    from unsaved: UnsavedValues, _ edit: (inout UnsavedValues) throws(PreferencesError) -> Void = { _ in }
  ) throws(PreferencesError) -> Change {
    var written = unsaved
    var ofOthers: Set<String> = []
    var failure: PreferencesError?
    do {
      try makeFolder()
      let replace = try FileReplacement(path, isPrivate: options.contains(.private))
      try replace(upTo: Self.maximumByteCount) { old throws(PreferencesError) in
        written = unsaved
        let fresh = try self.values(in: old)
        ofOthers = written.rebase(on: fresh).changed
        try edit(&written)
        guard written.rebase(on: fresh).differs else { return nil }
        return try format.bytes(of: written.values, replacing: old?.isEmpty == true ? nil : old)
      }
    } catch {
      failure = error.about(label)
      if let failure, failure.code != .durabilityUnknown { throw failure }
    }
    let inFile = written.values
    let keys = state.withLock { state in
      state.forget(unsaved)
      return state.rebase(on: inFile).changed
    }
    return Change(keys: keys, ofOthers: ofOthers, failure: failure)
  }

  private func tell(_ change: Change) throws(PreferencesError) {
    changes.send(change.keys, ofOthers: change.ofOthers)
    if let failure = change.failure { throw failure }
  }

  // MARK: The file

  /// Makes the folder and its missing parents if the file is to be created.
  private func makeFolder() throws(PreferencesError) {
    guard options.contains(.creating) else { return }
    try Descriptor.makeDirectory(PathName.directory(of: path), isPrivate: options.contains(.private))
  }

  private func read() throws(PreferencesError) -> [String: PreferenceValue] {
    do {
      let isPrivate = options.contains(.private)
      return try values(in: try RegularFile.read(path, upTo: Self.maximumByteCount, isPrivate: isPrivate))
    } catch {
      if error.code == .notFound, options.contains(.creating) { return [:] }
      throw error.about(label)
    }
  }

  private func values(in bytes: [UInt8]?) throws(PreferencesError) -> [String: PreferenceValue] {
    let isCreating = options.contains(.creating)
    if let bytes {
      if isCreating && bytes.isEmpty { return [:] }
      let values = try format.values(from: bytes)
      present.withLock { $0 = format.format(of: bytes) }
      return values
    }
    guard isCreating else { throw PreferencesError(.notFound, "the file is gone") }
    return [:]
  }

  /// Waits until the file has content, for half a second. Called on the thread of a watch alone.
  private func waitForContent() {
    guard options.contains(.creating) else { return }
    let deadline = Deadline(after: .milliseconds(500))
    var pause = timespec(tv_sec: 0, tv_nsec: 10_000_000)
    while deadline.remaining > .zero {
      var status = stat()
      if stat(path, &status) == 0, status.st_size > 0 { return }
      nanosleep(&pause, nil)
    }
  }
}

extension FilePreferences: CustomStringConvertible, CustomReflectable {}

/// Lookups return values in memory.
extension FilePreferences: WaitingReader { package var threads: HelperPool? { nil } }
