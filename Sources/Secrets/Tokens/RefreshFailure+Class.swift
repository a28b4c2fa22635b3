public import Preferences

extension RefreshFailure: ClassifiedError {
  /// The class of the code.
  public var failureClass: FailureClass { code.failureClass }
  /// The name of the code.
  public var failureCode: String { code.rawValue }
}

extension RefreshFailure.Code {
  /// Whose mistake a failure with this code is. 401 means that the user must sign in again.
  public var failureClass: FailureClass {
    switch self {
    case .rejected, .signedOut: FailureClass(.caller, http: 401, exit: 77)
    case .timedOut, .failed: FailureClass(.machine, http: 503, exit: 74)
    default: .unknown
    }
  }
}
