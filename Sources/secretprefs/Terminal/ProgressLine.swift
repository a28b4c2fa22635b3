internal import Glibc
internal import Synchronization

/// One line on the terminal that tells how far long work has come. It is gone when the work is, and never comes up
/// for work of less than a second.
final class ProgressLine: Sendable {
  private struct State {
    /// Nil until the work has begun.
    var due: ContinuousClock.Instant?
    /// How many columns of the line are written.
    var width = 0
  }

  private let verb: String
  private let now: @Sendable () -> ContinuousClock.Instant
  private let write: @Sendable (String) -> Void
  private let state = Mutex(State())

  /// Nil where nobody looks: standard error is no terminal, or a program reads the messages.
  convenience init?(_ verb: String, _ messages: Messages) {
    guard !messages.isJSON, isatty(STDERR_FILENO) == 1 else { return nil }
    self.init(verb, now: { .now }, write: messages.write)
  }

  init(
    _ verb: String, now: @escaping @Sendable () -> ContinuousClock.Instant, write: @escaping @Sendable (String) -> Void
  ) {
    (self.verb, self.now, self.write) = (verb, now, write)
  }

  // Before anything else is written: what reports a failure runs when everything of the work has been let go.
  deinit { state.withLock { erase(&$0) } }

  /// Shows how far the work has come, ten times a second at most; the last step takes the line away.
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

/// A number with a comma before every three digits: `1,048,576`.
func grouped(_ number: Int) -> String {
  let digits = String(number)
  return digits.enumerated().reduce(into: "") { text, digit in
    if digit.offset > 0, (digits.count - digit.offset) % 3 == 0 { text += "," }
    text.append(digit.element)
  }
}
