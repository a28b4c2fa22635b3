/// The request that the closure of ``RemotePreferences`` sends.
public struct RemoteRequest: Sendable {
  /// The header fields of a conditional request: `If-None-Match` and `If-Modified-Since`, with the version of the
  /// current values. Empty if there are no values, or if they have no version.
  public let headers: [String: String]
  /// The maximum size of the content, in bytes. The closure should not receive more; what it returns is checked again.
  public let maximumByteCount: Int
}

/// The response that the closure of ``RemotePreferences`` returns.
public struct RemoteResponse: Sendable {
  let status: Int
  let bytes: [UInt8]
  let entityTag: String?
  let lastModified: String?

  /// Creates the response to a ``RemoteRequest``.
  ///
  /// - Parameters:
  ///   - status: the HTTP status. 200 and 203 have content; 304 means that the values have not changed, and is accepted
  ///     only if the request has ``RemoteRequest/headers``.
  ///   - bytes: the content, without transfer or content encoding. Ignored for any other status.
  ///   - entityTag: the header field `ETag`, as it was received.
  ///   - lastModified: the header field `Last-Modified`, as it was received.
  public init(
    status: Int, bytes: some Sequence<UInt8> = [], entityTag: String? = nil, lastModified: String? = nil
  ) {
    self.status = status
    self.bytes = Array(bytes)
    self.entityTag = entityTag
    self.lastModified = lastModified
  }

  /// The fields that make the next request conditional. A version that HTTP does not allow, such as `*`, is ignored,
  /// and so is a date in the future: every response would be that nothing has changed.
  var conditions: [String: String] {
    var conditions: [String: String] = [:]
    conditions["If-None-Match"] = entityTag.flatMap { HTTPVersion.isEntityTag($0) ? $0 : nil }
    conditions["If-Modified-Since"] = lastModified.flatMap { HTTPVersion.isPastDate($0) ? $0 : nil }
    return conditions
  }
}

extension RemoteResponse: CustomStringConvertible, CustomReflectable {
  /// The status and the size, without the content.
  public var description: String { "response \(status) with \(bytes.count) bytes" }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
