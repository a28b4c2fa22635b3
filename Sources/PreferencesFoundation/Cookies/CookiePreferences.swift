public import Foundation
public import FoundationNetworking
public import Preferences

/// Read-only preferences from HTTP cookies: the value of the cookie whose name is the key.
///
/// Cookies are often credentials, and they are not encrypted: they are in plain memory, and on Linux the shared storage
/// writes cookies with an expiry date to a file that other users may read. So no key of a secret type is looked up
/// here; copy such a cookie into a vault. Descriptions and errors contain no value.
///
/// Of several cookies with one name the one with the longest path is used, then the one with the longest domain, then
/// the first in alphabetical order of domain and path. Expired cookies are ignored. Each read looks up the storage,
/// which does not notify observers.
public struct CookiePreferences: PreferencesReader {
  /// Which cookies are used.
  private enum Scope: Sendable {
    case all
    case domain(String)
    case url(host: String, path: String, isSecure: Bool)
    case none
  }

  public let name: String
  private let storage: HTTPCookieStorage
  private let scope: Scope

  /// Reads all cookies of a storage, for any host.
  public init(_ storage: HTTPCookieStorage = .shared) {
    self.storage = storage
    scope = .all
    name = "cookies"
  }

  /// Reads the cookies for a host of this name, for any path, including cookies for HTTPS only.
  public init(_ storage: HTTPCookieStorage = .shared, domain: String) {
    self.storage = storage
    scope = .domain(Self.host(domain))
    name = "cookies of \(domain)"
  }

  /// Reads the cookies of a request for `url`, by its host, path and scheme. A URL without a host has no cookies.
  public init(_ storage: HTTPCookieStorage = .shared, sentTo url: URL) {
    self.storage = storage
    let host = Self.host(url.host() ?? "")
    let path = url.path().isEmpty ? "/" : url.path()
    let isSecure = ["https", "wss"].contains(url.scheme?.lowercased())
    scope = host.isEmpty ? .none : .url(host: host, path: path, isSecure: isSecure)
    // Without user and query, which may be credentials as well.
    name = "cookies of \(host)\(url.path())"
  }

  /// The cookie's value, parsed as the query's kind by the rules of ``EnvironmentPreferences``. A query
  /// without a kind returns a string. `nil` if there is no such cookie.
  ///
  /// - Throws: ``PreferencesError/Code/typeMismatch`` if the value does not parse.
  public func value(for query: PreferenceQuery) throws(PreferencesError) -> PreferenceValue? {
    let key = query.name.text
    guard let text = cookies.filter({ $0.name == key }).min(by: Self.precedes)?.value else { return nil }
    guard let kind = query.kind else { return .string(text) }
    if let value = PreferenceValue(parsing: text, as: kind) { return value }
    throw .unparsable("the cookie", as: kind, key: key)
  }

  /// The names of the cookies, in ascending order.
  public func names(of secrecy: Secrecy) -> [PreferenceName] {
    PreferenceName.valid(Set(cookies.map(\.name)).sorted())
  }

  /// The cookies of the storage that are used, in no order.
  private var cookies: [HTTPCookie] {
    let now = Date()
    return (storage.cookies ?? []).filter { cookie in
      guard cookie.expiresDate.map({ $0 > now }) ?? true else { return false }
      return switch scope {
      case .all: true
      case .domain(let host): Self.goes(cookie, to: host)
      // Foundation's own selection for a URL ignores the path and `Secure`.
      case .url(let host, let path, let isSecure):
        Self.goes(cookie, to: host) && Self.covers(cookie.path, path) && (isSecure || !cookie.isSecure)
      case .none: false
      }
    }
  }

  private static func precedes(_ a: HTTPCookie, _ b: HTTPCookie) -> Bool {
    let (first, second) = (rank(a), rank(b))
    if (first.path, first.domain) != (second.path, second.domain) {
      return (first.path, first.domain) > (second.path, second.domain)
    }
    return (a.domain, a.path, a.value) < (b.domain, b.path, b.value)
  }

  private static func rank(_ cookie: HTTPCookie) -> (path: Int, domain: Int) {
    (cookie.path.utf8.count, host(cookie.domain).utf8.count)
  }

  /// RFC 6265, 5.1.3: a domain with a leading dot includes its subdomains.
  private static func goes(_ cookie: HTTPCookie, to host: String) -> Bool {
    let domain = cookie.domain.lowercased()
    guard domain.hasPrefix(".") else { return host == domain }
    return host == domain.dropFirst() || host.hasSuffix(domain)
  }

  /// RFC 6265, 5.1.4.
  private static func covers(_ cookiePath: String, _ path: String) -> Bool {
    guard path.hasPrefix(cookiePath) else { return false }
    return path.utf8.count == cookiePath.utf8.count || cookiePath.hasSuffix("/")
      || path.dropFirst(cookiePath.count).hasPrefix("/")
  }

  private static func host(_ domain: String) -> String {
    let domain = domain.lowercased()
    return domain.hasPrefix(".") ? String(domain.dropFirst()) : domain
  }
}

extension CookiePreferences: Identifiable {
  public var id: StoreIdentity { StoreIdentity(Self.self, name: name, over: [StoreIdentity(storage)]) }
}

extension CookiePreferences: CustomStringConvertible, CustomReflectable {}
