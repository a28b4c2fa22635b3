import DurableFiles
import Synchronization

/// Receives errors from what cannot throw, such as subscripts, property wrappers and observers. These return nil or a default
/// then.
public enum PreferenceFailures {
  /// A failure, without any value.
  public struct Failure: Sendable {
    /// What failed. Its own text is not ours and may say anything.
    public let error: any Error
    /// The key that was read or written.
    public let key: String
    /// The name of the reader.
    public let reader: String
  }

  private static let handler = Mutex<@Sendable (Failure) -> Void>(writeToStandardError)

  /// Replaces what is done with failures; one line on standard error unless this is called. Call it once, when the program
  /// starts. The handler is called on the thread that failed, with no lock held.
  public static func setHandler(_ new: @escaping @Sendable (Failure) -> Void) { handler.withLock { $0 = new } }

  /// Passes a failure on. For what reads or writes where nothing can be thrown.
  ///
  /// - Parameter key: the key that was read or written; `*` when it is not known.
  public static func report(_ error: any Error, key: String, reader: String) {
    if let scoped { return scoped(Failure(error: error, key: key, reader: reader)) }
    handler.withLock(\.self)(Failure(error: error, key: key, reader: reader))
  }

  @TaskLocal private static var scoped: (@Sendable (Failure) -> Void)?

  /// Runs `body` with a handler of its own, for this task and its children: for tests.
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
    // The text of a foreign error is not ours to repeat: it may hold a value.
    let reason = (failure.error as? PreferencesError)?.description ?? "\(type(of: failure.error))"
    let line = Array(
      "preferences: \(escapedForDisplay(failure.reader)), key \"\(escapedForDisplay(failure.key))\": \(reason)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
  }
}
