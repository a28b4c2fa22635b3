@_exported public import protocol DurableFiles.ClassifiedError
@_exported public import struct DurableFiles.FailureClass

extension VaultError: ClassifiedError {
  /// The class of the code.
  public var failureClass: FailureClass { code.failureClass }
  /// The name of the code.
  public var failureCode: String { code.rawValue }
}

extension VaultError.Code {
  /// Whose mistake a failure with this code is, and the exit code that `Docs/Format.md` section 11 suggests.
  ///
  /// A vault that is missing or locked is never reported as a missing value, which is 404.
  public var failureClass: FailureClass {
    switch self {
    case .alreadyExists, .conflict: FailureClass(.caller, http: 409, exit: 1)
    case .invalidName, .unsupportedAccessibility: FailureClass(.caller, http: 400, exit: 64)
    case .valueTooLarge: FailureClass(.caller, http: 413, exit: 64)
    case .lastOwnerSlot: FailureClass(.caller, http: 409, exit: 64)
    case .notFound, .expired, .typeMismatch: FailureClass(.operator, http: 500, exit: 1)
    case .invalidKeyText, .invalidPassphrase: FailureClass(.operator, http: 500, exit: 64)
    case .notAVault, .unsupportedVersion, .unsupportedFeature, .malformed, .limitExceeded, .kdfRefused, .damaged:
      FailureClass(.operator, http: 500, exit: 65)
    case .locked: FailureClass(.operator, http: 503, exit: 77)
    case .credentialRejected, .staleCredential, .groupNotGranted, .ownerRequired, .deviceKeyMissing, .wrongDevice:
      FailureClass(.operator, http: 500, exit: 77)
    case .noCredential: FailureClass(.operator, http: 500, exit: 78)
    case .readOnly, .hardLinked, .replaced, .insecurePermissions: FailureClass(.operator, http: 500, exit: 74)
    case .tampered, .rolledBack, .markMissing: FailureClass(.attacker, http: 500, exit: 76)
    case .kdfMemory: FailureClass(.machine, http: 503, exit: 71)
    case .io, .unreachable: FailureClass(.machine, http: 503, exit: 74)
    case .lockTimeout: FailureClass(.machine, http: 503, exit: 75)
    case .durabilityUnknown: FailureClass(.machine, http: 500, exit: 74)
    default: .unknown
    }
  }
}
