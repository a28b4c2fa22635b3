import DurableFiles
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

  /// With a string parsed where a URL or a date is wanted, which people write so.
  ///
  /// - Throws: ``PreferencesError/Code/typeMismatch`` when the string is none.
  public func value(for query: PreferenceQuery) throws(PreferencesError) -> PreferenceValue? {
    try Self.value(for: query, in: state.withLock { $0.values })
  }

  private static func value(
    for query: PreferenceQuery, in values: [String: PreferenceValue]
  ) throws(PreferencesError) -> PreferenceValue? {
    guard let kind = query.kind else { return NestedValues.find(query.name.text, in: values) }
    return try NestedValues.find(query.name.text, as: kind, in: values)
  }

  /// The names in ascending order; a dictionary is listed by its entries, as `server.port`.
  public func names(of secrecy: Secrecy) -> [PreferenceName] {
    PreferenceName.valid(NestedValues.keys(of: state.withLock { $0.values }))
  }

  /// The names in ascending order; a dictionary is listed by its entries, as `server.port`.
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
  /// ``PreferenceFailures`` with the key `*`.
  /// - Throws: ``PreferencesError/Code/unreadable`` when the folder cannot be watched, and as ``reload()``.
  public func watch() throws(PreferencesError) -> PreferenceObservation {
    let watch: FileWatch<PreferencesError>
    do {
      watch = try FileWatch(path) { [weak self] in
        guard let self else { return }
        do { try reload() } catch { PreferenceFailures.report(error, key: "*", reader: name) }
      }
    } catch { throw error.about("\(Format.name) \"\(path)\"") }
    let observation = PreferenceObservation { watch.stop() }
    // What came between the last look and the first event.
    try reload()
    return observation
  }

  // MARK: Writing

  /// In one step: the file is replaced once, and no reader sees a part of it. A condition is about the file as it is then,
  /// with what has not been saved.
  ///
  /// - Throws: ``PreferencesError/Code/unstorable`` for a value that the format has no form for, and what ``save()`` throws
  ///   when that is done now; then nothing has changed.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    let prepared = try prepared(edits)
    let (outcome, changed) = try write(prepared)
    tell(changed)
    return outcome
  }

  /// The asynchronous form of the above. The file is replaced on a separate thread.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) async throws -> WriteOutcome {
    let prepared = try prepared(edits)
    let (outcome, changed) =
      options.contains(.savingExplicitly)
      ? try write(prepared) : try await BlockingWork.run { [self] in try write(prepared) }
    tell(changed)
    return outcome
  }

  /// Edits as the file takes them.
  private struct Prepared: Sendable {
    var clears: Bool
    var conditions: [(query: PreferenceQuery, expected: PreferenceValue?)] = []
    var changes: [(key: String, value: PreferenceValue?)] = []

    func isMet(by values: [String: PreferenceValue]) throws(PreferencesError) -> Bool {
      for (query, expected) in conditions {
        if try !FilePreferences.value(for: query, in: values).isSame(as: expected) { return false }
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
    for edit in edits.edits {
      if case .ifStored(let expected) = edit.condition {
        let expected = try expected?.value()
        prepared.conditions.append((PreferenceQuery(edit.name, as: expected?.kind), expected))
      }
      let key = edit.name.text
      let value = try edit.content.map { try storable(try $0.value(), forKey: key) }
      prepared.changes.append((key, value))
    }
    // Outer names first: the inner ones are then found inside them. Of one name the later counts.
    let order = prepared.changes.enumerated().sorted { a, b in
      (a.element.key.utf8.count, a.element.key, a.offset) < (b.element.key.utf8.count, b.element.key, b.offset)
    }
    prepared.changes = order.map(\.element)
    return prepared
  }

  private func write(_ prepared: Prepared) throws -> (WriteOutcome, Set<String>) {
    guard !options.contains(.savingExplicitly) else {
      return try state.withLock { state in
        let old = state.values
        guard try prepared.isMet(by: old) else { return (.conflict, []) }
        prepared.make(in: &state)
        return (.visible, NestedValues.changes(from: old, to: state.values))
      }
    }
    return try saving.withLock { _ in
      let unsaved = state.withLock(\.self)
      var isMet = true
      let changed = try replaceFile(from: unsaved) { candidate throws(PreferencesError) in
        isMet = try prepared.isMet(by: candidate.values)
        if isMet { prepared.make(in: &candidate) }
      }
      return (isMet ? .visible : .conflict, changed)
    }
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
      return candidate.isEmpty ? [] : try replaceFile(from: candidate)
    }
    tell(changed)
  }

  /// Brings unsaved changes and those of `edit` into the file and then here. `edit` sees what is in the file now.
  private func replaceFile(
    from unsaved: UnsavedValues, _ edit: (inout UnsavedValues) throws(PreferencesError) -> Void = { _ in }
  ) throws(PreferencesError) -> Set<String> {
    var written = unsaved
    do {
      let replace = try FileReplacement(path, isPrivate: options.contains(.private))
      try replace(upTo: Self.maximumByteCount) { old throws(PreferencesError) in
        let fresh = try self.values(in: old)
        written = unsaved
        written.rebase(on: fresh)
        try edit(&written)
        guard written.rebase(on: fresh).differs else { return nil }
        return try format.bytes(of: written.values, replacing: old)
      }
    } catch { throw error.about("\(Format.name) \"\(path)\"") }
    let inFile = written.values
    return state.withLock { state in
      state.forget(unsaved)
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
