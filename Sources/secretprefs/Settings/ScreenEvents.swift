internal import DurableFiles
internal import Synchronization

/// What happens on other threads while a screen is shown. Each event makes ``descriptor`` readable.
final class ScreenEvents: Sendable {
  enum Event {
    case storeChanged
    /// The file could not be read again.
    case failed(any Error)
    /// A change of a setting has ended; with an error if it failed.
    case changeEnded((any Error)?)
  }

  let descriptor: Int32
  private let writing: Int32
  private let events = Mutex<[Event]>([])

  init() throws(ToolError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw .io("create a pipe", errno) }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (descriptor, writing) = (ends[0], ends[1])
  }

  deinit {
    close(descriptor)
    close(writing)
  }

  func send(_ event: Event) {
    events.withLock { $0.append(event) }
    var byte: UInt8 = 0
    _ = write(writing, &byte, 1)  // may fail: a full pipe is readable already
  }

  func take() -> [Event] {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(descriptor, &bytes, bytes.count) > 0 {}
    return events.withLock { events in
      defer { events = [] }
      return events
    }
  }
}
