extension PreferencesError.Code {
  /// The server sent no complete response: no connection, an interrupted connection, no HTTP, or a timeout.
  public static let unreachable = Self(rawValue: "unreachable")
  /// The server responded with a status other than success. ``PreferencesError/cause`` is the ``UnexpectedStatus``.
  public static let unexpectedStatus = Self(rawValue: "unexpectedStatus")
  /// The server redirects to an address that is not accepted, or too often.
  public static let refusedRedirect = Self(rawValue: "refusedRedirect")
}

/// The unexpected status of a response.
public struct UnexpectedStatus: Error, Sendable, Hashable, CustomStringConvertible {
  /// The number, such as 404.
  public let status: Int

  /// Creates the cause of an `unexpectedStatus`.
  public init(status: Int) { self.status = status }

  public var description: String { "HTTP status \(status)" }
}
