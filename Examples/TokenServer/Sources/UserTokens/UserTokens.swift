public import Secrets

/// The tokens of all users: one record for each user, which any number of servers and workers share.
public struct UserTokens: Sendable {
  private let records: SecretPreferences
  private let tokens: RefreshingTokens

  public init(
    in records: SecretPreferences, refreshedBy oauth: OAuthClient, options: RefreshingToken.Options = .init()
  ) {
    self.records = records
    tokens = RefreshingTokens(in: records, options: options) { token, _ in try await oauth.refresh(token) }
  }

  /// Returns the token of a user, who may be signed out.
  public func token(of user: String) -> RefreshingToken { tokens[user] }

  /// Returns the users who are signed in. Opens no token.
  public func users() throws(VaultError) -> [String] { try records.keys() }
}
