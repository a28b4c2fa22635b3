public import Secrets
import Synchronization

/// The tokens of all users: one record for each user, which any number of servers and workers share.
public final class UserTokens: Sendable {
  private let records: SecretPreferences
  private let oauth: OAuthClient
  private let options: RefreshingToken.Options
  // All tasks of a process share one object for each record, so that its refresh is one task, too. The objects are small
  // and contain no token.
  private let tokens = Mutex<[String: RefreshingToken]>([:])

  public init(
    in records: SecretPreferences, refreshedBy oauth: OAuthClient, options: RefreshingToken.Options = .init()
  ) {
    (self.records, self.oauth, self.options) = (records, oauth, options)
  }

  /// Returns the token of a user, who may be signed out.
  public func token(of user: String) -> RefreshingToken {
    tokens.withLock { tokens in
      if let token = tokens[user] { return token }
      let token = RefreshingToken(user, in: records, options: options) { [oauth] in try await oauth.refresh($0) }
      tokens[user] = token
      return token
    }
  }

  /// Returns the users who are signed in. Opens no token.
  public func users() throws(VaultError) -> [String] { try records.keys() }
}
