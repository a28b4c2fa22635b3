#if SettingsPage
  import DurableFiles
  import FoundationEssentials
  import HTTPTypes
  import Hummingbird
  import HummingbirdCore
  import Preferences
  import Synchronization

  /// Where browsers find the page.
  struct PageAddress: Sendable {
    /// As in the header field `Origin`: without the port if it is the default port.
    let origin: String
    /// As in the header field `Host`.
    let authority: String
    /// Without a slash at the end: empty for the root.
    let path: String
    var isSecure: Bool { origin.hasPrefix("https:") }

    init(_ url: URL) throws(PreferencesError) {
      guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), let scheme = parts.scheme?.lowercased(),
        ["http", "https"].contains(scheme), let host = parts.encodedHost?.lowercased(), !host.isEmpty
      else { throw PreferencesError(.malformed, "the public URL of the page is not an HTTP URL with a host") }
      let port = parts.port == (scheme == "https" ? 443 : 80) ? nil : parts.port
      self.init(scheme: scheme, host: host, port: port, path: parts.percentEncodedPath)
    }

    init(scheme: String = "http", host: String, port: Int?, path: String = "") {
      authority = host + (port.map { ":\($0)" } ?? "")
      origin = "\(scheme)://\(authority)"
      self.path = String(path.reversed().drop { $0 == "/" }.reversed())
    }
  }

  /// Controls access to the page: only the browser that used the link last has access.
  final class PageAccess: Sendable {
    struct Session: Sendable {
      fileprivate let id = randomToken()
      /// Proves that a form comes from the page of this session.
      let formToken = randomToken()
    }

    private struct State {
      var address: PageAddress?
      /// The token that opens the page, once.
      var token = randomToken()
      var session: Session?
    }

    private let state: Mutex<State>
    /// Differs from the cookie names of other pages at the same path.
    private let cookieName = "settings-\(randomToken().prefix(16))"
    private let hasPublicURL: Bool
    /// Without a public URL, a path that cannot be guessed: a browser sends a cookie to every port of its host, and so
    /// to the servers of other users of the machine, but only with requests below the cookie's path.
    let path: String

    init(at address: PageAddress?) {
      state = Mutex(State(address: address))
      hasPublicURL = address != nil
      path = address?.path ?? "/" + randomToken()
    }

    func listen(on host: String, port: Int) {
      guard !hasPublicURL else { return }
      let host = (host.contains(":") ? "[\(host)]" : host).lowercased()
      let address = PageAddress(host: host, port: port == 80 ? nil : port, path: path)
      state.withLock { $0.address = address }
    }

    var url: String? {
      state.withLock { state in state.address.map { "\($0.origin)\($0.path)/?token=\(state.token)" } }
    }

    /// How requests have to name this server; `nil` as long as ``url`` is.
    var authority: String? { state.withLock { $0.address?.authority } }

    // MARK: Checks

    /// Whether the request names this server: a page of an attacker can have its own name resolve to this address.
    ///
    /// The first field `Host` is the authority of the request. A proxy may go by another one.
    func isAddressed(_ request: Request) -> Bool {
      guard let authority = request.head.authority?.lowercased() else { return false }
      return self.authority == authority
        && request.headers[values: .host].allSatisfy { $0.lowercased() == authority }
    }

    /// Whether a form was sent by a page of this server. Without a script, its origin is `null` because the page sends
    /// no referrer.
    func isOwn(_ request: Request) -> Bool {
      let (origin, site) = (request.headers[.origin], request.headers[.secFetchSite])
      guard (site ?? "same-origin") == "same-origin" else { return false }
      if let origin, origin != "null" { return origin == state.withLock { $0.address?.origin } }
      return site != nil
    }

    /// Starts a session if `token` is the current token, which a new token then replaces. Returns the session's cookie;
    /// otherwise `nil`.
    func open(with token: String) -> Cookie? {
      state.withLock { state in
        guard isEqual(token, state.token) else { return nil }
        let session = Session()
        state.token = randomToken()
        state.session = session
        return Cookie(
          name: cookieName, value: session.id, path: path.isEmpty ? "/" : path,
          secure: state.address?.isSecure ?? false, httpOnly: true, sameSite: .strict)
      }
    }

    func session(of request: Request) -> Session? {
      guard let cookie = request.cookies[cookieName]?.value, let session = state.withLock({ $0.session }),
        isEqual(cookie, session.id)
      else { return nil }
      return session
    }

    func isCurrent(_ session: Session) -> Bool { state.withLock { $0.session?.id } == session.id }
  }

  extension HTTPField.Name {
    /// Whether a link, a form or a script of the same site made the request.
    static let secFetchSite = Self("Sec-Fetch-Site")!
    static let host = Self("Host")!
    /// Present if the browser loads a page ahead of time, before the user opens it.
    static let secPurpose = Self("Sec-Purpose")!
  }

  /// 256 bits from the system.
  private func randomToken() -> String {
    (0..<32).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal
  }

  /// Takes the same time for any two texts of equal length.
  func isEqual(_ a: String, _ b: String) -> Bool {
    a.utf8.count == b.utf8.count && zip(a.utf8, b.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
#endif
