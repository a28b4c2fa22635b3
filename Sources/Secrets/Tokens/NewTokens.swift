internal import FoundationEssentials
internal import VaultCore

/// What a server has issued, exactly as it arrived, until it is stored.
///
/// It is kept before anything judges it: the server has already replaced the refresh token that was spent for it.
struct NewTokens: Sendable {
  let access: Secret<String>
  /// The new refresh token, or the spent one if the server has sent none.
  let refresh: Secret<String>
  let expires: Int64
  let issued: Int64
  /// The tokens whose refresh token was spent for these.
  let spent: TokenText
  /// The lease under which it was spent.
  let lease: RefreshMark

  init(
    _ tokens: RefreshingToken.Tokens, at issued: Int64, for refreshToken: Secret<String>, of spent: TokenText,
    _ lease: RefreshMark
  ) {
    access = tokens.access
    refresh = tokens.refresh?.nonEmpty ?? refreshToken
    expires = tokens.expires.milliseconds
    self.issued = issued
    self.spent = spent
    self.lease = lease
  }

  /// The record's text; without the access token if the record is too small for it.
  func text(withAccess hasAccess: Bool) throws(VaultError) -> TokenText {
    try TokenText(access: hasAccess ? access : Secret(""), refresh: refresh, expires: expires, issued: issued)
  }

  /// As the closure returned them, with the refresh token that is valid now.
  var tokens: RefreshingToken.Tokens { .init(access: access, refresh: refresh, expires: Date(milliseconds: expires)) }
}

extension Secret where Value == String {
  /// `nil` for an empty text, which servers send for a token that does not change.
  var nonEmpty: Self? { withBytes { $0.isEmpty } ? nil : self }

  /// Whether it can be an access token: a header has no place for control characters.
  var isAccessToken: Bool {
    withBytes { $0.withUnsafeBytes { text in !text.isEmpty && text.allSatisfy { $0 >= 0x20 && $0 != 0x7F } } }
  }
}
