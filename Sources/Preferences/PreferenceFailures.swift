import DurableFiles
import Synchronization

/// Receives errors from APIs that cannot throw, such as subscripts, property wrappers and observers. After an error
/// these return `nil` or a default. A write of theirs that a layer above hides is also reported, as
/// ``PreferencesError/Code/shadowed``.
public enum PreferenceFailures {
  /// A failure, without any value.
  public struct Failure: Sendable {
    /// The error. The text of an error of a different module may contain values.
    public let error: any Error
    /// The key that was read or written.
    public let key: String
    /// The name of the reader.
    public let reader: String
  }

  private static let handler = Mutex<@Sendable (Failure) -> Void>(writeToStandardError)

  /// Replaces the handler of failures. Call it once, when the program starts. The handler is called on the thread of
  /// the failure, with no lock held.
  ///
  /// The default handler writes one line to standard error: the reader, and the code of the error, with that of its
  /// cause, or its type. It omits the key, which in a vault is the name of a secret.
  public static func setHandler(_ new: @escaping @Sendable (Failure) -> Void) {
    // The end of what the old handler captures may report a failure.
    let old = handler.withLock { handler in
      defer { handler = new }
      return handler
    }
    withExtendedLifetime(old) {}
  }

  /// Reports a failure, for code that reads or writes but cannot throw.
  ///
  /// - Parameter key: the key that was read or written; `*` if it is not known.
  public static func report(_ error: any Error, key: String, reader: String) {
    if let scoped { return scoped(Failure(error: error, key: key, reader: reader)) }
    handler.withLock(\.self)(Failure(error: error, key: key, reader: reader))
  }

  /// Writes, for a setter, which can neither throw nor return an outcome. An error and a hidden write are reported.
  package static func writing(_ key: String, in writer: String, _ write: () throws -> WriteOutcome) {
    do { report(try write(), key: key, writer: writer) } catch { report(error, key: key, reader: writer) }
  }

  /// Reports a write that a layer above hides.
  ///
  /// - Parameter key: `*` for several.
  package static func report(_ outcome: WriteOutcome, key: String, writer: String) {
    guard case .shadowed(let layer) = outcome else { return }
    let error = PreferencesError(.shadowed, "the write is done, but layer \"\(layer)\" still provides the value")
    report(key == "*" ? error : error.about(key: key), key: key, reader: writer)
  }

  @TaskLocal private static var scoped: (@Sendable (Failure) -> Void)?

  /// Runs `body` with a handler that applies only to this task and its children: for tests.
  @discardableResult
  public static func withHandler<R>(_ new: @escaping @Sendable (Failure) -> Void, _ body: () throws -> R) rethrows -> R
  {
    try $scoped.withValue(new, operation: body)
  }

  /// The asynchronous form of `withHandler(_:_:)`.
  @discardableResult
  public static func withHandler<R>(
    _ new: @escaping @Sendable (Failure) -> Void, _ body: () async throws -> R
  ) async rethrows -> R {
    try await $scoped.withValue(new, operation: body)
  }

  private static let writeToStandardError: @Sendable (Failure) -> Void = { failure in
    // The message contains the key, and the text of an error of a different module may contain a value.
    let reason = (failure.error as? any ClassifiedError)?.failureCode ?? "\(type(of: failure.error))"
    let line = Array("preferences: \(escapedForDisplay(failure.reader)): \(reason)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
  }
}
