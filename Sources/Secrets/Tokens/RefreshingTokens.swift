public import Preferences
internal import Synchronization

/// The refreshing tokens of all users of a service: one record of a store for each user.
///
/// ```swift
/// let tokens = RefreshingTokens(in: keychain) { refreshToken, user in
///   try await oauth.refresh(refreshToken)                       // throws RefreshFailure(.rejected) for invalid_grant
/// }
/// request.setBearer(try await tokens[user].accessToken())
/// ```
///
/// All tasks of a process that ask for a user's token share one object, so that its refresh is one request, too. The
/// objects of users who are not asked for are released, whatever the number of users; the tokens are in the store.
///
/// The store is a vault, or any store that holds secrets (`Custody.sealed`) and makes an edit with
/// `PreferenceEdits.Condition.ifStored` only if it holds, also between processes: a table of your own
/// database, or a store in a test. There, the record is a text that holds the lease, too. Your store sees the tokens in
/// ordinary memory if it does not accept guarded values.
public final class RefreshingTokens: Sendable {
  private let make: @Sendable (String) -> RefreshingToken
  private let objects: Objects

  /// Creates the tokens of a store. Reads nothing.
  ///
  /// - Parameters:
  ///   - store: the records; their keys are those of the subscript.
  ///   - limit: the number of objects that are kept; they are small and have no token. At most twice as many are there,
  ///     besides those with a refresh under way or with ``RefreshingToken/unsavedTokens``.
  ///   - refresh: as for ``RefreshingToken``; its second parameter is the key.
  public init(
    in store: some PreferencesStore, options: RefreshingToken.Options = .init(), keeping limit: Int = 10_000,
    refresh: @escaping @Sendable (Secret<String>, String) async throws -> RefreshingToken.Tokens
  ) {
    let objects = Objects(limit: max(1, limit))
    self.objects = objects
    make = { key in
      RefreshingToken(
        key, in: store, options: options, refresh: { try await refresh($0, key) },
        onRefresh: { [weak objects] in objects?.keep($0, key) })
    }
  }

  /// The token of one user, who may be signed out. Reads nothing.
  public subscript(key: String) -> RefreshingToken { objects.token(key, or: make) }

  /// New tokens that could not be stored, by their keys: see ``RefreshingToken/unsavedTokens``. Look here before the
  /// program ends.
  public var unsavedTokens: [String: RefreshingToken.Tokens] { objects.all.compactMapValues(\.unsavedTokens) }
}

extension RefreshingTokens {
  /// The objects by their keys. They are kept if they are new, asked for, or have begun a refresh, until `limit` others
  /// were twice, and longer if they are busy. Those that are no longer kept are found as long as others have them:
  /// a second object of a record could spend its refresh token again.
  private final class Objects: Sendable {
    private struct Released { weak var token: RefreshingToken? }

    private struct Generations {
      var recent: [String: RefreshingToken] = [:]
      var old: [String: RefreshingToken] = [:]
      var released: [String: Released] = [:]

      mutating func keep(_ token: RefreshingToken, _ key: String, limit: Int) {
        if recent[key] == nil, recent.count >= limit {
          // What a server has sent must not be lost, and a request that is under way not be repeated.
          let busy = old.filter { $0.value.isBusy }
          released = released.filter { $0.value.token != nil }
          for (key, token) in old where busy[key] == nil { released[key] = Released(token: token) }
          old = recent.merging(busy) { recent, _ in recent }
          recent = [:]
        }
        recent[key] = token
      }
    }

    private let limit: Int
    private let generations = Mutex(Generations())

    init(limit: Int) { self.limit = limit }

    func token(_ key: String, or make: (String) -> RefreshingToken) -> RefreshingToken {
      generations.withLock {
        let token = $0.recent[key] ?? $0.old[key] ?? $0.released[key]?.token ?? make(key)
        $0.keep(token, key, limit: limit)
        return token
      }
    }

    func keep(_ token: RefreshingToken, _ key: String) { generations.withLock { $0.keep(token, key, limit: limit) } }

    /// All that are kept.
    var all: [String: RefreshingToken] { generations.withLock { $0.old.merging($0.recent) { _, recent in recent } } }
  }
}

extension RefreshingTokens: CustomStringConvertible, CustomReflectable {
  /// No key and no value.
  public var description: String { "refreshing tokens" }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
