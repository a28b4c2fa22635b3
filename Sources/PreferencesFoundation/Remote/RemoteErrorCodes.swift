public import Preferences

extension PreferencesError.Code {
  /// No whole answer came from the server: no connection, one that broke off, something else than HTTP, or too late.
  public static let unreachable = Self(rawValue: "unreachable")
  /// The server answered with another status than success; ``PreferencesError/cause`` is the ``UnexpectedStatus``.
  public static let unexpectedStatus = Self(rawValue: "unexpectedStatus")
  /// The server sends to a place that is not gone to, or to too many.
  public static let refusedRedirect = Self(rawValue: "refusedRedirect")
}

/// The status that a server answered with.
public struct UnexpectedStatus: Error, Sendable, Hashable, CustomStringConvertible {
  /// The number, such as 404.
  public let status: Int

  public init(status: Int) { self.status = status }

  public var description: String { "HTTP status \(status)" }
}
