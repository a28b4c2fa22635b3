package import DurableFiles

extension PreferencesReader {
  /// Runs `body`, which makes reads that may wait, and returns its result.
  ///
  /// Reads are synchronous, because they take microseconds. In a vault whose reads are logged, each waits for the lock
  /// of the log, which another process may hold, for up to its `lockTimeout`; a reader of your own may read a database.
  /// In `async` code, make such reads here: they run on a helper thread and block no cooperative thread. Readers
  /// that never wait, such as stores in memory and files, are read on the calling thread.
  ///
  /// ```swift
  /// let password = try await settings.reading { try $0.value(for: .databasePassword) }
  /// ```
  /// - Throws: the error of `body`.
  public func reading<R: Sendable, E: Error>(
    _ body: @Sendable (Self) throws(E) -> R
  ) async throws(E) -> R {
    guard let threads = readingThreads else { return try body(self) }
    return try await threads.run { () throws(E) in try body(self) }
  }

  /// The threads for reads in `async` code; `nil` if no read waits.
  package var readingThreads: HelperPool? {
    if let reader = self as? any WaitingReader { return reader.threads }
    return .waiting(for: "reads of \(name)")
  }
}

/// A reader that knows whether its reads may wait for a lock, a disk or another process. Any other reader may wait.
package protocol WaitingReader {
  /// The threads for reads in `async` code; `nil` if no read waits.
  var threads: HelperPool? { get }
}

extension DictionaryPreferences: WaitingReader { package var threads: HelperPool? { nil } }
extension EnvironmentPreferences: WaitingReader { package var threads: HelperPool? { nil } }
extension LaunchArgumentPreferences: WaitingReader { package var threads: HelperPool? { nil } }
extension PreferencesView: WaitingReader { package var threads: HelperPool? { reader.readingThreads } }
extension CompositePreferences: WaitingReader {
  package var threads: HelperPool? { layers.lazy.compactMap { $0.readingThreads }.first }
}
