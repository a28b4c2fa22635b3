public import FoundationEssentials
internal import Preferences
internal import Synchronization
public import VaultCore

/// An access token that is refreshed when it expires, by one task of one process at a time.
///
/// ```swift
/// let token = RefreshingToken("github", in: tokens) { refreshToken in
///   try await oauth.refresh(refreshToken)                       // throws RefreshFailure(.rejected) for invalid_grant
/// }
/// request.setBearer(try await token.accessToken())
/// ```
///
/// Both tokens and the expiry are one record of a vault, which all processes share. Before a process spends the refresh
/// token, it writes a lease into the record by compare-and-set; afterwards it stores the new tokens by compare-and-set.
/// Other processes wait for the new tokens. If the process that refreshes ends, the others wait until its lease is
/// over, and one of them takes its place and sends the same refresh token again: if the server had already replaced it,
/// the new tokens are lost (`Docs/Decisions/0036`). Keep one object for each record, which all tasks share.
///
/// The record is JSON: `access`, `expires`, `issued` and `refresh`, with times in milliseconds since 1970-01-01 UTC.
/// The tokens stay in guarded memory, except for what the refresh closure and its HTTP client do with them. The
/// record's own expiry is not set, so that the refresh token stays readable.
public final class RefreshingToken: Sendable {
  /// What a token server issues.
  public struct Tokens: Sendable {
    /// The access token.
    public var access: Secret<String>
    /// The refresh token. After a refresh, `nil` means that the previous one is still valid.
    public var refresh: Secret<String>?
    /// When the access token expires; `.distantFuture` if the server does not say.
    public var expires: Date

    /// Creates tokens that are in guarded memory already.
    public init(access: Secret<String>, refresh: Secret<String>? = nil, expires: Date) {
      (self.access, self.refresh, self.expires) = (access, refresh, expires)
    }

    /// Copies tokens into guarded memory. The strings cannot be wiped.
    ///
    /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory.
    public init(access: String, refresh: String? = nil, expires: Date) throws(VaultError) {
      self.init(access: try Secret(access), expires: expires)
      if let refresh { self.refresh = try Secret(refresh) }
    }
  }

  /// The settings of a token. The defaults suit an OAuth server.
  public struct Options: Sendable {
    /// How long before its expiry a token is refreshed. At most half of the token's lifetime is used, so that a token
    /// with a short lifetime is not refreshed at each call.
    public var margin = Duration.seconds(60)
    /// How long one refresh may take. Then the task of the closure is cancelled, and a different process may refresh.
    /// Must be longer than the HTTP client's own time limit.
    public var lease = Duration.seconds(30)
    /// How long all processes throw ``RefreshFailure/Code/rejected`` before one of them tries again.
    public var pauseAfterRejection = Duration.seconds(30)
    /// How long all processes throw a failure of any other kind before one of them tries again.
    public var pauseAfterFailure = Duration.seconds(1)
    /// The current time, for expiries and leases.
    public var now: @Sendable () -> Date = { Date() }
    /// The clock of all waits. The default is not affected if the system time is set.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// Creates options with the defaults.
    public init() {}
  }

  /// What is known of stored tokens without using them.
  public struct State: Sendable, Hashable {
    /// When the access token expires; `.distantFuture` if the server did not say.
    public let expires: Date
    /// Whether there is a refresh token. Without one, the user has to sign in again after the expiry.
    public let isRefreshable: Bool
  }

  private struct Unfinished {
    var refreshing: Task<Secret<String>, any Error>?
    /// New tokens that could not be stored, for example because the vault was locked meanwhile.
    var unsaved: NewTokens?
  }

  private let key: String
  private let preferences: SecretPreferences
  private let options: Options
  private let refresh: @Sendable (Secret<String>) async throws -> Tokens
  private let unfinished = Mutex(Unfinished())

  /// Creates the token that is stored under `key`. Reads nothing.
  ///
  /// - Parameter refresh: sends the refresh token to the server and returns the new tokens. It throws
  ///   `RefreshFailure(.rejected)` if the server refuses the refresh token for good. Called in a task of its own, which
  ///   is not cancelled together with its callers.
  public init(
    _ key: String, in preferences: SecretPreferences, options: Options = Options(),
    refresh: @escaping @Sendable (Secret<String>) async throws -> Tokens
  ) {
    (self.key, self.preferences, self.options, self.refresh) = (key, preferences, options, refresh)
  }

  // MARK: The tokens

  /// Returns a valid access token, which is refreshed first if necessary.
  ///
  /// Shortly before the expiry, one caller refreshes the token and the others get the present one; if that refresh
  /// fails, or the vault cannot be written, its caller gets the present one, too, unless the tokens were removed.
  /// Without a refresh token, all callers get the present one until it expires. After the expiry all callers wait for
  /// the same refresh. A cancelled caller throws at once, and the refresh continues, so that no new refresh token is
  /// lost.
  ///
  /// - Parameter refused: the access token that a server has refused (HTTP 401). It is refreshed whatever its expiry,
  ///   unless it has been already.
  /// - Throws: ``RefreshFailure``; ``VaultError/Code/locked`` and other errors of the vault; `CancellationError`. If
  ///   new tokens cannot be stored, this object keeps them, and stores them at the next call; until then its calls
  ///   return the kept access token.
  public func accessToken(replacing refused: Secret<String>? = nil) async throws -> Secret<String> {
    // Tried before the lease ends, because afterwards a different process spends the same refresh token. After a
    // failure the tokens stay here.
    let unsaved = unfinished.withLock { $0.refreshing == nil ? $0.unsaved : nil }
    if let unsaved { do { _ = try await save(unsaved) } catch {} }
    let record = try load()
    // The server may have revoked the tokens that were spent for unsaved ones.
    let tokens = if let unsaved, record.hasSameTokens(as: unsaved.spent) { unsaved.text } else { record.tokens }
    let access = try tokens.access()
    let isRefused = access == refused
    guard isRefused || isDue(tokens) else { return access }
    let isValid = !isRefused && now < tokens.expires
    // It cannot be refreshed, or another process refreshes it or has just failed to.
    if isValid, !tokens.isRefreshable || record.mark.map({ $0.rest(at: now) > .zero }) ?? false { return access }
    let (task, isFirst) = refreshing(tokens)
    if isValid, !isFirst { return access }
    do { return try await value(of: task) } catch {
      let isFinal = error is CancellationError || (error as? RefreshFailure)?.code == .signedOut
      guard isValid, !isFinal, now < tokens.expires else { throw error }
      return access
    }
  }

  /// Returns the state of the stored tokens, or `nil` if the user is signed out. Refreshes nothing.
  ///
  /// ```swift
  /// if let state = try token.state() { print("signed in until \(state.expires)") }
  /// ```
  /// - Throws: ``VaultError/Code/typeMismatch`` if the record holds no tokens; ``VaultError/Code/locked`` and other
  ///   errors of the vault.
  public func state() throws(VaultError) -> State? {
    try find().map {
      State(expires: Date(milliseconds: $0.tokens.expires), isRefreshable: $0.tokens.isRefreshable)
    }
  }

  /// Stores the tokens of a sign-in, replacing any present ones. Durable when it returns.
  ///
  /// The result of a refresh that is under way is not stored, and its callers get these tokens.
  /// - Throws: ``VaultError/Code/typeMismatch`` if a token is empty or contains a control character, and the errors of
  ///   ``Vault/update(service:in:_:)``.
  public func set(_ tokens: Tokens) async throws(VaultError) {
    let text = try TokenText(
      access: tokens.access, refresh: tokens.refresh, expires: tokens.expires.milliseconds, issued: now)
    while try await !store(text, over: try info()) {}
    unfinished.withLock { $0.unsaved = nil }
  }

  /// Removes the tokens. Durable when it returns.
  ///
  /// The result of a refresh that is under way is not stored, and its callers get ``RefreshFailure/Code/signedOut``.
  /// - Returns: the removed tokens, which can then be revoked at the server; `nil` if there were none.
  /// - Throws: the errors of ``Vault/update(service:in:_:)``.
  @discardableResult
  public func remove() async throws(VaultError) -> Tokens? {
    while let record = try find() {
      let isRemoved = try await update { (batch) throws(VaultError) in
        try batch.remove(key, ifRevision: record.info.revision)
      }
      guard isRemoved else { continue }
      unfinished.withLock { $0.unsaved = nil }
      return Tokens(
        access: try record.tokens.access(), refresh: try record.tokens.refresh(),
        expires: Date(milliseconds: record.tokens.expires))
    }
    return nil
  }

  // MARK: The record

  private struct TokenRecord: Sendable {
    let info: RecordInfo
    let tokens: TokenText
    var mark: RefreshMark? { RefreshMark(in: info) }

    func hasSameTokens(as other: TokenText) -> Bool { tokens.content.isEqual(to: other.content) }
  }

  private var now: Int64 { options.now().milliseconds }

  private func isDue(_ tokens: TokenText) -> Bool {
    let lifetime = Duration.milliseconds(tokens.expires) - .milliseconds(tokens.issued)
    let margin = min(options.margin, max(.zero, lifetime / 2))
    return .milliseconds(tokens.expires) - .milliseconds(now) <= margin
  }

  private func info() throws(VaultError) -> RecordInfo? {
    try preferences.vault.record(service: preferences.serviceName, key: key, in: preferences.group)
  }

  private func find() throws(VaultError) -> TokenRecord? {
    // The revision before the value: a write in between changes the revision.
    guard let info = try info() else { return nil }
    guard let content = try preferences.guardedContent(forKey: key) else { return nil }
    return TokenRecord(info: info, tokens: try TokenText(content))
  }

  private func load() throws -> TokenRecord {
    guard let record = try find() else { throw RefreshFailure(.signedOut) }
    return record
  }

  /// - Returns: `false` if the record has changed since its revision was read.
  private func update(_ fill: (inout Vault.Batch) throws(VaultError) -> Void) async throws(VaultError) -> Bool {
    do throws(VaultError) {
      try await preferences.vault.update(service: preferences.serviceName, in: preferences.group, fill)
      return true
    } catch {
      guard error.code == .conflict else { throw error }
      return false
    }
  }

  private func write(_ mark: RefreshMark, to record: TokenRecord) async throws(VaultError) -> Bool {
    let edit = try RefreshMark.edit(record.info, to: mark)
    return try await update { (batch) throws(VaultError) in
      try batch.edit(key, edit, ifRevision: record.info.revision)
    }
  }

  private func store(_ tokens: TokenText, over info: RecordInfo?) async throws(VaultError) -> Bool {
    let edit = try RefreshMark.edit(info, to: nil)
    return try await update { (batch) throws(VaultError) in
      try tokens.content.withBytes { (kind, body) throws(VaultError) in
        try batch.set(
          body, kind: kind, forKey: key, accessibility: preferences.accessibility, edit: edit,
          ifRevision: info?.revision ?? 0)
      }
    }
  }

  // MARK: Refreshing

  private struct NewTokens: Sendable {
    let text: TokenText
    /// The tokens whose refresh token was spent for them.
    let spent: TokenText
  }

  /// The refresh that all callers in this process share. It is a task of its own: cancelling its callers does not stop
  /// it.
  private func refreshing(_ old: TokenText) -> (task: Task<Secret<String>, any Error>, isFirst: Bool) {
    unfinished.withLock { unfinished in
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
    let elapsed = Self.stopwatch(options.clock)
    var awaited: (id: UInt64, end: Duration)?
    var interval = Duration.milliseconds(2)
    while true {
      let (record, now) = (try load(), now)
      if !record.hasSameTokens(as: old), now < record.tokens.expires { return try record.tokens.access() }
      old = record.tokens
      if let mark = record.mark {
        if let failure = mark.id == awaited?.id ? mark.failure : mark.failure(at: now) { throw failure }
        if mark.phase == .underWay {
          let passed = elapsed()
          // From here on, this lease is measured by a clock that cannot be set.
          if mark.id != awaited?.id { (awaited, interval) = ((mark.id, passed + mark.rest(at: now)), .milliseconds(2)) }
          if let end = awaited?.end, passed < end {
            guard passed < options.lease * 2 else { throw RefreshFailure(.timedOut) }
            try await options.clock.sleep(for: min(interval, end - passed))
            interval = min(interval * 2, .milliseconds(100))
            continue
          }
        }
      }
      guard let refreshToken = try record.tokens.refresh() else { throw RefreshFailure(.signedOut) }
      let lease = RefreshMark(leaseFor: options.lease, at: now)
      if try await write(lease, to: record) { return try await spend(refreshToken, of: record.tokens, lease) }
    }
  }

  private func spend(
    _ refreshToken: Secret<String>, of spent: TokenText, _ lease: RefreshMark
  ) async throws -> Secret<String> {
    // Tokens that arrive after the lease are stored, too, unless others have been stored meanwhile.
    let task = Task {
      let new: TokenText
      do {
        let tokens = try await refresh(refreshToken)
        new = try TokenText(
          access: tokens.access, refresh: tokens.refresh ?? refreshToken, expires: tokens.expires.milliseconds,
          issued: now)
      } catch let failure as RefreshFailure { throw failure } catch { throw RefreshFailure(.failed, cause: error) }
      return try await save(NewTokens(text: new, spent: spent))
    }
    do { return try await value(of: task, within: options.lease) } catch let failure as RefreshFailure {
      task.cancel()
      return try await fail(failure, spent, lease)
    }
  }

  /// Stores new tokens, unless the record no longer has the tokens that were spent for them.
  /// - Returns: the access token that is stored afterwards.
  private func save(_ new: NewTokens) async throws -> Secret<String> {
    unfinished.withLock { $0.unsaved = new }
    while true {
      guard let record = try find() else {
        forget(new)
        throw RefreshFailure(.signedOut)
      }
      let isLatest = record.hasSameTokens(as: new.spent)
      if isLatest, try await !store(new.text, over: record.info) { continue }
      forget(new)
      return try isLatest ? new.text.access() : record.tokens.access()
    }
  }

  private func forget(_ new: NewTokens) {
    unfinished.withLock { if $0.unsaved?.text.content === new.text.content { $0.unsaved = nil } }
  }

  /// Replaces the lease by the failure, for the processes that wait.
  /// - Returns: the access token, if a different process has refreshed it meanwhile.
  private func fail(
    _ failure: RefreshFailure, _ spent: TokenText, _ lease: RefreshMark
  ) async throws -> Secret<String> {
    let pause = failure.code == .rejected ? options.pauseAfterRejection : options.pauseAfterFailure
    while true {
      let record = try load()
      // The lease was lost: another process refreshes, or has refreshed.
      guard record.hasSameTokens(as: spent), record.mark?.id == lease.id else { return try await renew(spent) }
      if try await write(lease.failed(failure.code, pause: pause, at: now), to: record) { throw failure }
    }
  }

  // MARK: Waiting

  /// Waits for `task`, which continues if the caller is cancelled or the limit is reached.
  private func value<R: Sendable>(of task: Task<R, any Error>, within limit: Duration? = nil) async throws -> R {
    let (values, continuation) = AsyncThrowingStream<R, any Error>.makeStream()
    Task {
      do {
        continuation.yield(try await task.value)
        continuation.finish()
      } catch { continuation.finish(throwing: error) }
    }
    let timer = limit.map { limit in
      Task {
        try await options.clock.sleep(for: limit)
        continuation.finish(throwing: RefreshFailure(.timedOut))
      }
    }
    defer { timer?.cancel() }
    for try await value in values { return value }
    throw CancellationError()
  }

  private static func stopwatch(_ clock: some Clock<Duration>) -> () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
  }
}

extension RefreshingToken: CustomStringConvertible, CustomReflectable {
  /// The store of the token. No key and no value.
  public var description: String { "refreshing token in \(preferences.name)" }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
