import Foundation
import Secrets
import Testing

/// Real processes and real requests: an OAuth server, one or two token servers, and the worker.
struct TokenServerTests {
  // MARK: Signing in

  @Test func `a sign-in begun at one server ends at the other with a token of the OAuth server`() async throws {
    try await Servers.run { servers in
      let (first, second) = (try await servers.server(), try await servers.server())

      let session = try await servers.signIn("ada", at: first, callbackAt: second)

      let token = try await servers.token(session, from: first)
      let who = try await servers.oauth.get("/userinfo", session: token)
      #expect(try who.json == ["sub": "ada"])
    }
  }

  @Test func `a stolen callback address is of no use without the cookie of its sign-in`() async throws {
    try await Servers.run { servers in
      let server = try await servers.server()
      let (callback, _) = try await servers.beginSignIn("ada", at: server)
      let (_, otherCookie) = try await servers.beginSignIn("mallory", at: server)

      #expect(try await server.get(callback).status == 400)
      #expect(try await server.get(callback, ["cookie": otherCookie]).status == 400)
    }
  }

  @Test func `a session that the server has not signed is refused`() async throws {
    try await Servers.run { servers in
      let server = try await servers.server()
      let session = try await servers.signIn("ada", at: server)
      let parts = session.split(separator: ".").map(String.init)
      let eve = Data("eve".utf8).base64EncodedString()

      for changed in ["", "ada", "\(eve).\(parts[1]).\(parts[2])", "\(parts[0]).9\(parts[1]).\(parts[2])"] {
        #expect(try await server.get("/me/token", session: changed).status == 401)
      }
      #expect(try await server.get("/me/token").status == 401)
    }
  }

  @Test func `a session ends`() async throws {
    try await Servers.run { servers in
      let server = try await servers.server(environment: ["TOKENS_SESSION_SECONDS": "0"])
      let session = try await servers.signIn("ada", at: server)

      #expect(try await server.get("/me/token", session: session).status == 401)
    }
  }

  // MARK: Refreshing

  @Test func `an expired token is refreshed once for fifty requests to two servers`() async throws {
    try await Servers.run { servers in
      let both = [try await servers.server(), try await servers.server()]
      try await servers.setLifetime(0)
      let session = try await servers.signIn("ada", at: both[0])
      try await servers.setLifetime(3600)

      let tokens = try await withThrowingTaskGroup { group in
        for number in 0..<50 {
          group.addTask { try await both[number % 2].get("/me/token", session: session).json["access_token"] }
        }
        return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
      }

      #expect(tokens.count == 1)
      #expect(try await servers.refreshes() == 1)
    }
  }

  @Test func `if a different party has spent the refresh token, the user has to sign in again`() async throws {
    try await Servers.run { servers in
      let server = try await servers.server()
      try await servers.setLifetime(0)
      let session = try await servers.signIn("ada", at: server)
      let spent = try await Program.request(
        .POST, servers.oauth.url + "/token",
        ["authorization": "Basic " + Data("token-server:\(servers.escapedSecret)".utf8).base64EncodedString()],
        body: "grant_type=refresh_token&refresh_token=\(try await servers.record(of: "ada", "refresh"))")
      try #require(spent.status == 200)

      #expect(try await server.get("/me/token", session: session).status == 401)
      #expect(try await server.get("/me/token", session: session).status == 401)
      // The thief's call and one of ours: a refused token is not sent with each request.
      #expect(try await servers.refreshes() == 2)
      // Everything since the sign-in is revoked, also the tokens of the thief.
      let stolen = try spent.decoded(TokenAnswer.self).access_token
      #expect(try await servers.oauth.get("/userinfo", session: stolen).status == 401)
    }
  }

  @Test func `an OAuth server that fails is 502 and not a sign-out`() async throws {
    try await Servers.run { servers in
      let server = try await servers.server()
      try await servers.setLifetime(0)
      let session = try await servers.signIn("ada", at: server)
      servers.oauth.kill()

      #expect(try await server.get("/me/token", session: session).status == 502)
    }
  }

  @Test func `the worker refreshes with a key that does not open the signing key`() async throws {
    try await Servers.run { servers in
      let server = try await servers.server()
      try await servers.setLifetime(0)
      let session = try await servers.signIn("ada", at: server)
      try await servers.setLifetime(3600)

      let worker = try servers.start("TokenWorker", keys: "worker")
      try await eventually { try await servers.refreshes() == 1 }
      #expect(await worker.stop() == 0)

      _ = try await servers.token(session, from: server)
      #expect(try await servers.refreshes() == 1)

      let copy = servers.directory + "/copy-for-the-test.spv"
      try await servers.vaultBytes().write(to: URL(fileURLWithPath: copy))
      chmod(copy, 0o600)
      let vault = try await Vault.open(at: copy, unlocking: .keyFile(servers.directory + "/worker/users.key"))
      #expect { try SecretPreferences(service: "token-server", accessGroup: "signing", in: vault) } throws: {
        ($0 as? VaultError)?.code == .groupNotGranted
      }
      let read = try await servers.tool(["get", "session.signing-key", "--group", "signing"], key: "worker/users.key")
      #expect(read.status != 0 && read.output.contains("group"))
      // Nor can it act as a server.
      try FileManager.default.copyItem(
        atPath: servers.directory + "/worker/users.key", toPath: servers.directory + "/worker/signing.key")
      let impostor = try servers.start(keys: "worker")
      #expect(await impostor.status() != 0)
    }
  }

  // MARK: Signing out

  @Test func `signing out revokes the token and removes the record`() async throws {
    try await Servers.run { servers in
      let server = try await servers.server()
      let session = try await servers.signIn("ada", at: server)
      let token = try await servers.token(session, from: server)

      #expect(try await server.send(.DELETE, "/me/token", session: session).status == 204)

      #expect(try await servers.oauth.get("/userinfo", session: token).status == 401)
      #expect(try await server.get("/me/token", session: session).status == 401)
      let list = try await servers.tool(["list", "--service", "token-server.users", "--group", "users"])
      #expect(list.status == 0 && !list.output.contains("ada"))
    }
  }

  @Test func `tokens that cannot be revoked stay for a second attempt`() async throws {
    try await Servers.run { servers in
      let server = try await servers.server()
      let session = try await servers.signIn("ada", at: server)
      let token = try await servers.token(session, from: server)
      servers.oauth.kill()

      #expect(try await server.send(.DELETE, "/me/token", session: session).status == 502)

      #expect(try await servers.token(session, from: server) == token)
    }
  }

  // MARK: The vault

  @Test func `tokens and sessions survive a restart`() async throws {
    try await Servers.run { servers in
      let old = try await servers.server()
      let session = try await servers.signIn("ada", at: old)
      let token = try await servers.token(session, from: old)

      #expect(await old.stop() == 0)
      let new = try await servers.server()

      #expect(try await servers.token(session, from: new) == token)
      #expect(try await servers.refreshes() == 0)
    }
  }

  @Test func `a key that was acknowledged survives a killed server`() async throws {
    try await Servers.run { servers in
      let old = try await servers.server()
      let session = try await servers.signIn("ada", at: old)

      #expect(try await old.send(.PUT, "/me/keys/weather", session: session, body: "wk_1").status == 204)
      old.kill()
      let new = try await servers.server()

      #expect(try await new.get("/me/keys/weather", session: session).body == "wk_1")
      #expect(try await new.get("/me/keys/traffic", session: session).status == 404)
    }
  }

  @Test func `behind a balancer, a killed server costs the requests that it had, and no value`() async throws {
    try await Servers.run { servers in
      let both = [try await servers.server(), try await servers.server()]
      let balancer = Balancer(both)
      try await servers.setLifetime(0)
      let session = try await servers.signIn("ada", at: both[0], callbackAt: both[1])
      try await servers.setLifetime(3600)
      let clients = 8

      let stored = try await withThrowingTaskGroup { group in
        for client in 0..<clients {
          group.addTask {
            var stored: [String] = []
            for number in 0..<25 {
              let name = "key-\(client)-\(number)"
              if await balancer.send(.PUT, "/me/keys/\(name)", session: session, body: name) == 204 {
                stored.append(name)
              }
              _ = await balancer.send(.GET, "/me/token", session: session)
              if client == 0, number == 10 { both[0].kill() }
            }
            return stored
          }
        }
        return try await group.reduce(into: [String]()) { $0 += $1 }
      }

      #expect(await balancer.failures <= clients)
      #expect(stored.count >= 25 * clients - (await balancer.failures))
      for server in [both[1], try await servers.server()] {
        for name in stored { #expect(try await server.get("/me/keys/\(name)", session: session).body == name) }
      }
      #expect(try await servers.refreshes() == 1)
    }
  }

  enum Trouble: CaseIterable {
    case missing, damaged, revoked

    /// A running program has read the bytes in a database, and does not read them again.
    static let all = allCases.filter { $0 != .damaged || Servers.database == nil }
  }

  @Test(arguments: Trouble.all)
  func `a vault that cannot be read is 503, and neither 401 nor 404`(trouble: Trouble) async throws {
    try await Servers.run { servers in
      let server = try await servers.server()
      let session = try await servers.signIn("ada", at: server)
      #expect(try await server.get("/health").status == 200)

      switch trouble {
      case .missing: try await servers.removeVault()
      case .damaged: try Data(repeating: 7, count: 4096).write(to: URL(fileURLWithPath: servers.vault))
      case .revoked:
        for slot in servers.slots.prefix(2) {
          #expect(try await servers.tool(["slots", "remove", slot]).status == 0)
        }
      }

      // At once for a file, after a second at most for a database.
      if Servers.database != nil { try await eventually { try await server.get("/health").status == 503 } }
      for path in ["/health", "/me/token", "/me/keys/weather"] {
        #expect(try await server.get(path, session: session).status == 503)
      }
      #expect(try await server.send(.PUT, "/me/keys/weather", session: session, body: "wk_1").status == 503)
    }
  }

  @Test func `no secret is in a log or in the vault's file`() async throws {
    try await Servers.run { servers in
      let server = try await servers.server(environment: ["LOG_LEVEL": "trace"])
      let worker = try servers.start("TokenWorker", keys: "worker", environment: ["LOG_LEVEL": "trace"])
      try await servers.setLifetime(0)
      let session = try await servers.signIn("ada-lovelace", at: server)
      try await servers.setLifetime(3600)
      let token = try await servers.token(session, from: server)
      let refresh = try await servers.record(of: "ada-lovelace", "refresh")
      _ = try await server.send(.PUT, "/me/keys/weather", session: session, body: "wk_sentinel")
      _ = try await server.get("/me/token", session: session + "x")
      servers.oauth.kill()
      _ = try await server.send(.DELETE, "/me/token", session: session)
      #expect(await worker.stop() == 0)
      #expect(await server.stop() == 0)

      let logs = try server.log() + worker.log()
      let file = try await servers.vaultBytes()
      try #require(logs.contains("502"))
      for secret in [token, refresh, session, "wk_sentinel", servers.clientSecret, "ada-lovelace"] {
        #expect(!logs.contains(secret))
        #expect(file.range(of: Data(secret.utf8)) == nil)
      }
    }
  }

  // MARK: Settings

  @Test func `the first layer wins, and only the vault provides the client secret`() async throws {
    try await Servers.run { servers in
      let file = servers.directory + "/settings.json"
      try Data(#"{"debug": {"loops": true}, "oauth": {"client-secret": "wrong"}}"#.utf8).write(
        to: URL(fileURLWithPath: file))
      let environment = ["TOKENS_SETTINGS": file, "TOKENS_OAUTH_CLIENT_SECRET": "wrong"]

      let server = try await servers.server(environment: environment)
      _ = try await servers.signIn("ada", at: server)
      try await eventually { try await server.get("/debug/loops").decoded([String: Int].self)["samples"] ?? 0 > 0 }

      let quiet = try await servers.server(arguments: ["--debug.loops=false"], environment: environment)
      #expect(try await quiet.get("/debug/loops").status == 404)
    }
  }
}

private struct TokenAnswer: Decodable { var access_token: String }

extension Servers {
  /// A field of the tokens' record, as the owner reads it with the tool.
  fileprivate func record(of user: String, _ field: String) async throws -> String {
    struct Record: Decodable { var access, refresh: String }
    let read = try await tool(["get", user, "--service", "token-server.users", "--group", "users"])
    try #require(read.status == 0, "\(read.output)")
    let record = try JSONDecoder().decode(Record.self, from: Data(read.output.utf8))
    return field == "refresh" ? record.refresh : record.access
  }
}
