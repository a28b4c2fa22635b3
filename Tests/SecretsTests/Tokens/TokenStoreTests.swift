import Foundation
import Preferences
import PreferencesTestSupport
import Secrets
import SecretsTesting
import Testing

/// Tokens in stores that are no vault, as a program's own database is.
@Suite(.throwawayVault) struct TokenStoreTests {}

/// The least that a store of secrets has: ordinary memory, no observers.
private final class OwnStore: PreferencesStore {
  let base = DictionaryPreferences()
  var name: String { "own" }
  var custody: Custody { .sealed }
  func value(for query: PreferenceQuery) -> PreferenceValue? { base.value(for: query) }
  func names(of secrecy: Secrecy) -> [PreferenceName] { base.names(of: .plain) }
  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome { try base.apply(edits) }

  var text: String {
    get throws {
      guard case .string(let text) = try base.value(forKey: "github") else { return "" }
      return text
    }
  }
}

extension TokenStoreTests {
  @Test func `two objects over one store refresh once, and the second gets the token of the first`() async throws {
    let (fixture, store, door) = (TokenFixture(), OwnStore(), Door())
    let first = fixture.token(in: store, waitingAt: door)
    let second = fixture.token(in: store)
    try await first.set(fixture.tokens(0, lifetime: -1))

    try await fixture.expectOneRefresh(of: first, waitingAt: door, beside: second) { () throws in
      #expect(try store.text.contains(#""mark":""#))
    }
    #expect(try !store.text.contains("mark"))
  }

  @Test func `a failure is thrown to all objects over the store during its pause`() async throws {
    let (fixture, store) = (TokenFixture(), FailingPreferences(isSealed: true))
    let token = RefreshingToken("github", in: store, options: fixture.options()) { _ in throw RefreshFailure(.rejected)
    }
    try await token.set(fixture.tokens(0, lifetime: -1))
    #expect(try await token.failure() == .rejected)

    let other = fixture.token(in: store)
    #expect(try await other.failure() == .rejected)
    fixture.clock.advance(by: .seconds(31))
    #expect(try await other.text() == "a1")
    #expect(fixture.requests == ["r0"])
  }

  @Test func `tokens of a sign-in during a refresh stay, and the refreshed ones are dropped`() async throws {
    let (fixture, store, door) = (TokenFixture(), OwnStore(), Door())
    let token = fixture.token(in: store, waitingAt: door)
    try await token.set(fixture.tokens(0, lifetime: -1))
    let call = Task { try await token.text() }
    try await door.isReached()
    try await fixture.token(in: store).set(fixture.tokens(7))
    door.open()

    #expect(try await call.value == "a7")
    #expect(try await token.remove()?.refresh?.withValue { $0 } == "r7")
    #expect(try token.state() == nil)
  }

  @Test func `tokens that the store does not take are kept, and stored by the next call`() async throws {
    let (fixture, store, door) = (TokenFixture(), FailingPreferences(isSealed: true), Door())
    let token = fixture.token(in: store, waitingAt: door)
    try await token.set(fixture.tokens(0, lifetime: -1))
    let call = Task { try await token.text() }
    try await door.isReached()
    store.become(.readOnly)
    door.open()

    await #expect(throws: (any Error).self) { try await call.value }
    #expect(try token.unsavedTokens?.refresh?.withValue { $0 } == "r1")
    store.become(.working)
    #expect(try await token.text() == "a1")
    #expect(token.unsavedTokens == nil)
    #expect(fixture.requests == ["r0"])
  }

  @Test func `a store that holds no secrets refuses the tokens`() async throws {
    let (fixture, store) = (TokenFixture(), DictionaryPreferences())
    let error = try await #require(throws: PreferencesError.self) {
      try await fixture.token(in: store).set(fixture.tokens(0))
    }
    #expect(error.code == .noStore)
    #expect(store.keys() == [])
  }

  @Test(arguments: [
    "x", "{}", #"{"access":"a","expires":1,"mark":"00"}"#, #"{"access":"a","expires":"1"}"#,
    #"{"access":"a","expires":1"#,
  ])
  func `a text that another program wrote is no token, or one without a mark`(_ text: String) async throws {
    let (fixture, store) = (TokenFixture(), OwnStore())
    _ = try store.apply(PreferenceEdits([.init(try PreferenceName("github"), to: .value(.string(text)))]))
    let token = fixture.token(in: store)
    if text.hasPrefix(#"{"access":"a","expires":1,"#) {
      #expect(try token.state()?.expires == Date(timeIntervalSince1970: 0.001))
    } else {
      #expect(throws: VaultError.self) { try token.state() }
    }
    #expect(try store.text == text)
    try await token.set(fixture.tokens(0))
    #expect(try await token.text() == "a0")
  }
}

extension TokenStoreTests {
  @Test func `all tasks share one object for each user`() async throws {
    let fixture = TokenFixture()
    let tokens = RefreshingTokens(in: try fixture.store, options: fixture.options()) { token, user in
      #expect(user == "ada")
      return try fixture.issue(for: token)
    }
    #expect(tokens["ada"] === tokens["ada"])
    #expect(tokens["ada"] !== tokens["bob"])
    try await tokens["ada"].set(fixture.tokens(0, lifetime: -1))

    let texts = try await withThrowingTaskGroup { group in
      for _ in 0..<16 { group.addTask { try await tokens["ada"].text() } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(texts == ["a1"])
    #expect(fixture.requests == ["r0"])
  }

  @Test func `objects that are not asked for are released`() throws {
    let tokens = RefreshingTokens(in: try TokenFixture().store, keeping: 2) { _, _ in throw CancellationError() }
    weak let first = tokens["0"]
    #expect(first != nil)
    for user in 1..<100 {
      _ = tokens["\(user)"]
      _ = tokens["often"]
    }
    #expect(first == nil)
    weak let often = tokens["often"]
    #expect(often != nil)
  }

  @Test func `an object that is still used is the only one of its user, and is kept when it refreshes`() async throws {
    let (fixture, store) = (TokenFixture(), FailingPreferences(isSealed: true))
    let tokens = RefreshingTokens(in: store, options: fixture.options(), keeping: 1) { token, _ in
      store.become(.readOnly)
      return try fixture.issue(for: token)
    }
    var ada: RefreshingToken? = tokens["ada"]
    try await ada?.set(fixture.tokens(0, lifetime: -1))
    for user in 0..<9 { _ = tokens["\(user)"] }
    #expect(tokens["ada"] === ada)
    for user in 0..<9 { _ = tokens["\(user)"] }
    await #expect(throws: (any Error).self) { try await ada?.text() }
    ada = nil
    for user in 0..<9 { _ = tokens["\(user)"] }
    #expect(Array(tokens.unsavedTokens.keys) == ["ada"])
    store.become(.working)
    #expect(try await tokens["ada"].text() == "a1")
    #expect(fixture.requests == ["r0"])
  }

  @Test func `an object with tokens that are not stored is kept`() async throws {
    let (fixture, store, door) = (TokenFixture(), FailingPreferences(isSealed: true), Door())
    let tokens = RefreshingTokens(in: store, options: fixture.options(), keeping: 1) { token, _ in
      await door.pass()
      return try fixture.issue(for: token)
    }
    try await tokens["ada"].set(fixture.tokens(0, lifetime: -1))
    let call = Task { try await tokens["ada"].text() }
    try await door.isReached()
    for user in 0..<9 { _ = tokens["\(user)"] }
    store.become(.readOnly)
    door.open()
    await #expect(throws: (any Error).self) { try await call.value }

    for user in 0..<9 { _ = tokens["\(user)"] }
    #expect(Array(tokens.unsavedTokens.keys) == ["ada"])
    store.become(.working)
    #expect(try await tokens["ada"].text() == "a1")
    #expect(tokens.unsavedTokens.isEmpty)
    #expect("\(tokens)" == "refreshing tokens")
  }
}
