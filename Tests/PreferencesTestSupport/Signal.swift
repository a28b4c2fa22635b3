import Dispatch

/// Something that one task or thread waits for until another has done it.
package final class Signal: Sendable {
  private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
  private let semaphore = DispatchSemaphore(value: 0)

  package init() {}

  package func send() {
    continuation.finish()
    semaphore.signal()
  }

  package func wait() async { for await _ in stream {} }
  /// As ``wait()``, in a thread that may block.
  package func block() { semaphore.wait() }
}
