internal import DurableFiles
internal import Synchronization

/// A line on the terminal that shows the progress of an operation. Appears after one second and is erased at the end.
final class ProgressLine: Sendable {
  private struct State {
    /// The time of the next update. `nil` until the operation starts.
    var due: ContinuousClock.Instant?
    /// The width of the current line in columns.
    var width = 0
  }

  private let verb: String
  private let now: @Sendable () -> ContinuousClock.Instant
  private let write: @Sendable (String) -> Void
  private let state = Mutex(State())

  /// `nil` if standard error is not a terminal, or if messages are JSON.
  convenience init?(_ verb: String, _ messages: Messages) {
    guard !messages.isJSON, isatty(STDERR_FILENO) == 1 else { return nil }
    self.init(verb, now: { .now }, write: messages.write)
  }

  init(
    _ verb: String, now: @escaping @Sendable () -> ContinuousClock.Instant, write: @escaping @Sendable (String) -> Void
  ) {
    self.verb = verb
    self.now = now
    self.write = write
  }

  // Runs before an error is reported, because the operation has released this object by then.
  deinit { state.withLock { erase(&$0) } }

  /// Updates the line, at most ten times per second. The last step erases it.
  func show(_ done: Int, of total: Int) {
    state.withLock { state in
      let now = now()
      guard let due = state.due else {
        state.due = now + .seconds(1)
        return
      }
      guard done < total else { return erase(&state) }
      guard now >= due else { return }
      state.due = now + .milliseconds(100)
      let line = "\(verb) \(grouped(done)) of \(grouped(total))"
      state.width = line.count
      write(line + "\r")
    }
  }

  private func erase(_ state: inout State) {
    guard state.width > 0 else { return }
    write(String(repeating: " ", count: state.width) + "\r")
    state.width = 0
  }
}

/// A number with commas between groups of three digits: `1,048,576`.
func grouped(_ number: Int) -> String {
  let digits = String(number)
  return digits.enumerated().reduce(into: "") { text, digit in
    if digit.offset > 0, (digits.count - digit.offset) % 3 == 0 { text += "," }
    text.append(digit.element)
  }
}
