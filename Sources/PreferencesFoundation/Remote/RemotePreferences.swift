public import Foundation
public import PreferenceFiles
public import Preferences
import Synchronization

/// Read-only preferences from a JSON object or property list on a web server: see ``RemoteJSONPreferences`` and
/// ``RemotePropertyListPreferences``.
///
/// ```swift
/// let settings = try RemoteJSONPreferences(at: URL(string: "https://config.example.com/shop.json")!) {
///   ["Authorization": "Bearer \(try tokens.string(forKey: "config") ?? "")"]
/// }
/// try await settings.load()
/// ```
///
/// Reads return the values of the last ``load()``. Before the first load they throw
/// ``Preferences/PreferencesError/Code/unavailable``, because it is unknown whether a value exists. So add it to a
/// composite after its first load. To continue without the server, use ``load(into:)`` with a store. A dot in a key is
/// a path into dictionaries, as with ``Preferences/FilePreferences``.
///
/// A load that fails changes nothing. The status, size and content of a response are checked, but not its content type.
/// A load uses a thread while it waits.
///
/// libcurl sends the requests, with its rules for certificates and for proxies in the environment. The library is
/// opened at the first load. Without it, loads throw ``Preferences/PreferencesError/Code/unreachable``.
public final class RemotePreferences<Format: PreferenceFileFormat>: PreferencesReader {
  private struct Content: Sendable {
    var values: [String: PreferenceValue]
    var version: RemoteSource.Version
    /// The number of the load that returned them.
    var load: UInt64
  }

  private struct State {
    var content: Content?
    var lastLoad: UInt64 = 0
  }

  public let name: String
  private let format: Format
  private let source: RemoteSource
  private let headers: @Sendable () async throws -> [String: String]
  private let state = Mutex(State())
  private let changes = ChangeBroadcast()

  /// Creates a reader without values. No request is sent before the first load.
  ///
  /// - Parameters:
  ///   - url: an `http` or `https` address. User, password and query are sent, but never appear in descriptions or
  ///     errors.
  ///   - timeout: the maximum duration of a load, from the first byte sent to the last received.
  ///   - maximumByteCount: the maximum size of a response, in bytes. The default is 16 MiB.
  ///   - maximumRedirectCount: the maximum number of redirects. A redirect from `https` to `http` is never followed.
  ///   - headers: returns additional header fields, such as `Authorization`. Called at each load, so that no secret has
  ///     to be stored. They are sent only to the scheme, host and port of `url`, not to the target of a redirect.
  /// - Throws: ``Preferences/PreferencesError/Code/unreachable`` for another kind of URL.
  public init(
    at url: URL, format: Format = Format(), timeout: Duration = .seconds(30), maximumByteCount: Int = 16 << 20,
    maximumRedirectCount: Int = 5, headers: @escaping @Sendable () async throws -> [String: String] = { [:] }
  ) throws(PreferencesError) {
    guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme), let host = url.host(),
      !host.isEmpty
    else { throw PreferencesError(.unreachable, "\(Format.name): the URL is not one of http or https with a host") }
    let port = url.port.map { ":\($0)" } ?? ""
    name = "\(Format.name) \(scheme)://\(host)\(port)\(url.path())"
    (self.format, self.headers) = (format, headers)
    source = RemoteSource(
      url: url.absoluteString, timeout: timeout, maximumByteCount: maximumByteCount,
      maximumRedirectCount: maximumRedirectCount)
  }

  // MARK: Reading

  /// The value of a name, where a string is parsed if a URL or a date is requested.
  ///
  /// - Throws: ``Preferences/PreferencesError/Code/unavailable`` before the first load,
  ///   ``Preferences/PreferencesError/Code/typeMismatch`` if a string does not parse.
  public func value(for query: PreferenceQuery) throws(PreferencesError) -> PreferenceValue? {
    let values = try values()
    guard let kind = query.kind else { return NestedValues.find(query.name.text, in: values) }
    return try NestedValues.find(query.name.text, as: kind, in: values)
  }

  /// The names in ascending order; a dictionary is listed by its entries, as `server.port`.
  /// - Throws: ``Preferences/PreferencesError/Code/unavailable`` before the first load.
  public func names(of secrecy: Secrecy) throws(PreferencesError) -> [PreferenceName] {
    PreferenceName.valid(NestedValues.keys(of: try values()))
  }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    changes.observe(notify)
  }

  private func values() throws(PreferencesError) -> [String: PreferenceValue] {
    guard let content = state.withLock({ $0.content }) else {
      throw PreferencesError(.unavailable, "\(name) has not been loaded")
    }
    return content.values
  }

  // MARK: Loading

  /// Requests the values from the server, unless they have not changed since the last load, and uses them from now on.
  /// Observers are notified of the changed keys. Of several concurrent loads, the one that started last takes effect.
  ///
  /// - Throws: ``Preferences/PreferencesError/Code/unreachable``,
  ///   ``Preferences/PreferencesError/Code/unexpectedStatus``, ``Preferences/PreferencesError/Code/refusedRedirect``,
  ///   ``Preferences/PreferencesError/Code/malformed``, ``Preferences/PreferencesError/Code/limitExceeded``,
  ///   `CancellationError` at once if the task is cancelled, and the error of the closure `headers`.
  @discardableResult
  public func load() async throws -> RemoteOutcome { try await load { _ in } }

  /// Loads the values like ``load()`` and sets them in `store` in one step, under the names of ``keys()``, even if the
  /// server reported no change. Other keys of the store are kept.
  ///
  /// - Throws: the errors of ``load()`` and of the store. Then this reader does not change either.
  @discardableResult
  public func load(into store: some PreferencesStore) async throws -> RemoteOutcome {
    try await load { values in
      var flat: [String: PreferenceValue] = [:]
      for key in NestedValues.keys(of: values) { flat[key] = NestedValues.find(key, in: values) }
      try await store.set(flat)
    }
  }

  private func load(_ use: ([String: PreferenceValue]) async throws -> Void) async throws -> RemoteOutcome {
    let (load, known) = state.withLock { state in
      state.lastLoad += 1
      return (state.lastLoad, state.content)
    }
    let headers = try await self.headers()
    let fresh = try await content(since: known?.version, headers, load)
    try Task.checkCancellation()
    // The values of a load that started later are newer, as are the present ones if the server reported no change.
    let newest = state.withLock { state in
      if let fresh, load > state.content?.load ?? 0 { fresh } else { state.content }
    }
    try await use(newest?.values ?? [:])
    guard let fresh, let changed = replaceContent(with: fresh) else { return .notModified }
    if !changed.isEmpty { changes.send(PreferenceChange(keys: changed)) }
    return .updated
  }

  /// - Returns: The names whose values have changed; `nil` if a load that started later finished first.
  private func replaceContent(with fresh: Content) -> Set<String>? {
    state.withLock { state in
      guard fresh.load > state.content?.load ?? 0 else { return nil }
      defer { state.content = fresh }
      return NestedValues.changes(from: state.content?.values ?? [:], to: fresh.values)
    }
  }

  /// `nil` if the version has not changed.
  private func content(
    since known: RemoteSource.Version?, _ headers: [String: String], _ load: UInt64
  ) async throws -> Content? {
    do {
      let lines = try HeaderLine.lines(of: headers)
      return try await OwnThread.run { [source, format] isWanted in
        guard let content = try source.content(since: known, headers: lines, while: isWanted) else { return nil }
        return Content(values: try format.values(from: content.bytes), version: content.version, load: load)
      }
    } catch let error as PreferencesError {
      throw error.about(name)
    }
  }
}

/// Preferences from a JSON object on a web server, with the values of ``Preferences/JSONPreferences``.
public typealias RemoteJSONPreferences = RemotePreferences<JSONFormat>

/// Preferences from a property list on a web server, with the values of ``Preferences/PropertyListPreferences``.
public typealias RemotePropertyListPreferences = RemotePreferences<PropertyListFormat>

extension RemotePreferences: CustomStringConvertible, CustomReflectable {}
