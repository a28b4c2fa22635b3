import AsyncHTTPClient
import Logging
import Secrets
import ServiceLifecycle
import UserTokens

/// Refreshes the tokens that expire soon, so that requests seldom wait for the OAuth server. Its key opens the tokens of
/// users and not the signing key, so it cannot make sessions.
@main struct TokenWorker {
  static func main() async throws {
    let users = try await GroupVault("users")
    let settings = try CompositePreferences.settings(sealedIn: users.secrets("token-server"))
    var options = RefreshingToken.Options()
    options.margin = .seconds(120)  // before the server would: its margin is a minute
    let tokens = UserTokens(
      in: try users.secrets("token-server.users"), refreshedBy: try OAuthClient(settings, over: .shared),
      options: options)
    let logger = Logger(label: "worker")
    let refreshing = Refreshing(
      tokens: tokens, interval: .seconds(try settings.value(for: .workerSeconds)), logger: logger)
    let group = ServiceGroup(
      services: [try users.service(logger: logger), refreshing],
      gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    try await group.run()
  }
}

private struct Refreshing: Service {
  let tokens: UserTokens
  let interval: Duration
  let logger: Logger

  func run() async throws {
    while !Task.isShuttingDownGracefully {
      // One after the other, to spare the OAuth server. The next round tries again.
      do {
        for user in try tokens.users() where !Task.isShuttingDownGracefully { await refresh(user) }
      } catch { logger.error("\(error)") }
      // Cancelled at the end of the program, which also ends the loop.
      await cancelWhenGracefulShutdown { try? await Task.sleep(for: interval) }
    }
  }

  /// A failure is logged without the user: names of records stay out of the log.
  private func refresh(_ user: String) async {
    do { _ = try await tokens.token(of: user).accessToken() } catch { logger.warning("\(error)") }
  }
}
