/// Whose mistake a failure is, and what a program reports for it. `Docs/Errors.md` has the table.
public struct FailureClass: Sendable, Hashable {
  /// Whose mistake a failure is.
  public enum Origin: String, Sendable, Hashable, CaseIterable {
    /// The code that made the call, or the input that it passed on. The same call fails again.
    case caller
    /// The person who runs the program: a file, a permission, a credential or a setting is missing, wrong or damaged.
    case `operator`
    /// The data may have been changed without the key. A damaged disk can look the same.
    case attacker
    /// The machine, the network or another process. The same call may succeed later.
    case machine
  }

  /// Who can prevent the failure the next time.
  public let origin: Origin
  /// The status with which a server answers a request that failed for this reason. It reveals nothing to a client
  /// except for a mistake of the client's own: 400 or 409 means that the request was wrong, 413 that it was too large,
  /// 401 that the user must sign in again, 404 that there is no such setting. 503 means that a later request may
  /// succeed.
  public let httpStatus: Int
  /// The exit code with which a program ends, as `secretprefs` does.
  public let exitCode: Int32

  package init(_ origin: Origin, http httpStatus: Int, exit exitCode: Int32) {
    self.origin = origin
    self.httpStatus = httpStatus
    self.exitCode = exitCode
  }

  /// The class of an error that is not classified, such as one with a code of a different package.
  package static let unknown = FailureClass(.caller, http: 500, exit: 70)
}

/// An error that knows its class.
///
/// ```swift
/// do { … } catch let error as any ClassifiedError {
///   throw HTTPError(.init(code: error.failureClass.httpStatus))
/// }
/// ```
public protocol ClassifiedError: Error {
  /// Whose mistake the failure is, and what a program reports for it.
  var failureClass: FailureClass { get }
  /// The name of the failure's kind, such as `locked`. It contains neither a value nor the name of one, so it can be
  /// logged anywhere. The default is the name of the type.
  var failureCode: String { get }
}

extension ClassifiedError {
  public var failureCode: String { "\(Self.self)" }
}
