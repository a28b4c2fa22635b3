public import Foundation
public import Preferences
import Synchronization

/// Preferences in a JSON object or property list that a web server has, read-only: see ``RemoteJSONPreferences`` and
/// ``RemotePropertyListPreferences``.
///
/// ```swift
/// let settings = try RemoteJSONPreferences(at: URL(string: "https://config.example.com/shop.json")!) {
///   ["Authorization": "Bearer \(try tokens.string(forKey: "config") ?? "")"]
/// }
/// try await settings.load()
/// ```
///
/// Reads answer with what ``load()`` has brought last, and throw ``Preferences/PreferencesError/Code/unavailable``
/// before the first: what is not known is not absent. So it belongs into a composite after its first load; to go on
/// without the server, ``load(into:)`` a store. A dot in a key leads into dictionaries, as with
/// ``Preferences/FilePreferences``.
///
/// A load that fails, whatever the reason, changes nothing. Status, size and content of an answer are judged, the type
/// that it says it has is not. A load takes a thread while it waits.
///
/// Requests are made by libcurl, with its rules for certificates and for proxies named in the environment. It is opened
/// at the first load; without it loads throw ``Preferences/PreferencesError/Code/unreachable``.
public final class RemotePreferences<Format: PreferenceFileFormat>: PreferencesReader {
  private struct Content: Sendable {
    var values: [String: PreferenceValue]
    var version: RemoteSource.Version
    /// The load that has brought them.
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

  /// Asks for nothing before the first load.
  ///
  /// - Parameters:
  ///   - url: an `http` or `https` address. A user, a password and the query are sent and never shown.
  ///   - timeout: how long a load may take, from the first byte sent to the last received.
  ///   - maximumByteCount: the largest answer that is received (16 MiB unless it is said).
  ///   - maximumRedirectCount: how many redirects are followed. Those from `https` to `http` never are.
  ///   - headers: further header fields, such as `Authorization`. Asked at each load, so that nothing need be kept, and
  ///     sent to the scheme, host and port of `url` only, not to where it redirects.
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

  /// - Throws: ``Preferences/PreferencesError/Code/invalidKey``, ``Preferences/PreferencesError/Code/unavailable``
  ///   before the first load.
  public func value(forKey key: String) throws(PreferencesError) -> PreferenceValue? {
    try PreferenceKeyName.validate(key)
    return NestedValues.find(key, in: try values())
  }

  /// As ``value(forKey:)``, with a string parsed where a URL or a date is wanted, which people write so.
  ///
  /// - Throws: as ``value(forKey:)``, ``Preferences/PreferencesError/Code/typeMismatch`` when the string is none.
  public func value(
    forKey key: String, as kind: PreferenceValue.Kind
  ) throws(PreferencesError) -> PreferenceValue? {
    try PreferenceKeyName.validate(key)
    return try NestedValues.find(key, as: kind, in: try values())
  }

  /// The keys in ascending order; a dictionary is listed by its entries, as `server.port`.
  /// - Throws: ``Preferences/PreferencesError/Code/unavailable`` before the first load.
  public func keys() throws(PreferencesError) -> [String] { NestedValues.keys(of: try values()) }

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

  /// Asks the server for its values, unless they still are those of the last load, and answers with them from now on.
  /// Observers are told of the keys that have changed. Of several loads at once the one that began last counts.
  ///
  /// - Throws: ``Preferences/PreferencesError/Code/unreachable``,
  ///   ``Preferences/PreferencesError/Code/unexpectedStatus``, ``Preferences/PreferencesError/Code/refusedRedirect``,
  ///   ``Preferences/PreferencesError/Code/malformed``, ``Preferences/PreferencesError/Code/limitExceeded``,
  ///   `CancellationError` at once when the task is cancelled, and what the headers' closure throws.
  @discardableResult
  public func load() async throws -> RemoteOutcome { try await load { _ in } }

  /// As ``load()``, and puts the values into `store` in one step, under the names of ``keys()``, whether the server
  /// sent them again or not. The store's other keys stay.
  ///
  /// - Throws: as ``load()``, and what keeps the store from writing; then nothing has changed here either.
  @discardableResult
  public func load(into store: some PreferencesStore) async throws -> RemoteOutcome {
    try await load { values in
      var flat: [String: PreferenceValue] = [:]
      for key in NestedValues.keys(of: values) { flat[key] = NestedValues.find(key, in: values) }
      try store.set(flat)
    }
  }

  private func load(_ use: ([String: PreferenceValue]) throws -> Void) async throws -> RemoteOutcome {
    let (load, known) = state.withLock { state in
      state.lastLoad += 1
      return (state.lastLoad, state.content)
    }
    let headers = try await self.headers()
    let fresh = try await content(since: known?.version, headers, load)
    try Task.checkCancellation()
    // That of a load which began later is newer, as is what was here when the server has nothing new.
    let newest = state.withLock { state in
      if let fresh, load > state.content?.load ?? 0 { fresh } else { state.content }
    }
    try use(newest?.values ?? [:])
    guard let fresh, let changed = replaceContent(with: fresh) else { return .notModified }
    if !changed.isEmpty { changes.send(PreferenceChange(keys: changed)) }
    return .updated
  }

  /// - Returns: the names whose values are others now; nil when a load that began later was done first.
  private func replaceContent(with fresh: Content) -> Set<String>? {
    state.withLock { state in
      guard fresh.load > state.content?.load ?? 0 else { return nil }
      defer { state.content = fresh }
      return NestedValues.changes(from: state.content?.values ?? [:], to: fresh.values)
    }
  }

  /// Nil when it still is the known version.
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

/// Preferences in a JSON object that a web server has, with the values of ``Preferences/JSONPreferences``.
public typealias RemoteJSONPreferences = RemotePreferences<JSONFormat>

/// Preferences in a property list that a web server has, with the values of ``Preferences/PropertyListPreferences``.
public typealias RemotePropertyListPreferences = RemotePreferences<PropertyListFormat>

extension RemotePreferences: CustomStringConvertible, CustomReflectable {}
