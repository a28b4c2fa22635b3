#if HTTP
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1
  import Preferences

  /// An address that content is fetched from with AsyncHTTPClient, with the limits of a load.
  ///
  /// Redirects are followed here: the client would send most header fields to any server, and follow a redirect from
  /// `https` to `http`.
  struct HTTPSource: Sendable {
    private static let redirectStatuses: Set<UInt> = [301, 302, 303, 307, 308]
    private static let contentStatuses: Set<UInt> = [200, 203]

    private let address: HTTPAddress
    private let credentials: String?
    private let timeout: Duration
    private let maximumRedirectCount: Int
    private let configuration: HTTPClient.Configuration
    private let headers: @Sendable () async throws -> [String: String]

    init(
      address: HTTPAddress, credentials: String?, timeout: Duration, maximumRedirectCount: Int,
      configuration: HTTPClient.Configuration, headers: @escaping @Sendable () async throws -> [String: String]
    ) {
      self.address = address
      self.credentials = credentials
      self.headers = headers
      // At most a year, far from the limits of clocks.
      self.timeout = min(timeout, .seconds(366 * 86_400))
      self.maximumRedirectCount = max(0, maximumRedirectCount)
      var configuration = configuration
      configuration.redirectConfiguration = .disallow
      configuration.decompression = .disabled
      configuration.connectionPool.retryConnectionEstablishment = false
      // The guard is a handler of HTTP/1.
      configuration.httpVersion = .http1Only
      configuration.http1_1ConnectionDebugInitializer = {
        [next = configuration.http1_1ConnectionDebugInitializer] channel in
        StatusGuard.add(to: channel).flatMap { next?(channel) ?? channel.eventLoop.makeSucceededVoidFuture() }
      }
      self.configuration = configuration
    }

    /// Sends the request, and follows redirects, with a client that is used for this load only.
    ///
    /// - Throws: `unreachable`, `refusedRedirect`, `limitExceeded`, `malformed`, `unexpectedStatus` for 304 after a
    ///   redirect, `CancellationError`, and the error of the caller's closure.
    func fetch(_ request: RemoteRequest) async throws -> RemoteResponse {
      let own = try HTTPFields.own(await headers(), credentials: credentials)
      try Task.checkCancellation()
      return try await withThrowingTaskGroup(of: RemoteResponse.self) { group in
        group.addTask { try await exchange(request, own) }
        group.addTask { [timeout] in
          try await Task.sleep(for: timeout)
          throw PreferencesError(.unreachable, "no complete response in time")
        }
        defer { group.cancelAll() }
        for try await response in group { return response }
        throw CancellationError()
      }
    }

    private func exchange(_ request: RemoteRequest, _ own: HTTPHeaders) async throws -> RemoteResponse {
      let client = HTTPClient(configuration: configuration)
      // A connection that is just being made would delay the end of a cancelled load.
      defer { client.shutdown { _ in } }
      do {
        return try await follow(request, own, with: client)
      } catch let error as PreferencesError {
        throw error
      } catch {
        try Task.checkCancellation()
        // The full text of the client's error may contain header fields.
        let reason = (error as? HTTPClientError)?.shortDescription ?? "\(type(of: error))"
        throw PreferencesError(.unreachable, "no complete response (\(reason))", cause: error)
      }
    }

    private func follow(
      _ request: RemoteRequest, _ own: HTTPHeaders, with client: HTTPClient
    ) async throws -> RemoteResponse {
      var place = address
      for redirectCount in 0...maximumRedirectCount {
        var get = HTTPClientRequest(url: place.text)
        get.headers = place.hasOrigin(of: address) ? own : HTTPFields.usual
        // A server may close a connection after its response without notice. The next request would fail on it.
        get.headers.replaceOrAdd(name: "Connection", value: "close")
        if redirectCount == 0 {
          for (field, value) in request.headers { get.headers.replaceOrAdd(name: field, value: value) }
        }
        // The group of `fetch(_:)` limits the whole load; the client's limit covers only the header.
        let response = try await client.execute(get, deadline: .distantFuture)
        switch response.status.code {
        case let status where Self.redirectStatuses.contains(status):
          place = try place.redirected(to: response.headers.first(name: "Location"))
        case let status where Self.contentStatuses.contains(status):
          let bytes = try await Self.content(of: response, upTo: request.maximumByteCount)
          guard redirectCount == 0 else { return RemoteResponse(status: Int(status), bytes: bytes) }
          return RemoteResponse(
            status: Int(status), bytes: bytes, entityTag: response.headers.first(name: "ETag"),
            lastModified: response.headers.first(name: "Last-Modified"))
        case 304 where redirectCount > 0:
          // The request to this address was not conditional.
          throw PreferencesError(
            .unexpectedStatus, "the server responded with status 304", cause: UnexpectedStatus(status: 304))
        case let status: return RemoteResponse(status: Int(status))
        }
      }
      throw PreferencesError(.refusedRedirect, "more than \(maximumRedirectCount) redirects")
    }

    private static func content(of response: HTTPClientResponse, upTo limit: Int) async throws -> [UInt8] {
      let encodings = response.headers[canonicalForm: "Content-Encoding"]
      guard encodings.allSatisfy({ $0.isEmpty || $0.lowercased() == "identity" }) else {
        throw PreferencesError(.malformed, "the response is encoded, which was not requested")
      }
      var bytes: [UInt8] = []
      for try await chunk in response.body {
        guard chunk.readableBytes <= limit - bytes.count else {
          throw PreferencesError(.limitExceeded, "the response has more than \(limit) bytes")
        }
        bytes += chunk.readableBytesView
      }
      // A cancelled body ends like a complete body.
      try Task.checkCancellation()
      return bytes
    }
  }
#endif
