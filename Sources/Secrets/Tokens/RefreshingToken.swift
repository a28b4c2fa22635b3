public import FoundationEssentials
public import Preferences
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
/// Other processes wait for the new tokens. If the process that refreshes ends, each of the others waits for one lease
/// from when it first saw the lease, and one of them takes its place and sends the same refresh token again: if the
/// server had already replaced it, the new tokens are lost (`Docs/Decisions/0036`, `0055`). Keep one object for each
/// record, which all tasks share.
///
/// The record is JSON: `access`, `expires`, `issued` and `refresh`, with times in milliseconds since 1970-01-01 UTC.
/// The tokens stay in guarded memory, except for what the refresh closure and its HTTP client do with them. The
/// record's own expiry is not set, so that the refresh token stays readable.
public final class RefreshingToken: Sendable {
  /// What a token server issues.
  public struct Tokens: Sendable {
    /// The access token.
    public var access: Secret<String>
    /// The refresh token. After a refresh, `nil` or an empty text means that the previous one is still valid.
    public var refresh: Secret<String>?
    /// When the access token expires; `.distantFuture` if the server does not say.
    public var expires: Date

    /// Creates tokens that are in guarded memory already.
    public init(access: Secret<String>, refresh: Secret<String>? = nil, expires: Date) {
      self.access = access
      self.refresh = refresh
      self.expires = expires
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
    /// Must be longer than the HTTP client's own time limit. Writing the lease is part of it: the closure is called
    /// with nine tenths left, or with less, down to a half, if the vault's lock or the disk is slow each time.
    public var lease = Duration.seconds(30)
    /// How long all processes throw ``RefreshFailure/Code/rejected`` before one of them tries again.
    public var pauseAfterRejection = Duration.seconds(30)
    /// How long all processes throw a failure of any other kind before one of them tries again. Also the shortest time
    /// between two refreshes if the server's tokens have expired when they arrive.
    public var pauseAfterFailure = Duration.seconds(1)
    /// The current time, for expiries and pauses.
    public var now: @Sendable () -> Date = { Date() }
    /// The clock of all waits and leases. The default is not affected if the system time is set.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// Creates options with the defaults.
    public init() {}
  }

  /// What is known of stored tokens without using them.
  public struct State: Sendable, Hashable {
    /// When the access token expires; `.distantFuture` if the server did not say.
    public let expires: Date
    /// Whether there is a refresh token that the server has not refused. Without one, the user has to sign in again
    /// after the expiry.
    public let isRefreshable: Bool
    /// Why the last refresh failed. `nil` if none has failed since the tokens were stored, or one is under way.
    public let failure: RefreshFailure.Code?
  }

  struct Unfinished {
    var refreshing: Task<Secret<String>, any Error>?
    /// New tokens that are not stored yet, or could not be: the vault was locked in the meantime, the disk is full.
    var unsaved: NewTokens?
    /// The calls of ``RefreshingToken/remove()`` that have not returned.
    var removals: [Removal] = []
  }

  struct Removal {
    let tokens: TokenText
    /// The tokens for which the removed ones were spent, and which found no record any more.
    var received: NewTokens?
  }

  let records: any TokenStore
  let options: Options
  let refresh: @Sendable (Secret<String>) async throws -> Tokens
  let leases: LeaseWatch
  /// Called when a refresh begins, for the owner of the object, which keeps it while it has what no other one has.
  let onRefresh: (@Sendable (RefreshingToken) -> Void)?
  let unfinished = Mutex(Unfinished())

  /// Creates the token that is stored under `key`. Reads nothing.
  ///
  /// - Parameters:
  ///   - store: a vault, or any other store of secrets whose conditions are compare-and-set, such as a table of
  ///     your own database: see ``RefreshingTokens``.
  ///   - refresh: sends the refresh token to the server and returns the new tokens. It throws
  ///     `RefreshFailure(.rejected)` if the server refuses the refresh token for good. Called in a task of its own,
  ///     which is not cancelled together with its callers. It returns what the server has sent, without a check of its
  ///     own: the refresh token is stored even if the access token cannot be used, and an error would lose both. If it
  ///     calls ``accessToken(replacing:)`` of the same record after the expiry, the call throws
  ///     ``RefreshFailure/Code/recursive``.
  public convenience init(
    _ key: String, in store: some PreferencesStore, options: Options = Options(),
    refresh: @escaping @Sendable (Secret<String>) async throws -> Tokens
  ) {
    self.init(key, in: store, options: options, refresh: refresh, onRefresh: nil)
  }

  init(
    _ key: String, in store: some PreferencesStore, options: Options,
    refresh: @escaping @Sendable (Secret<String>) async throws -> Tokens,
    onRefresh: (@Sendable (RefreshingToken) -> Void)?
  ) {
    if let preferences = store as? SecretPreferences {
      records = VaultTokens(key: key, preferences: preferences)
    } else {
      records = StoreTokens(key: key, store: store)
    }
    self.options = options
    self.refresh = refresh
    leases = LeaseWatch(options.clock)
    self.onRefresh = onRefresh
  }

  var now: Int64 { options.now().milliseconds }

  func load() async throws -> TokenRecord {
    guard let record = try await records.reading({ try $0.find() }) else { throw RefreshFailure(.signedOut) }
    return record
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
  /// If the server issues an access token that has expired already, or nearly, all calls return it for
  /// ``Options/pauseAfterFailure``: the clocks of the two may differ, and each call would send one more request.
  ///
  /// - Parameter refused: the access token that a server has refused (HTTP 401). It is refreshed whatever its expiry,
  ///   unless it has been already.
  /// - Throws: ``RefreshFailure``; ``VaultError/Code/locked`` and other errors of the vault;
  ///   ``VaultError/Code/typeMismatch`` if the record holds no tokens; `CancellationError`. If new tokens cannot be
  ///   stored, this object keeps them (``unsavedTokens``), and stores them at the next call; until then its calls
  ///   return the kept access token.
  public func accessToken(replacing refused: Secret<String>? = nil) async throws -> Secret<String> {
    // Tried before the lease ends, because afterwards a different process spends the same refresh token. After a
    // failure the tokens stay here.
    let unsaved = unfinished.withLock { $0.refreshing == nil ? $0.unsaved : nil }
    if let unsaved { do { try await save(unsaved) } catch {} }
    let record = try await load()
    // The server may have revoked the tokens that were spent for unsaved ones.
    let kept = unsaved.flatMap { record.hasSameTokens(as: $0.spent) ? $0 : nil }
    let access = if let kept { kept.access } else { try record.tokens.access() }
    let expires = kept?.expires ?? record.tokens.expires
    let isRefreshable = kept != nil || record.tokens.isRefreshable
    let isUsable = access.isAccessToken
    guard isUsable || isRefreshable else {
      throw VaultError(.typeMismatch, "the access token is empty or contains a control character")
    }
    let isRefused = !isUsable || access == refused
    guard isRefused || isDue(expires: expires, issued: kept?.issued ?? record.tokens.issued, at: now) else {
      return access
    }
    let isValid = !isRefused && now < expires
    let mark = record.mark
    // It cannot be refreshed, or another process refreshes it or has just failed to.
    if isValid, !isRefreshable || mark.map({ isRunning($0, for: kept) || $0.isPause(at: now) }) ?? false {
      return access
    }
    if let mark, mark.phase == .succeeded, mark.isPause(at: now) {
      guard isRefused else { return access }
      throw RefreshFailure(.failed)
    }
    if Self.spending.contains(records.place) {
      guard isValid else { throw RefreshFailure(.recursive) }
      return access
    }
    let (task, isFirst) = refreshing(try kept?.text(withAccess: true) ?? record.tokens)
    if isValid, !isFirst { return access }
    do { return try await value(of: task) } catch {
      let isFinal = error is CancellationError || (error as? RefreshFailure)?.code == .signedOut
      guard isValid, !isFinal, now < expires else { throw error }
      return access
    }
  }

  /// Whether a request may be under way under the lease `mark`. The one that was answered with `kept` is not.
  private func isRunning(_ mark: RefreshMark, for kept: NewTokens?) -> Bool {
    mark.phase == .underWay && mark.id != kept?.lease.id && leases.isRunning(mark)
  }

  func isDue(expires: Int64, issued: Int64, at now: Int64) -> Bool {
    let lifetime = Duration.milliseconds(expires) - .milliseconds(issued)
    let margin = min(options.margin, max(.zero, lifetime / 2))
    return .milliseconds(expires) - .milliseconds(now) <= margin
  }

  /// New tokens that the server has issued and that could not be stored; `nil` if there are none.
  ///
  /// They are in the memory of this process only, and the refresh token in the vault is spent. Each call of
  /// ``accessToken(replacing:)`` tries again to store them. Before a program ends, it can store them at a different
  /// place, or revoke them. While a refresh is under way, these may be tokens that are about to be stored.
  public var unsavedTokens: Tokens? { unfinished.withLock { $0.unsaved }?.tokens }

  /// Whether this object has what no other one has.
  var isBusy: Bool { unfinished.withLock { $0.refreshing != nil || $0.unsaved != nil } }

  /// Returns the state of the stored tokens, or `nil` if the user is signed out. Refreshes nothing.
  ///
  /// A read on the calling thread, which waits if reads of the vault are logged. In `async` code, make it there as any
  /// other read: `try await store.reading { _ in try token.state() }`.
  ///
  /// ```swift
  /// if let state = try token.state() { print("signed in until \(state.expires)") }
  /// ```
  /// - Throws: ``VaultError/Code/typeMismatch`` if the record holds no tokens; ``VaultError/Code/locked`` and other
  ///   errors of the vault.
  public func state() throws -> State? {
    try records.find().map {
      let failure = $0.mark?.failure?.code
      return State(
        expires: Date(milliseconds: $0.tokens.expires),
        isRefreshable: $0.tokens.isRefreshable && failure != .rejected, failure: failure)
    }
  }

  /// Stores the tokens of a sign-in, replacing any present ones. Durable when it returns.
  ///
  /// The result of a refresh that is under way is not stored, and its callers get these tokens. An empty refresh token
  /// is none.
  /// - Throws: ``VaultError/Code/typeMismatch`` if the access token is empty or a token contains a control character,
  ///   and the errors of ``Vault/transaction(service:in:_:)``. Then the previous tokens are stored as before.
  public func set(_ tokens: Tokens) async throws {
    let refresh = tokens.refresh?.nonEmpty
    guard tokens.access.isAccessToken, refresh?.isAccessToken ?? true else {
      throw VaultError(.typeMismatch, "a token is empty or contains a control character")
    }
    let text = try TokenText(
      access: tokens.access, refresh: refresh, expires: tokens.expires.milliseconds, issued: now)
    let unsaved = unfinished.withLock(\.unsaved)
    while try await !records.store(text, nil, over: try await records.reading { try $0.version() }) {}
    // Not those that another caller has got for the new tokens meanwhile.
    if let unsaved { drop(unsaved) }
  }

  /// Removes the tokens. Durable when it returns.
  ///
  /// The result of a refresh that is under way is not stored, and its callers get ``RefreshFailure/Code/signedOut``. If
  /// this object refreshes, the call waits for it after the removal, because the server may have replaced the removed
  /// tokens: for ``Options/lease`` at most, or until the caller is cancelled. A call by the refresh closure does not
  /// wait.
  /// - Returns: the tokens to revoke at the server: the removed ones, or those that this object has received for them.
  ///   `nil` if there were none. Those that another process or a longer refresh receives are lost.
  /// - Throws: ``VaultError/Code/typeMismatch`` if the record holds no tokens; the errors of
  ///   ``Vault/transaction(service:in:_:)``. Then the tokens are not removed.
  @discardableResult
  public func remove() async throws -> Tokens? {
    while let record = try await records.reading({ try $0.find() }) {
      // Before they are removed, so that no error can lose them.
      let stored = Tokens(
        access: try record.tokens.access(), refresh: try record.tokens.refresh(),
        expires: Date(milliseconds: record.tokens.expires))
      unfinished.withLock { $0.removals.append(Removal(tokens: record.tokens)) }
      defer { endRemoving(record) }
      guard try await records.remove(record) else { continue }
      return await successor(of: record) ?? stored
    }
    return nil
  }

  private func endRemoving(_ record: TokenRecord) {
    unfinished.withLock { unfinished in
      // Another call may remove the same, and has received the same.
      guard let index = unfinished.removals.firstIndex(where: { record.hasSameTokens(as: $0.tokens) }) else { return }
      unfinished.removals.remove(at: index)
    }
  }

  /// Returns the tokens for which removed ones were spent, also by the refresh that is under way.
  private func successor(of record: TokenRecord) async -> Tokens? {
    if let task = unfinished.withLock({ $0.refreshing }), !Self.spending.contains(records.place) {
      do { _ = try await value(of: task, until: leases.elapsed() + options.lease) } catch {}
    }
    return unfinished.withLock { unfinished in
      if let unsaved = unfinished.unsaved, record.hasSameTokens(as: unsaved.spent) {
        unfinished.unsaved = nil
        return unsaved.tokens
      }
      return unfinished.removals.first { record.hasSameTokens(as: $0.tokens) }?.received?.tokens
    }
  }
}

extension RefreshingToken: CustomStringConvertible, CustomReflectable {
  /// The store of the token. No key and no value.
  public var description: String { "refreshing token in \(records.name)" }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
