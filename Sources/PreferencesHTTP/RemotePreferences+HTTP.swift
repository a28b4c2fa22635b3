#if HTTP
  public import AsyncHTTPClient
  public import FoundationEssentials
  public import Preferences

  extension RemotePreferences {
    /// Creates a reader of the file at `url`, without values. No request is sent before the first load.
    ///
    /// ```swift
    /// let settings = try RemoteJSONPreferences(at: URL(string: "https://config.example.com/shop.json")!) {
    ///   ["Authorization": "Bearer \(try tokens.string(forKey: "config") ?? "")"]
    /// }
    /// try await settings.load()
    /// ```
    ///
    /// A load opens its own connections, makes one attempt, and closes the connections. Nothing is decompressed: the
    /// request asks for a response without encoding, and an encoded response is refused. If a load fails, it throws
    /// ``PreferencesError/Code/unreachable``, ``PreferencesError/Code/refusedRedirect``, the errors of
    /// `RemotePreferences.load()`, or the error of the closure `headers`. A cancelled load ends at once.
    ///
    /// Values that were redirected are requested in full each time: a version belongs to the address that sent it.
    ///
    /// - Parameters:
    ///   - url: an `http` or `https` address. User, password and query are sent, but never appear in descriptions or
    ///     errors.
    ///   - timeout: the maximum duration of a load, from connecting to the last byte received. The time of `headers` is
    ///     not included.
    ///   - maximumByteCount: the maximum size of a response, in bytes. The default is 16 MiB.
    ///   - maximumRedirectCount: the maximum number of redirects. A redirect from `https` to `http` is never followed.
    ///   - configuration: certificates, proxy, tracing and connect timeout of the client. Its settings for redirects,
    ///     decompression, repeated connection attempts and the HTTP version, which is 1.1, are not used.
    ///   - headers: returns additional header fields, such as `Authorization`. Called at each load, so that no secret
    ///     has to be stored. They are sent only to the scheme, host and port of `url`, not to the target of a redirect.
    /// - Throws: ``PreferencesError/Code/unreachable`` for any other kind of URL.
    public convenience init(
      at url: URL, format: Format = Format(), timeout: Duration = .seconds(30), maximumByteCount: Int = 16 << 20,
      maximumRedirectCount: Int = 5, configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
      headers: @escaping @Sendable () async throws -> [String: String] = { [:] }
    ) throws(PreferencesError) {
      guard let address = HTTPAddress(url) else {
        throw PreferencesError(.unreachable, "\(Format.name): the URL is not one of http or https with a host")
      }
      let source = HTTPSource(
        address: address, credentials: HTTPFields.credentials(in: url), timeout: timeout,
        maximumRedirectCount: maximumRedirectCount, configuration: configuration, headers: headers)
      self.init(name: "\(Format.name) \(address.name)", format: format, maximumByteCount: maximumByteCount) {
        try await source.fetch($0)
      }
    }
  }
#endif
