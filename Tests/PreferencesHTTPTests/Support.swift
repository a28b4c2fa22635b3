#if HTTP
  @_exported import PreferencesTestSupport
  import Foundation
  import Preferences
  import PreferencesHTTP
  import Synchronization
  import Testing

  /// Responses in turn; the last is repeated.
  final class Answers: Sendable {
    private let rest: Mutex<ArraySlice<String>>

    init(_ answers: [String]) { rest = Mutex(answers[...]) }

    func next() -> String { rest.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? "" } }

    /// A server that sends them.
    func server() throws -> LoopbackServer { try LoopbackServer { _, connection in connection.send(self.next()) } }
  }

  /// Loads from a server that never completes its response. On a busy machine a short time limit may pass before the
  /// request is sent, so the load is repeated with longer ones until the server has received a request.
  func loadUntilTimeLimit(from server: LoopbackServer) async throws {
    for timeout in [Duration.milliseconds(100), .seconds(1), .seconds(10)] where server.requests.isEmpty {
      let settings = try RemoteJSONPreferences(at: server.url(), timeout: timeout)
      #expect(await preferencesError { try await settings.load() }?.code == .unreachable)
    }
  }

  /// The error of a load from a server after a successful load. Checks that the values stay.
  func remoteFailure(
    of answer: some Sequence<UInt8> & Sendable, upTo limit: Int = 16 << 20
  ) async throws -> PreferencesError {
    let answer = Array(answer)
    // Not the second response: the first request may be from a client whose server had this port before.
    let isBroken = Mutex(false)
    let intact = Array(LoopbackServer.response(200, [], #"{"port": 1}"#).utf8)
    let server = try LoopbackServer { _, connection in connection.send(isBroken.withLock(\.self) ? answer : intact) }
    let settings = try RemoteJSONPreferences(at: server.url(), maximumByteCount: limit)
    try await settings.load()
    isBroken.withLock { $0 = true }
    let error = await preferencesError { try await settings.load() }
    #expect(try settings.dictionary() == ["port": 1])
    let found = try #require(error)
    #expect(found.message.hasPrefix("JSON file http://127.0.0.1:\(server.port)/: "))
    return found
  }

  func remoteFailure(of answer: String, upTo limit: Int = 16 << 20) async throws -> PreferencesError {
    try await remoteFailure(of: answer.utf8, upTo: limit)
  }
#endif
