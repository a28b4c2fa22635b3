#if HTTP
  import FoundationEssentials
  import Preferences

  /// An `http` or `https` address that a request can be sent to, without user, password and fragment.
  struct HTTPAddress: Sendable {
    private struct Origin: Sendable, Equatable {
      var isSecure: Bool
      var host: String
      var port: Int
    }

    private let url: URL
    private let origin: Origin

    /// The address as it is requested.
    var text: String { url.absoluteString }

    /// The address without its query, for people.
    var name: String {
      let port = url.port.map { ":\($0)" } ?? ""
      return "\(origin.isSecure ? "https" : "http")://\(origin.host)\(port)\(url.path(percentEncoded: true))"
    }

    /// - Returns: `nil` for any other kind of URL, and for a URL whose host or port the client cannot use.
    init?(_ url: URL) {
      guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
        let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme)
      else { return nil }
      parts.user = nil
      parts.password = nil
      parts.fragment = nil
      let isSecure = scheme == "https"
      let port = parts.port ?? (isSecure ? 443 : 80)
      // The client would connect to a percent-encoded host under its decoded name, and crash on a larger port.
      guard let plain = parts.url, let host = parts.encodedHost?.lowercased(), !host.isEmpty, !host.contains("%"),
        (1...65_535).contains(port)
      else { return nil }
      self.url = plain
      origin = Origin(isSecure: isSecure, host: host, port: port)
    }

    /// Whether a header field meant for `other` may be sent to this address.
    func hasOrigin(of other: HTTPAddress) -> Bool { origin == other.origin }

    /// Returns the target of a redirect from this address.
    ///
    /// - Parameter location: the header field `Location`, absolute or relative.
    /// - Throws: `refusedRedirect`. The message does not contain the target.
    func redirected(to location: String?) throws(PreferencesError) -> HTTPAddress {
      guard let location, !location.isEmpty, location.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
        let target = URL(string: location, relativeTo: url)
      else { throw PreferencesError(.refusedRedirect, "a redirect without a valid address") }
      guard let next = HTTPAddress(target.absoluteURL) else {
        throw PreferencesError(.refusedRedirect, "a redirect to an address that is not HTTP")
      }
      guard next.origin.isSecure || !origin.isSecure else {
        throw PreferencesError(.refusedRedirect, "a redirect from https to http")
      }
      return next
    }
  }
#endif
