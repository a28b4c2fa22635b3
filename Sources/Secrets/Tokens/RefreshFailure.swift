/// Why an access token could not be refreshed.
///
/// A refresh closure throws `RefreshFailure(.rejected)` if the server refuses the refresh token (HTTP 400 with
/// `invalid_grant`). Neither the description nor the mirror shows a token or ``cause``.
public struct RefreshFailure: Error, Sendable {
  /// The kind of failure. Later versions may add kinds.
  public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }

    /// The server refuses the refresh token. Trying again does not help: the user has to sign in again.
    public static let rejected = Code(rawValue: "rejected")
    /// The refresh took longer than the lease.
    public static let timedOut = Code(rawValue: "timedOut")
    /// The refresh closure threw a different error, or the server's access token cannot be used.
    public static let failed = Code(rawValue: "failed")
    /// The refresh closure needs the access token that it refreshes, for example because its HTTP client adds the token
    /// to every request.
    public static let recursive = Code(rawValue: "recursive")
    /// No tokens are stored, or the access token must be refreshed and there is no refresh token.
    public static let signedOut = Code(rawValue: "signedOut")
  }

  /// The kind of failure.
  public let code: Code
  /// The error that the refresh closure threw, in the process that called it. Its text may contain secrets: log it with
  /// care.
  public let cause: (any Error)?

  /// Creates a failure.
  public init(_ code: Code, cause: (any Error)? = nil) {
    self.code = code
    self.cause = cause
  }
}

extension RefreshFailure: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The kind of failure.
  public var description: String { "the access token could not be refreshed: \(code)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["code": code.rawValue]) }
}
