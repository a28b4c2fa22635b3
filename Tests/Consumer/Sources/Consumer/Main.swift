import Configuration
import Foundation
import FoundationNetworking
import Hummingbird
import Logging
import NIOCore
import OrdinaryAlone
import OrdinaryBeside
import OrdinaryWithin
import Preferences
import PreferencesFoundation
import Secrets
import SecretsTesting
import ServiceLifecycle
import VaultCore
import VaultSealing

/// A server with a token from a vault, beside the packages that servers use.
@main struct Consumer {
  static func main() async throws {
    try ordinaryLinesMeanTheSame()
    try await serve()
    print("consumer: ok")
  }

  private static func serve() async throws {
    let throwaway = try ThrowawayVault()
    // The file is removed with the last reference.
    defer { withExtendedLifetime(throwaway) {} }
    let tokens = try throwaway.preferences(service: "com.example.shop")
    try await tokens.set(Secret("ghp_example"), for: .githubToken)
    let preferences = CompositePreferences([tokens.unclaimed, DictionaryPreferences(["server.port": 0])])
    let settings = ConfigReader(provider: InMemoryProvider(values: ["server.name": "shop"]))

    let router = Router()
    router.get("token") { _, _ in
      guard let token = try preferences.value(for: .githubToken) else { throw HTTPError(.serviceUnavailable) }
      return try token.withValue { "a token of \($0.count) characters" }
    }
    let (ports, announced) = AsyncStream.makeStream(of: Int.self)
    let server = Application(
      router: router,
      configuration: .init(
        address: .hostname("127.0.0.1", port: try preferences.value(for: .port)),
        serverName: settings.string(forKey: "server.name")),
      onServerRunning: { announced.yield($0.localAddress?.port ?? 0) },
      logger: Logger(label: "consumer") { _ in SwiftLogNoOpLogHandler() })
    let group = ServiceGroup(configuration: .init(services: [.init(service: server)], logger: server.logger))

    async let running: Void = group.run()
    guard let port = await ports.first(where: { _ in true }),
      let url = URL(string: "http://127.0.0.1:\(port)/token")
    else { throw Failure("the server does not run") }
    let (body, _) = try await URLSession(configuration: .ephemeral).data(from: url)
    await group.triggerGracefulShutdown()
    try await running
    guard String(decoding: body, as: UTF8.self) == "a token of 11 characters" else {
      throw Failure("the server has another token")
    }
  }

  private static func ordinaryLinesMeanTheSame() throws {
    let alone = OrdinaryAlone.ordinaryLines()
    for lines in [OrdinaryBeside.ordinaryLines(), OrdinaryWithin.ordinaryLines()] {
      guard alone.count > 200, alone.count == lines.count else { throw Failure("ordinary lines are missing") }
      for (line, other) in zip(alone, lines) where line != other {
        throw Failure("an ordinary line means something else: \(line) became \(other)")
      }
    }
  }
}

private struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

extension PreferenceKey<Int> {
  static var port: Self { .init("server.port", default: 80) }
}

extension PreferenceKey<Secret<String>?> {
  static var githubToken: Self { .init("github") }
}
