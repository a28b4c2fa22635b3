import Preferences
import Testing

/// Responses with an unexpected status, content or size, and closures that fail.
struct RemoteFailureTests {
  /// The error of a load after a successful one. Checks that the values stay, and that no observer is notified.
  private func failure(
    of response: RemoteResponse, entityTag: String? = nil, upTo limit: Int = 16 << 20
  ) async throws -> PreferencesError {
    let server = ScriptedServer(.json(#"{"port": 1}"#, entityTag: entityTag), response)
    let settings = server.settings(maximumByteCount: limit)
    try await settings.load()
    let received = Received<Void>()
    let observation = settings.observe { _ in received.add(()) }
    let error = await preferencesError { try await settings.load() }
    #expect(try settings.dictionary() == ["port": 1])
    #expect(received.all.isEmpty)
    withExtendedLifetime(observation) {}
    let found = try #require(error)
    #expect(found.message.hasPrefix("test server: "))
    return found
  }

  @Test(arguments: [
    -1, 0, 99, 100, 101, 199, 201, 202, 204, 205, 206, 300, 301, 302, 303, 304, 305, 307, 308, 400, 401, 403, 404, 407,
    410, 416, 429, 500, 503, 599, 999, Int.max,
  ])
  func `item 23: a status that brings no content is an error that names it`(status: Int) async throws {
    let error = try await failure(of: RemoteResponse(status: status, bytes: "{}".utf8))
    #expect(error.code == .unexpectedStatus)
    #expect(error.message.hasSuffix("the server responded with status \(status)"))
    #expect(error.cause as? UnexpectedStatus == UnexpectedStatus(status: status))
  }

  @Test func `no change is accepted only after a conditional request`() async throws {
    let settings = ScriptedServer(.status(304)).settings()
    #expect(await preferencesError { try await settings.load() }?.code == .unexpectedStatus)
    #expect(try await failure(of: .status(304), entityTag: "\u{1}").code == .unexpectedStatus)
  }

  @Test(arguments: [
    "", " ", "[]", "[1]", "1", "null", "\"a\"", "{", #"{"a": }"#, #"{"a": 1} x"#, #"{"a": 1, "a": 2}"#, "<plist/>",
    "\u{0}",
  ])
  func `item 23: what is no object of JSON is malformed`(body: String) async throws {
    #expect(try await failure(of: .json(body)).code == .malformed)
  }

  @Test func `item 23: text that is not UTF-8 is malformed`() async throws {
    let bytes = Array("{\"a\": \"".utf8) + [0xFF] + "\"}".utf8
    #expect(try await failure(of: RemoteResponse(status: 200, bytes: bytes)).code == .malformed)
  }

  @Test(arguments: ["", "garbage", "<plist><array/></plist>", "<plist><dict>", "bplist00"])
  func `item 23: what is no dictionary of a property list is malformed`(body: String) async throws {
    let settings = RemotePropertyListPreferences(name: "a") { _ in RemoteResponse(status: 200, bytes: body.utf8) }
    #expect(await preferencesError { try await settings.load() }?.code == .malformed)
    #expect(preferencesError { _ = try settings.keys() }?.code == .unavailable)
  }

  @Test func `item 23: one byte too many is refused, although the closure has received it`() async throws {
    func body(_ count: Int) -> String { #"{"a": ""# + String(repeating: "x", count: count - 9) + #""}"# }
    let error = try await failure(of: .json(body(1_001)), upTo: 1_000)
    #expect(error.code == .limitExceeded)
    #expect(error.message == "test server: the response has more than 1000 bytes")
    let server = ScriptedServer(.json(body(1_000)))
    #expect(try await server.settings(maximumByteCount: 1_000).load() == .updated)
    #expect(server.requests.map(\.maximumByteCount) == [1_000])
  }

  @Test func `an error of the closure is thrown to the caller`() async throws {
    struct Locked: Error {}
    let settings = RemoteJSONPreferences(name: "test server") { _ in throw Locked() }
    await #expect(throws: Locked.self) { try await settings.load() }
    let error = await preferencesError {
      try await RemoteJSONPreferences(name: "test server") { _ in throw PreferencesError(.unreachable, "gone") }.load()
    }
    #expect(error?.code == .unreachable)
    #expect(error?.message == "test server: gone")
  }
}
