public import Secrets

extension CompositePreferences {
  /// The settings of the server and of the worker. The first layer that has a key provides its value:
  ///
  /// 1. the vault, which claims the client secret, so that no other layer can provide it
  /// 2. launch arguments: `--server.port 8081`
  /// 3. environment variables: `TOKENS_SERVER_PORT`
  /// 4. a JSON file, if `--settings` or `TOKENS_SETTINGS` names one
  /// 5. the defaults of the keys below
  public static func settings(sealedIn vault: SecretPreferences) throws -> CompositePreferences {
    var layers: [any PreferencesReader] = [LaunchArgumentPreferences(), EnvironmentPreferences(prefix: "TOKENS")]
    if let file = try CompositePreferences(layers).value(for: .settingsFile) {
      layers.append(try JSONPreferences(at: file).readOnly)
    }
    return CompositePreferences([vault.claiming(.names(["oauth.client-secret"]))] + layers)
  }
}

extension PreferenceKey<String> {
  /// The address to listen on.
  public static let host = Self("server.host", default: "127.0.0.1")
  /// The address that browsers use, without a slash at the end.
  public static let publicURL = Self("server.public-url", default: "http://127.0.0.1:8080")
  /// The OAuth server, without a slash at the end.
  public static let oauthURL = Self("oauth.url", default: "http://127.0.0.1:9090")
  /// The name by which the OAuth server knows this program.
  public static let clientID = Self("oauth.client-id", default: "token-server")
  /// Where the values of users are kept: `vault`, or `memory` for comparison under load.
  public static let store = Self("store", default: "vault")
}

extension PreferenceKey<String?> {
  public static let settingsFile = Self("settings")
}

extension PreferenceKey<Int> {
  public static let port = Self("server.port", default: 8080)
  /// How long a session lasts.
  public static let sessionSeconds = Self("session.seconds", default: 28_800)
  /// How often the worker looks for tokens that expire soon.
  public static let workerSeconds = Self("worker.seconds", default: 15)
}

extension PreferenceKey<Bool> {
  /// Whether `/debug/loops` reports how late the event loops are.
  public static let reportsLoops = Self("debug.loops", default: false)
}

extension PreferenceKey<Secret<String>?> {
  /// The secret by which the OAuth server recognises this program.
  public static let clientSecret = Self("oauth.client-secret")
}
