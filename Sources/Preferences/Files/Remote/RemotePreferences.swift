import Synchronization

/// Read-only preferences from a JSON object or property list that a closure fetches from a server: see
/// ``RemoteJSONPreferences`` and ``RemotePropertyListPreferences``.
///
/// The closure sends a request with the HTTP client of the program. With the package trait `HTTP`, the module
/// `PreferencesHTTP` adds an initializer that takes a URL and needs no closure.
///
/// Reads return the values of the last ``load()``. Before the first load they throw
/// ``PreferencesError/Code/unavailable``, because it is unknown whether a value exists. So add the reader to a
/// composite after its first load. To continue without the server, use ``load(into:)`` with a store. Dots in a key lead
/// into nested dictionaries, as with ``FilePreferences``.
///
/// A load that fails changes nothing: the last values stay, and ``age`` returns how old they are. The status, size and
/// content of a response are checked, but not its content type.
public final class RemotePreferences<Format: PreferenceFileFormat>: PreferencesReader {
  private struct Content: Sendable {
    var values: [String: PreferenceValue]
    var conditions: [String: String]
    /// The number of the last load that returned or confirmed the values, and the time of its request.
    var load: UInt64
    var requested: Duration
    /// The time of the request that returned the values.
    var fetched: Duration
  }

  private struct State {
    var content: Content?
    var lastLoad: UInt64 = 0
    /// How many loads have used values, in a store or as the content.
    var uses: UInt64 = 0
  }

  public let name: String
  private let format: Format
  private let maximumByteCount: Int
  private let clock: any Clock<Duration>
  private let now: @Sendable () -> Duration
  private let fetch: @Sendable (RemoteRequest) async throws -> RemoteResponse
  private let state = Mutex(State())
  private let changes = ChangeBroadcast()

  /// Creates a reader without values. Nothing is fetched before the first load.
  ///
  /// - Parameters:
  ///   - name: the name of the layer, such as the address. It appears in errors and must not contain a secret.
  ///   - maximumByteCount: the maximum size of the content, in bytes. The default is 16 MiB.
  ///   - clock: the clock of ``age`` and ``load(every:)``. The default also runs while the machine is suspended, and
  ///     does not change if the time of the system is set.
  ///   - fetch: sends a request and returns the response, whatever its status. It limits its own duration, and should
  ///     end if its task is cancelled. Called once for each load.
  public init(
    name: String, format: Format = Format(), maximumByteCount: Int = 16 << 20,
    clock: any Clock<Duration> = ContinuousClock(),
    fetch: @escaping @Sendable (RemoteRequest) async throws -> RemoteResponse
  ) {
    self.name = name
    self.format = format
    self.maximumByteCount = maximumByteCount
    self.clock = clock
    self.now = Self.stopwatch(clock)
    self.fetch = fetch
  }

  private static func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
  }

  // MARK: Reading

  /// The time since the request that returned the values, or confirmed that they had not changed; `nil` before the
  /// first load. A failed load does not change it.
  public var age: Duration? { state.withLock(\.content).map { now() - $0.requested } }

  /// Returns the value; `nil` if it is absent. A string is parsed if the query is for a URL or a date. A format of text
  /// alone parses every string as the query's kind.
  ///
  /// - Throws: ``PreferencesError/Code/unavailable`` before the first load,
  ///   ``PreferencesError/Code/typeMismatch`` if a string does not parse.
  public func value(for query: PreferenceQuery) throws(PreferencesError) -> PreferenceValue? {
    try NestedValues.find(query, in: try values(), isText: Format.isText)
  }

  /// The names in ascending order; the entries of a dictionary are listed as `server.port`.
  ///
  /// - Throws: ``PreferencesError/Code/unavailable`` before the first load.
  public func names(of secrecy: Secrecy) throws(PreferencesError) -> [PreferenceName] {
    NestedValues.keys(of: try values())
  }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    changes.observe(notify)
  }

  private func values() throws(PreferencesError) -> [String: PreferenceValue] {
    guard let content = state.withLock(\.content) else {
      throw PreferencesError(.unavailable, "\(name) has not been loaded")
    }
    return content.values
  }

  // MARK: Loading

  /// Fetches the values, unless they have not changed since the last load, and uses them from now on. Values that a
  /// server has only confirmed for a day are fetched again. Observers are notified of the changed keys. Of several
  /// concurrent loads, the one that started last takes effect.
  ///
  /// - Throws: ``PreferencesError/Code/unexpectedStatus``,
  ///   ``PreferencesError/Code/malformed``, ``PreferencesError/Code/limitExceeded``,
  ///   `CancellationError` if the task is cancelled, and the error of the closure.
  @discardableResult
  public func load() async throws -> RemoteOutcome { try await load { _ in } }

  /// Loads the values like ``load()`` and sets them in `store` in one step, even if the server reported no change. A
  /// dictionary is one value, which replaces the dictionary of that name. Other keys of the store are kept.
  ///
  /// - Throws: the errors of ``load()`` and of the store. Then this reader does not change either.
  @discardableResult
  public func load(into store: some PreferencesStore) async throws -> RemoteOutcome {
    try await load { values in
      try await store.edit(try NestedReader(values: values, isText: Format.isText).copyingEdits(into: store))
    }
  }

  /// Loads the values whenever they are `interval` old, until the task is cancelled: immediately if nothing is loaded.
  /// After a failure the next load follows after `interval`.
  ///
  /// A failure is reported to `PreferenceFailures` with the key `*`, and the last values stay.
  ///
  /// - Parameter interval: at least one second; a shorter interval counts as one second.
  public func load(every interval: Duration) async {
    let interval = max(interval, .seconds(1))
    var remaining: Duration { max(interval - (age ?? interval), .zero) }
    var pause = remaining
    while !Task.isCancelled {
      do {
        if pause > .zero { try await clock.sleep(for: pause) }
        // Another call may have loaded meanwhile.
        pause = remaining
        if pause > .zero { continue }
        try await load()
        // A load that takes longer than the interval is not repeated at once.
        pause = max(remaining, .seconds(1))
      } catch {
        if Task.isCancelled { return }
        PreferenceFailures.report(error, key: "*", reader: name)
        pause = interval
      }
    }
  }

  private func load(_ use: ([String: PreferenceValue]) async throws -> Void) async throws -> RemoteOutcome {
    let (load, known) = state.withLock { state in
      state.lastLoad += 1
      return (state.lastLoad, state.content)
    }
    let (fresh, isNew) = try await content(of: load, after: known)
    try Task.checkCancellation()
    var isUsed = false
    var changed: Set<String>?
    repeat {
      // The content of a load that started later is newer.
      let (newest, uses) = state.withLock { state in
        if let content = state.content, content.load > load { (content, state.uses) } else { (fresh, state.uses) }
      }
      do { try await use(newest.values) } catch {
        // The store may have written although it has thrown.
        state.withLock { $0.uses += 1 }
        throw error
      }
      // Repeated if another load used values meanwhile: the store may have the older of both.
      (isUsed, changed) = finish(fresh, after: uses)
    } while !isUsed
    guard let changed else { return .notModified }
    await ChangeBroadcast.notifyingOnHelper { if !changed.isEmpty { changes.send(PreferenceChange(keys: changed)) } }
    // Confirmed values also count as updated if a load that started earlier had replaced them in the meantime.
    return isNew || !changed.isEmpty ? .updated : .notModified
  }

  /// - Returns: whether no other load used values after `uses`; and the names whose values have changed, `nil` if a
  ///   load that started later finished first.
  private func finish(_ fresh: Content, after uses: UInt64) -> (isUsed: Bool, changed: Set<String>?) {
    state.withLock { state in
      guard state.uses == uses else { return (false, nil) }
      state.uses += 1
      guard fresh.load > state.content?.load ?? 0 else { return (true, nil) }
      defer { state.content = fresh }
      return (true, NestedValues.changes(from: state.content?.values ?? [:], to: fresh.values))
    }
  }

  /// How long a server may confirm values, before they are fetched again.
  private static var longestConfirmation: Duration { .seconds(86_400) }

  /// The content that the server sent, or `known` if it is still valid. Parses it outside the caller's actor.
  @concurrent
  private func content(of load: UInt64, after known: Content?) async throws -> (Content, isNew: Bool) {
    let requested = now()
    // Now and then without conditions: a server may name two versions alike.
    let isConditional = known.map { requested - $0.fetched < Self.longestConfirmation } ?? false
    let conditions = isConditional ? known?.conditions ?? [:] : [:]
    do {
      let response = try await fetch(RemoteRequest(headers: conditions, maximumByteCount: maximumByteCount))
      switch (response.status, conditions.isEmpty ? nil : known) {
      case (200, _), (203, _):
        guard response.bytes.count <= maximumByteCount else {
          throw PreferencesError(.limitExceeded, "the response has more than \(maximumByteCount) bytes")
        }
        let values = try format.values(from: response.bytes)
        let content = Content(
          values: values, conditions: response.conditions, load: load, requested: requested, fetched: requested)
        return (content, true)
      case (304, var known?):
        known.load = load
        known.requested = requested
        return (known, false)
      case (let status, _):
        throw PreferencesError(
          .unexpectedStatus, "the server responded with status \(status)", cause: UnexpectedStatus(status: status))
      }
    } catch let error as PreferencesError {
      throw error.about(name)
    }
  }
}

/// Preferences from a JSON object on a server, with the values of ``JSONPreferences``.
public typealias RemoteJSONPreferences = RemotePreferences<JSONFormat>

/// Preferences from a property list on a server, with the values of ``PropertyListPreferences``.
public typealias RemotePropertyListPreferences = RemotePreferences<PropertyListFormat>

extension RemotePreferences: CustomStringConvertible, CustomReflectable {}
