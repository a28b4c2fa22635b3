import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// A new vault, made by `setup`, an OAuth server, and the processes that a test starts. All end with the test.
final class Servers {
  let directory: String
  let clientSecret = "client/secret+\(UUID())=="
  /// As RFC 6749 2.3.1 wants it in a request.
  var escapedSecret: String { clientSecret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }
  /// The slots of server/users.key, server/signing.key and worker/users.key.
  let slots: [String]
  private(set) var oauth: Program
  private var programs: [Program] = []

  /// The folder of the server's socket, if the vaults are in a database: `Scripts/token-server postgres`.
  static let database = ProcessInfo.processInfo.environment["SECRETPREFS_POSTGRES"]
  /// The path of the vault, or its place in the database.
  let vault: String
  private let name: String

  static func run(_ body: (Servers) async throws -> Void) async throws {
    let servers = try await Servers()
    defer { servers.end() }
    try await body(servers)
  }

  private init() async throws {
    directory = FileManager.default.temporaryDirectory.path + "/token-server-\(UUID())"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try Data(clientSecret.utf8).write(to: URL(fileURLWithPath: directory + "/client-secret.txt"))
    name = "tokens-\(UUID())"
    vault =
      if let folder = Self.database { "postgresql:///postgres?host=\(folder)&user=postgres#\(name)" } else {
        directory + "/vault/secrets.spv"
      }
    let path = "\(Program.folder):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
    let setup = try Program(
      Self.example + "/setup", [directory], ["PATH": path, "SECRETPREFS_VAULT": vault], directory,
      input: directory + "/client-secret.txt")
    guard await setup.status() == 0 else { throw Failure(try setup.log()) }
    slots = try setup.log().split(separator: "\n").suffix(3).map(String.init)
    oauth = try Program(
      "OAuthServer", [], ["OAUTH_PORT": "0", "OAUTH_CLIENT_SECRET_FILE": directory + "/client-secret.txt"], directory)
    try await oauth.waitForPort()
    programs = [oauth]
  }

  private func end() {
    for program in programs { program.kill() }
    do { try FileManager.default.removeItem(atPath: directory) } catch { Issue.record(error) }
  }

  // MARK: Programs

  func start(
    _ name: String = "TokenServer", keys: String = "server", arguments: [String] = [],
    environment: [String: String] = [:]
  ) throws -> Program {
    let all = [
      "SECRETPREFS_VAULT": vault, "TOKENS_USERS_KEY_FILE": "\(directory)/\(keys)/users.key",
      "TOKENS_SIGNING_KEY_FILE": "\(directory)/\(keys)/signing.key", "TOKENS_OAUTH_URL": oauth.url,
      "TOKENS_SERVER_PUBLIC_URL": Self.publicURL, "TOKENS_SERVER_PORT": "0", "TOKENS_WORKER_SECONDS": "1",
    ].merging(environment) { $1 }
    let program = try Program(name, arguments, all, directory)
    programs.append(program)
    return program
  }

  func server(arguments: [String] = [], environment: [String: String] = [:]) async throws -> Program {
    let server = try start(arguments: arguments, environment: environment)
    try await server.waitForPort()
    return server
  }

  /// Runs the tool on the vault.
  func tool(_ arguments: [String], key: String = "owner.key") async throws -> (status: Int32, output: String) {
    let environment = [
      "SECRETPREFS_VAULT": vault, "SECRETPREFS_KEY_FILE": "\(directory)/\(key)", "SECRETPREFS_SERVICE": "token-server",
    ]
    let tool = try Program("secretprefs", arguments, environment, directory)
    return (await tool.status(), try tool.log())
  }

  // MARK: The vault

  /// The sealed bytes, wherever they are.
  func vaultBytes() async throws -> Data {
    guard Self.database != nil else { return try Data(contentsOf: URL(fileURLWithPath: vault)) }
    let copy = directory + "/copy.spv"
    try #require(await tool(["postgres", "export", copy]).status == 0)
    return try Data(contentsOf: URL(fileURLWithPath: copy))
  }

  /// Removes the vault, as an administrator of the disk or of the database can.
  func removeVault() async throws {
    guard let folder = Self.database else { return try FileManager.default.removeItem(atPath: vault) }
    let deletion = "delete from secretprefs.vault where name = '\(name)'"
    let psql = try Program("/usr/bin/psql", ["-h", folder, "-U", "postgres", "-c", deletion], [:], directory)
    try #require(await psql.status() == 0)
  }

  // MARK: Requests

  /// Where browsers reach the server: a load balancer that sends a request to any process.
  static let publicURL = "https://tokens.example.test"

  /// Signs a user in, as a browser does. The callback may reach a different server than the one that began.
  func signIn(_ user: String, at server: Program, callbackAt other: Program? = nil) async throws -> String {
    let (callback, cookie) = try await beginSignIn(user, at: server)
    let answer = try await (other ?? server).get(callback, ["cookie": cookie])
    try #require(answer.status == 200, "\(answer.body)")
    return try #require(try answer.json["session"])
  }

  /// Returns the path and query of the callback, and the cookie.
  func beginSignIn(_ user: String, at server: Program) async throws -> (callback: String, cookie: String) {
    let begun = try await server.get("/sign-in?user=\(user)")
    let consented = try await Program.request(.GET, try #require(begun.headers.first(name: "location")))
    let callback = try #require(consented.headers.first(name: "location"))
    try #require(callback.hasPrefix(Self.publicURL))
    let cookie = try #require(begun.headers.first(name: "set-cookie")?.split(separator: ";").first)
    return (String(callback.dropFirst(Self.publicURL.count)), String(cookie))
  }

  /// The access token that the server gives to the user of a session.
  func token(_ session: String, from server: Program) async throws -> String {
    let answer = try await server.get("/me/token", session: session)
    try #require(answer.status == 200, "\(answer.body)")
    return try #require(try answer.json["access_token"])
  }

  /// How often the OAuth server was asked to refresh a token.
  func refreshes() async throws -> Int { try await oauth.get("/calls").decoded([String: Int].self)["refreshes"] ?? -1 }

  /// Sets the lifetime of the next tokens. With 0 they have expired already.
  func setLifetime(_ seconds: Int) async throws {
    let answer = try await Program.request(.PUT, "\(oauth.url)/lifetime/\(seconds)")
    try #require(answer.status == 204)
  }

  private static let example = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
}

struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Waits until `condition` holds, up to a minute.
func eventually(_ condition: () async throws -> Bool) async throws {
  let end = ContinuousClock.now + .seconds(60)
  while try await !condition() {
    guard ContinuousClock.now < end else { throw Failure("waited for a minute") }
    try await Task.sleep(for: .milliseconds(20))
  }
}
