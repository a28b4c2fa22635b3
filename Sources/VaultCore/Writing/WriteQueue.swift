internal import DurableFiles
internal import Synchronization

/// Lets concurrent writes of one process share one append and one sync (group commit).
///
/// A sync costs many times what sealing a value costs, so writes that arrive while another one is being made durable
/// wait together and then share one entry. There is no thread that waits for writes. A writer that finds no commit in
/// progress leads: a synchronous writer commits on its own thread, so a single one never switches threads; an
/// asynchronous one starts a helper thread, so that no thread of the cooperative pool waits for a disk. A helper
/// commits what is pending, also for synchronous writers, until nothing is left; a synchronous leader commits once and
/// passes the lead on.
///
///     A (blocks)        B (blocks)      C (async)        the file
///     leads: A          waits           suspends         entry 1: A
///     passes the lead   leads: B, C                      entry 2: B and C together
///     returns           returns         resumes
///
/// A batch ends before a write of another group, before a record that it has already, before a write of slots, keys or
/// policies, and at one mebibyte. Each caller has its own outcome. Its deadline for the lock of the file began with its
/// call; a log has the same time again. An error that belongs to one record fails the caller that brought it: the batch
/// is then committed one by one. An error of the disk or of a log fails the whole batch.
///
/// The lock of the queue protects the list of those who wait, and is taken alone. ``VaultWriter`` is called with no
/// lock held, by the thread that leads.
final class WriteQueue: Sendable {
  /// The changes of one caller, which become durable together or not at all.
  enum Write: Sendable {
    /// Sealed changes of records of one group. Several such writes may share an entry.
    case changes([RecordChange], group: Vault.Identifier)
    /// A separate full write: of slots, groups or keys, or without a change.
    case rewrite(VaultWriter.Rewrite)
    /// The policy of the logs of groups, without a full write.
    case policy(AuditPolicy?, groups: [Vault.Identifier])

    /// Empty for other writes.
    var changes: [RecordChange] { if case .changes(let changes, _) = self { changes } else { [] } }
  }

  final class PendingWrite: Sendable {
    let write: Write
    /// When the wait for other processes ends. It began with the caller's call, so that a write is not delayed by the
    /// waits of those before it.
    let deadline: Deadline
    fileprivate let deliver: Delivery

    enum Delivery { case gate(Gate<Outcome?>), continuation(CheckedContinuation<Outcome, Never>) }

    init(_ write: Write, until deadline: Deadline, deliver: Delivery) {
      self.write = write
      self.deadline = deadline
      self.deliver = deliver
    }

    fileprivate func complete(_ outcome: Outcome) {
      switch deliver {
      case .gate(let gate): gate.open(outcome)
      case .continuation(let continuation): continuation.resume(returning: outcome)
      }
    }
  }

  /// Delivered once everything is durable.
  typealias Outcome = Result<CommittedWrite, VaultError>

  private struct State {
    var pending: [PendingWrite] = []
    var isLed = false
  }

  /// A batch is cut at this many bytes, so that an entry does not grow without bound. A single write is never cut.
  static let batchBytes = 1 << 20

  private let state = Mutex(State())
  private let writer: VaultWriter

  /// - Parameter writer: makes writes durable. Called by one thread at a time.
  init(_ writer: VaultWriter) { self.writer = writer }

  /// Returns when the write is durable or has failed. Blocks.
  func perform(_ write: Write) -> Outcome {
    let gate = Gate<Outcome?>()
    let request = PendingWrite(write, until: writer.deadline, deliver: .gate(gate))
    // A gate that opens without an outcome passes the lead to this thread.
    if !enqueue(request), let outcome = gate.wait() { return outcome }
    let batch = takeBatch()
    let outcomes = writer.commit(batch)
    for (other, outcome) in zip(batch, outcomes).dropFirst() { other.complete(outcome) }
    passLead()
    return outcomes[0]  // a leader's own write is the first
  }

  /// Returns when the write is durable or has failed. Suspends.
  func perform(_ write: Write) async -> Outcome {
    let deadline = writer.deadline
    return await withCheckedContinuation { continuation in
      let request = PendingWrite(write, until: deadline, deliver: .continuation(continuation))
      if enqueue(request) { startHelper() }
    }
  }

  /// Appends a write. Returns whether the caller must lead, or start a thread that does.
  private func enqueue(_ request: PendingWrite) -> Bool {
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
        for (request, outcome) in zip(batch, writer.commit(batch)) { request.complete(outcome) }
      }
    }
  }

  private func passLead() {
    let next = state.withLock { state -> PendingWrite? in
      if state.pending.isEmpty { state.isLed = false }
      return state.pending.first
    }
    switch next?.deliver {
    case .gate(let gate): gate.open(nil)
    case .continuation: startHelper()
    case nil: break
    }
  }

  /// Removes the pending writes that can be committed together: one full write, or changes of one group in which no
  /// record occurs twice. If none is left, the lead ends.
  private func takeBatch() -> [PendingWrite] {
    state.withLock { state in
      guard let first = state.pending.first else {
        state.isLed = false
        return []
      }
      guard state.pending.count > 1, case .changes(_, let group) = first.write else {
        state.pending.removeFirst()
        return [first]
      }
      var names: Set<RecordAddress> = []
      var bytes = 0
      var count = 0
      for request in state.pending {
        guard case .changes(let changes, group) = request.write else { break }
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
