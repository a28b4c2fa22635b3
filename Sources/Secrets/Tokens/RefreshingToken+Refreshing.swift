internal import FoundationEssentials
internal import Preferences
internal import Synchronization
internal import VaultCore

// One refresh: the lease, the request, and what becomes of its answer. The comments `model:` name the steps of
// `Tests/Models/lease.pml`; `Scripts/model` checks that both have the same.
extension RefreshingToken {
  /// The record whose refresh closure runs in this task, and those of the closures that wait for it.
  @TaskLocal static var spending: Set<TokenIdentity> = []

  /// The refresh that all callers in this process share. It is a task of its own: cancelling its callers does not stop
  /// it.
  func refreshing(_ old: TokenText) -> (task: Task<Secret<String>, any Error>, isFirst: Bool) {
    onRefresh?(self)
    return unfinished.withLock { unfinished in
      if let task = unfinished.refreshing { return (task, false) }
      // The task serves other callers, too, whose changes are not suppressed.
      let task = ChangeBroadcast.unsuppressed {
        Task {
          defer { self.unfinished.withLock { $0.refreshing = nil } }
          return try await renew(old)
        }
      }
      unfinished.refreshing = task
      return (task, true)
    }
  }

  /// Gets the lease and refreshes, or waits for the process that has it.
  private func renew(_ old: TokenText) async throws -> Secret<String> {
    if let unsaved = unfinished.withLock({ $0.unsaved }) { _ = try await save(unsaved) }
    var old = old
    let start = leases.elapsed()
    var awaited: UInt64?
    var taken: UInt64?
    var interval = Duration.milliseconds(2)
    // The request needs time: less than this must not be left of the lease. Each new lease may lose a tenth more to the
    // write, down to a half, so that a slow disk delays a refresh and does not prevent it.
    var needed = options.lease * 9 / 10
    while true {
      // model: read
      let record = try await load()
      let now = now
      if !record.hasSameTokens(as: old), now < record.tokens.expires {
        let access = try record.tokens.access()
        if access.isAccessToken { return access }
      }
      old = record.tokens
      if let mark = record.mark {
        if mark.id == awaited || mark.isPause(at: now) {
          if let failure = mark.failure { throw failure }
          if mark.phase == .succeeded { return try record.tokens.access() }
        }
        if mark.phase == .underWay, mark.id != taken {
          if mark.id != awaited {
            awaited = mark.id
            interval = .milliseconds(2)
          }
          // model: wait
          let end = leases.end(of: mark)
          let passed = leases.elapsed()
          if passed < end {
            guard passed - start < options.lease * 2 else { throw RefreshFailure(.timedOut) }
            try await options.clock.sleep(for: min(interval, end - passed))
            interval = min(interval * 2, .milliseconds(100))
            continue
          }
        }
      }
      guard let refreshToken = try record.tokens.refresh() else { throw RefreshFailure(.signedOut) }
      let lease = RefreshMark(leaseFor: options.lease, at: now)
      // model: lease-count
      let end = leases.end(of: lease)
      // model: lease-write
      guard try await records.write(lease, to: record) else { continue }
      // model: lease-left
      if end - leases.elapsed() >= needed { return try await spend(refreshToken, of: record.tokens, lease, until: end) }
      // The write has waited for other writers. The next one replaces this lease by a new one.
      taken = lease.id
      needed = max(options.lease / 2, needed - options.lease / 10)
      guard leases.elapsed() - start < options.lease * 2 else { throw RefreshFailure(.timedOut) }
    }
  }

  private func spend(
    _ refreshToken: Secret<String>, of spent: TokenText, _ lease: RefreshMark, until end: Duration
  ) async throws -> Secret<String> {
    // Tokens that arrive after the lease are stored, too, unless others have been stored meanwhile.
    let task = Task {
      // model: send
      guard end - leases.elapsed() >= options.lease / 2 else { throw RefreshFailure(.timedOut) }
      let tokens: Tokens
      let spending = Self.spending.union([records.place])
      do {
        tokens = try await Self.$spending.withValue(spending) { try await refresh(refreshToken) }
      } catch let failure as RefreshFailure { throw failure } catch { throw RefreshFailure(.failed, cause: error) }
      // model: receive
      return try await save(NewTokens(tokens, at: now, for: refreshToken, of: spent, lease))
    }
    do { return try await value(of: task, until: end) } catch let failure as RefreshFailure {
      // model: cancel
      task.cancel()
      return try await fail(failure, spent, lease)
    }
  }

  /// Stores new tokens, unless the record has tokens that are newer.
  /// - Returns: the access token that is stored afterwards.
  @discardableResult
  func save(_ new: NewTokens) async throws -> Secret<String> {
    // model: keep
    unfinished.withLock { $0.unsaved = new }
    var fits = true
    while true {
      guard let record = try await records.reading({ try $0.find() }) else {
        drop(new)
        throw RefreshFailure(.signedOut)
      }
      guard record.hasSameTokens(as: new.spent) else {
        // model: outdated
        drop(new)
        return try record.tokens.access()
      }
      let isUsable = fits && new.access.isAccessToken
      let text = try new.text(withAccess: fits)
      // The lease of another process stays: its request may be under way.
      let other = record.mark.flatMap { $0.phase == .underWay && $0.id != new.lease.id ? $0 : nil }
      let mark = other ?? pause(after: new, isUsable)
      do {
        // model: store
        guard try await records.store(text, mark, over: record.version) else { continue }
      } catch {
        // The refresh token alone may fit.
        guard fits, (error as? VaultError)?.code == .valueTooLarge else { throw error }
        fits = false
        continue
      }
      forget(new)
      if isUsable { return new.access }
      throw RefreshFailure(
        .failed,
        cause: VaultError(
          fits ? .typeMismatch : .valueTooLarge,
          fits
            ? "the new access token is empty or contains a control character" : "the new access token is too long"))
    }
  }

  /// The mark of new tokens: none, unless the next call would refresh them before a pause is over.
  private func pause(after new: NewTokens, _ isUsable: Bool) -> RefreshMark? {
    let pause = options.pauseAfterFailure
    guard isUsable else { return new.lease.failed(.failed, pause: pause, at: new.issued) }
    guard isDue(expires: new.expires, issued: new.issued, at: new.issued + pause.milliseconds) else { return nil }
    return new.lease.succeeded(pause: pause, at: new.issued)
  }

  private func forget(_ new: NewTokens) {
    unfinished.withLock { if $0.unsaved?.lease.id == new.lease.id { $0.unsaved = nil } }
  }

  /// Forgets new tokens that have no record any more. A sign-out that removes what was spent for them returns them.
  func drop(_ new: NewTokens) {
    unfinished.withLock { unfinished in
      if unfinished.unsaved?.lease.id == new.lease.id { unfinished.unsaved = nil }
      for index in unfinished.removals.indices
      where unfinished.removals[index].tokens.content.isEqual(to: new.spent.content) {
        unfinished.removals[index].received = new
      }
    }
  }

  /// Replaces the lease by the failure, for the processes that wait.
  /// - Returns: the access token, if a different process has refreshed it meanwhile.
  private func fail(
    _ failure: RefreshFailure, _ spent: TokenText, _ lease: RefreshMark
  ) async throws -> Secret<String> {
    let pause = failure.code == .rejected ? options.pauseAfterRejection : options.pauseAfterFailure
    while true {
      let record = try await load()
      guard let mark = record.mark, mark.id == lease.id else {
        // The lease was lost: another process refreshes, or has refreshed.
        return try await renew(spent)
      }
      guard record.hasSameTokens(as: spent) else {
        // Either these are the new tokens, with their failure, or those of a process that was slower than its lease.
        if mark.phase == .failed { throw failure }
        return try await renew(spent)
      }
      // model: fail
      if try await records.write(lease.failed(failure.code, pause: pause, at: now), to: record) { throw failure }
    }
  }

  // MARK: Waiting

  /// Waits for `task`, which continues if the caller is cancelled or the time is over.
  func value<R: Sendable>(of task: Task<R, any Error>, until end: Duration? = nil) async throws -> R {
    let (values, continuation) = AsyncThrowingStream<R, any Error>.makeStream()
    Task {
      do {
        continuation.yield(try await task.value)
        continuation.finish()
      } catch { continuation.finish(throwing: error) }
    }
    let timer = end.map { end in
      Task {
        // Measured here, because a task may start late.
        try await options.clock.sleep(for: end - leases.elapsed())
        continuation.finish(throwing: RefreshFailure(.timedOut))
      }
    }
    defer { timer?.cancel() }
    for try await value in values { return value }
    throw CancellationError()
  }
}
