internal import DurableFiles
internal import Synchronization

/// What happens on other threads while a screen is shown. Each event makes ``descriptor`` readable.
final class ScreenEvents: Sendable {
  enum ScreenEvent {
    case storeChanged
    /// The file could not be read again.
    case failed(any Error)
    /// A change of a setting has ended; with an error if it failed.
    case changeEnded((any Error)?)
  }

  let descriptor: Int32
  private let writing: Int32
  private let events = Mutex<[ScreenEvent]>([])

  init() throws(ToolError) {
    guard let pipe = ChildProcess.pipe() else { throw .io("create a pipe", errno) }
    for end in [pipe.reading, pipe.writing] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    descriptor = pipe.reading
    writing = pipe.writing
  }

  deinit {
    close(descriptor)
    close(writing)
  }

  func send(_ event: ScreenEvent) {
    events.withLock { $0.append(event) }
    var byte: UInt8 = 0
    _ = write(writing, &byte, 1)  // may fail: a full pipe is readable already
  }

  func take() -> [ScreenEvent] {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(descriptor, &bytes, bytes.count) > 0 {}
    return events.withLock { events in
      defer { events = [] }
      return events
    }
  }
}
