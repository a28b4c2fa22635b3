import NIOHTTP1

/// Sends each request to the next server, and none to a server that has failed.
actor Balancer {
  private var servers: [Program]
  private var next = 0
  /// The number of requests that a server has not answered.
  private(set) var failures = 0

  init(_ servers: [Program]) { self.servers = servers }

  /// - Returns: the status; `nil` if there was no answer.
  func send(_ method: HTTPMethod, _ path: String, session: String, body: String? = nil) async -> UInt? {
    next += 1
    let server = servers[next % servers.count]
    do { return try await server.send(method, path, session: session, body: body).status } catch {
      failures += 1
      if servers.count > 1 { servers.removeAll { $0 === server } }
      return nil
    }
  }
}
