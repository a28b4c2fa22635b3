internal import Synchronization

/// Lets concurrent writes of one process share one append and one sync (group commit).
///
/// A synchronous writer that finds nobody at work leads: it takes what has gathered, commits it, and hands on to
/// the next. So one writer alone never changes threads. Asynchronous writes are led by a helper thread, so that no
/// cooperative thread ever waits for a disk.
final class WriteQueue: Sendable {
  /// What one caller wants done: it becomes durable as a whole or not at all.
  enum Work: Sendable {
    /// Sealed changes of records of one group. Several of these may share an entry.
    case changes([RecordChange], group: Vault.Identifier)
    /// A full write of its own: of slots, groups or keys, or without change.
    case rewrite(VaultWriter.Rewrite)

    /// None for a full write.
    var changes: [RecordChange] { if case .changes(let changes, _) = self { changes } else { [] } }
  }

  final class Request: Sendable {
    let work: Work
    fileprivate let deliver: Delivery

    fileprivate enum Delivery { case gate(Gate<Answer?>), continuation(CheckedContinuation<Answer, Never>) }

    fileprivate init(_ work: Work, deliver: Delivery) { (self.work, self.deliver) = (work, deliver) }

    fileprivate func answer(_ answer: Answer) {
      switch deliver {
      case .gate(let gate): gate.open(answer)
      case .continuation(let continuation): continuation.resume(returning: answer)
      }
    }
  }

  /// How many of the removals found their record; all of it is durable.
  typealias Answer = Result<Int, VaultError>

  private struct State {
    var pending: [Request] = []
    var isLed = false
  }

  /// A batch is cut at this many bytes, so that no entry grows without bound. One request is never cut.
  private static let batchBytes = 1 << 20

  private let state = Mutex(State())
  private let writer: VaultWriter

  /// - Parameter writer: makes work durable; called by one thread at a time.
  init(_ writer: VaultWriter) { self.writer = writer }

  /// Returns when the work is durable or has failed. Blocks.
  func perform(_ work: Work) -> Answer {
    let gate = Gate<Answer?>()
    let request = Request(work, deliver: .gate(gate))
    // An open gate without an answer means: it is your turn to lead.
    if !enqueue(request), let answer = gate.wait() { return answer }
    let batch = takeBatch()
    let answers = writer.commit(batch)
    for (other, answer) in zip(batch, answers).dropFirst() { other.answer(answer) }
    handOn()
    return answers[0]  // a leader's own request is the first
  }

  /// Returns when the work is durable or has failed. Suspends.
  func perform(_ work: Work) async -> Answer {
    await withCheckedContinuation { continuation in
      let request = Request(work, deliver: .continuation(continuation))
      if enqueue(request) { startHelper() }
    }
  }

  /// Whether the caller has to see that the queue is led.
  private func enqueue(_ request: Request) -> Bool {
    state.withLock { state in
      state.pending.append(request)
      defer { state.isLed = true }
      return !state.isLed
    }
  }

  private func startHelper() {
    HelperThread.run { [self] in
      while true {
        let batch = takeBatch()
        if batch.isEmpty { return }
        for (request, answer) in zip(batch, writer.commit(batch)) { request.answer(answer) }
      }
    }
  }

  private func handOn() {
    let next = state.withLock { state -> Request? in
      if state.pending.isEmpty { state.isLed = false }
      return state.pending.first
    }
    switch next?.deliver {
    case .gate(let gate): gate.open(nil)
    case .continuation: startHelper()
    case nil: break
    }
  }

  /// Takes what can be done together: a rewrite alone, or changes of one group, no record twice. With nothing left,
  /// the queue is no longer led.
  private func takeBatch() -> [Request] {
    state.withLock { state in
      guard let first = state.pending.first else {
        state.isLed = false
        return []
      }
      guard state.pending.count > 1, case .changes(_, let group) = first.work else {
        state.pending.removeFirst()
        return [first]
      }
      var names: Set<RecordAddress> = []
      var bytes = 0
      var count = 0
      for request in state.pending {
        guard case .changes(let changes, group) = request.work else { break }
        bytes += changes.reduce(0) { $0 + $1.cost }
        guard count == 0 || bytes <= Self.batchBytes else { break }
        // A record written twice gets two revisions, so the second write waits for the next entry.
        let own = changes.map(\.address)
        guard count == 0 || names.isDisjoint(with: own) else { break }
        names.formUnion(own)
        count += 1
      }
      defer { state.pending.removeFirst(count) }
      return Array(state.pending.prefix(count))
    }
  }
}
