import Preferences
import Synchronization

/// A server in memory: responses in turn, of which the last is repeated.
final class ScriptedServer: Sendable {
  private let rest: Mutex<ArraySlice<RemoteResponse>>
  private let received = Mutex<[RemoteRequest]>([])

  init(_ responses: RemoteResponse...) { rest = Mutex(responses[...]) }

  /// The requests that have come, in order.
  var requests: [RemoteRequest] { received.withLock(\.self) }

  func fetch(_ request: RemoteRequest) throws -> RemoteResponse {
    received.withLock { $0.append(request) }
    guard let next = rest.withLock({ $0.count > 1 ? $0.popFirst() : $0.first }) else {
      throw PreferencesError(.unreachable, "no response")
    }
    return next
  }

  /// A reader of JSON from this server.
  func settings(maximumByteCount: Int = 16 << 20, clock: TestClock = TestClock()) -> RemoteJSONPreferences {
    RemoteJSONPreferences(name: "test server", maximumByteCount: maximumByteCount, clock: clock) { try self.fetch($0) }
  }
}

extension RemoteResponse {
  /// Content of JSON.
  static func json(_ text: String, entityTag: String? = nil, lastModified: String? = nil) -> RemoteResponse {
    RemoteResponse(status: 200, bytes: text.utf8, entityTag: entityTag, lastModified: lastModified)
  }

  static func status(_ status: Int) -> RemoteResponse { RemoteResponse(status: status) }
}

/// A store whose first write waits.
final class SlowStore: PreferencesStore {
  let name = "slow"
  let (arrived, goesOn) = (Signal(), Signal())
  private let base = DictionaryPreferences()
  private let isFirst = Mutex(true)

  func value(for query: PreferenceQuery) -> PreferenceValue? { base.value(for: query) }
  func names(of secrecy: Secrecy) -> [PreferenceName] { base.names(of: secrecy) }
  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome { try base.apply(edits) }

  func apply(_ edits: PreferenceEdits) async throws -> WriteOutcome {
    let waits = isFirst.withLock { isFirst in
      defer { isFirst = false }
      return isFirst
    }
    if waits {
      arrived.send()
      await goesOn.wait()
    }
    return try base.apply(edits)
  }
}
