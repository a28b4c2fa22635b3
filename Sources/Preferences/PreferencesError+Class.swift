@_exported public import protocol DurableFiles.ClassifiedError
@_exported public import struct DurableFiles.FailureClass

extension PreferencesError: ClassifiedError {
  /// The class of the code. If a layer failed, the class of its error.
  public var failureClass: FailureClass {
    if code == .unavailable, let cause = cause as? any ClassifiedError { return cause.failureClass }
    return code.failureClass
  }

  /// The name of the code. If a layer failed, the name of its error's code behind it, such as `unavailable (locked)`.
  public var failureCode: String {
    guard let cause = cause as? any ClassifiedError else { return code.rawValue }
    return "\(code) (\(cause.failureCode))"
  }
}

extension PreferencesError.Code {
  /// Whose mistake a failure with this code is. A code of a different package counts as the caller's.
  public var failureClass: FailureClass { Self.classes[rawValue] ?? .unknown }

  /// All codes of this package, also of the modules above this one.
  package static let classes: [String: FailureClass] = [
    "typeMismatch": FailureClass(.operator, http: 500, exit: 1),
    "outOfRange": FailureClass(.operator, http: 500, exit: 1),
    "invalidKey": FailureClass(.caller, http: 400, exit: 64),
    "notStorable": FailureClass(.caller, http: 400, exit: 1),
    "unsupportedByFormat": FailureClass(.caller, http: 400, exit: 1),
    "limitExceeded": FailureClass(.caller, http: 413, exit: 65),
    "conflict": FailureClass(.caller, http: 409, exit: 1),
    "fixed": FailureClass(.caller, http: 409, exit: 1),
    "unknownKey": FailureClass(.caller, http: 404, exit: 1),
    "unclaimed": .unknown,
    "noStore": .unknown,
    "shadowed": FailureClass(.operator, http: 500, exit: 1),
    "absent": FailureClass(.operator, http: 500, exit: 1),
    "notFound": FailureClass(.operator, http: 500, exit: 1),
    "malformed": FailureClass(.operator, http: 500, exit: 65),
    "exposed": FailureClass(.operator, http: 500, exit: 74),
    "unreadable": FailureClass(.operator, http: 500, exit: 74),
    "refusedRedirect": FailureClass(.operator, http: 500, exit: 74),
    "unwritable": FailureClass(.machine, http: 503, exit: 74),
    "unavailable": FailureClass(.machine, http: 503, exit: 74),
    "unreachable": FailureClass(.machine, http: 503, exit: 74),
    "unexpectedStatus": FailureClass(.machine, http: 503, exit: 74),
    "notErased": FailureClass(.machine, http: 503, exit: 74),
    "durabilityUnknown": FailureClass(.machine, http: 500, exit: 74),
  ]
}
