import AsyncHTTPClient
import Crypto
import Foundation
import Hummingbird
import Logging
import Secrets
import ServiceLifecycle
import UserTokens

/// Keeps the OAuth tokens of users, and gives each user's programs a valid access token.
@main struct TokenServer {
  static func main() async throws {
    let (users, signing) = (try await GroupVault("users"), try await GroupVault("signing"))
    let settings = try CompositePreferences.settings(sealedIn: users.secrets("token-server"))
    let oauth = try OAuthClient(settings, over: .shared)
    let loops = try settings.value(for: .reportsLoops) ? LoopDelay() : nil
    let (keys, signingKey) = try values(settings, users, signing)
    let logger = Logger(label: "token-server")
    let routes = Routes(
      oauth: oauth,
      tokens: UserTokens(in: try users.secrets("token-server.users"), refreshedBy: oauth),
      sessions: Sessions(lifetime: try settings.value(for: .sessionSeconds), key: signingKey),
      keys: keys, vaults: [users, signing], loops: loops,
      isPublicURLSecure: try settings.value(for: .publicURL).hasPrefix("https:"))
    var server = Application(
      router: routes.router(),
      configuration: .init(
        address: .hostname(try settings.value(for: .host), port: try settings.value(for: .port)),
        serverName: "token-server"),
      services: [try users.service(logger: logger), try signing.service(logger: logger)])
    if let loops { server.addServices(loops) }
    try await server.runService()
  }

  /// The store of what users keep here, and the source of the signing key. `memory` is a plain dictionary in their
  /// place, to measure what the vault costs.
  private static func values(
    _ settings: CompositePreferences, _ users: GroupVault, _ signing: GroupVault
  ) throws -> (keys: any PreferencesStore, signingKey: Sessions.KeySource) {
    guard try settings.value(for: .store) == "memory" else {
      let secrets = try signing.secrets("token-server")
      return (try users.secrets("token-server.keys"), { try secrets.signingKey() })
    }
    let key = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
    let values = DictionaryPreferences(["session.signing-key": .data(key)])
    return (values, { SymmetricKey(data: try values.required(forKey: "session.signing-key", as: Data.self)) })
  }
}

extension SecretPreferences {
  /// Opens the signing key for one use: it is in memory for microseconds, and a new one is used at once.
  fileprivate func signingKey() throws -> SymmetricKey {
    let key = try withBytes(forKey: "session.signing-key") { bytes in
      bytes.withUnsafeBytes { SymmetricKey(data: $0) }
    }
    guard let key else { throw VaultError(.notFound, "the vault has no signing key") }
    return key
  }
}
