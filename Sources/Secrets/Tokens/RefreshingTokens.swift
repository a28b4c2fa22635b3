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
  private struct Objects {
    /// Asked for since the others became old.
    var recent: [String: RefreshingToken] = [:]
    var old: [String: RefreshingToken] = [:]
  }

  private let make: @Sendable (String) -> RefreshingToken
  private let limit: Int
  private let objects = Mutex(Objects())

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
    self.limit = max(1, limit)
    make = { key in RefreshingToken(key, in: store, options: options) { try await refresh($0, key) } }
  }

  /// The token of one user, who may be signed out. Reads nothing.
  public subscript(key: String) -> RefreshingToken {
    objects.withLock { objects in
      if let token = objects.recent[key] { return token }
      let token = objects.old[key] ?? make(key)
      if objects.recent.count >= limit {
        // What a server has sent must not be lost, and a request that is under way not be repeated.
        let busy = objects.old.filter { $0.value.isBusy }
        objects.old = objects.recent.merging(busy) { recent, _ in recent }
        objects.recent = [:]
      }
      objects.recent[key] = token
      return token
    }
  }

  /// New tokens that could not be stored, by their keys: see ``RefreshingToken/unsavedTokens``. Look here before the
  /// program ends.
  public var unsavedTokens: [String: RefreshingToken.Tokens] {
    let all = objects.withLock { $0.old.merging($0.recent) { _, recent in recent } }
    return all.compactMapValues(\.unsavedTokens)
  }
}

extension RefreshingTokens: CustomStringConvertible, CustomReflectable {
  /// No key and no value.
  public var description: String { "refreshing tokens" }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
