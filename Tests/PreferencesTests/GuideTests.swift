import FoundationEssentials
import Preferences
import PreferencesOperators
import Synchronization
import Testing

// The code of Preferences.docc, word for word: Scripts/documents guide compares the two. What is quoted there is here
// in one piece; what it does is expected below it.

extension PreferenceKey<Int> {
  static let serverPort = Self("server.port", default: 8080)
}

enum Scheme: String, PreferenceConvertible { case light, dark }

struct Limits: Codable, Equatable {
  var connections = 100
  var timeout = 30.0
}

extension PreferenceKey<Scheme> {
  static let scheme = Self("scheme", default: .light)
}
extension PreferenceKey<Limits> {
  static let limits = Self.codable("limits", default: Limits())
}

struct Temperature: PreferenceConvertible, Equatable {
  var degrees: Double

  static var preferenceKind: PreferenceValue.Kind { .double }
  var preferenceValue: PreferenceValue { .double(degrees) }

  init(degrees: Double) { self.degrees = degrees }

  init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    degrees = try Double(preferenceValue: value)
    guard degrees >= -273.15 else { throw PreferencesError(.outOfRange, "colder than cold") }
  }
}

/// Settings that are kept by another program, which says when they change.
final class FeedPreferences: PreferencesReader {
  let name = "feed"
  private let values = Mutex<[String: PreferenceValue]>([:])
  private let changes = ChangeBroadcast()

  func value(for query: PreferenceQuery) -> PreferenceValue? { values.withLock { $0[query.name.text] } }
  func names(of secrecy: Secrecy) -> [PreferenceName] { PreferenceName.valid(values.withLock { Array($0.keys) }) }

  func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    changes.observe(notify)
  }

  func receive(_ new: [String: PreferenceValue]) {
    values.withLock { $0 = new }
    changes.send(.anything)
  }
}

struct GuideTests {
  let settings = DictionaryPreferences()

  // MARK: Preferences.md

  @Test func `the first example reads, writes and explains`() throws {
    let preferences = CompositePreferences([
      EnvironmentPreferences(prefix: "SHOP"),
      DictionaryPreferences(["server.port": 8080]),
    ])
    let port = try preferences.value(for: .serverPort)
    let outcome = try preferences.set(port + 1, for: .serverPort)
    let explanation = try preferences.explain("server.port")

    #expect(port == 8080)
    #expect(outcome == .visible)
    #expect(try preferences.value(for: .serverPort) == 8081)
    #expect("\(explanation)".contains("answers (integer)"))
  }

  // MARK: PreferencesInFiles.md

  @Test func `a file keeps what is written and is watched`() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/shop.plist"

      let settings = try PropertyListPreferences(at: path, options: .creating)
      try settings.set(8080, forKey: "server.port")
      let observation = try settings.watch()  // reloads whenever the file changes

      defer { observation.invalidate() }
      #expect(try PropertyListPreferences(at: path).integer(forKey: "server.port") == 8080)
    }
  }

  // MARK: StoringATypeOfYourOwn.md

  @Test func `a type with a raw value and a Codable type are stored`() throws {
    try settings.set(.dark, for: .scheme)
    try settings.update(.limits) { $0.connections = 200 }

    #expect(settings["scheme"] == "dark")
    #expect(settings["limits"] == ["connections": 200, "timeout": 30.0])
    #expect(settings[.scheme] == .dark)
  }

  @Test func `a type that converts itself refuses what it cannot be`() throws {
    let room = PreferenceKey("room", default: Temperature(degrees: 20))
    try settings.set(Temperature(degrees: 21.5), for: room)
    #expect(settings["room"] == 21.5)
    try settings.set(-300.0, forKey: "room")
    #expect(preferencesError { _ = try settings.value(for: room) }?.code == .outOfRange)
  }

  @Test func `a transformation belongs to the key`() throws {
    let names = TwoWayTransformation<String, [String]>(
      reading: { $0.split(separator: ",").map(String.init) }, writing: { $0.joined(separator: ",") })
    let hosts = PreferenceKey("hosts", default: ["localhost"], through: names)
    try settings.set(["a", "b"], for: hosts)

    #expect(settings["hosts"] == "a,b")
    #expect(settings[hosts] == ["a", "b"])
  }

  @Test func `a key reads the form of an earlier version, too`() throws {
    let scheme = PreferenceKey("scheme", default: Scheme.light).alsoReading(
      PreferenceKey(
        "scheme", default: .light,
        through: TwoWayTransformation<Bool, Scheme>(reading: { $0 ? .dark : .light }, writing: { $0 == .dark })))
    try settings.set(true, forKey: "scheme")
    #expect(try settings.value(for: scheme) == .dark)
    try settings.set(.light, for: scheme)
    #expect(settings["scheme"] == "light")
  }

  // MARK: ObservingChanges.md

  @Test func `values arrive as a sequence`() async throws {
    let received = Received<Int>()
    let show: (Int) -> Void = { received.add($0) }
    let updates = settings.updates(for: .serverPort)
    try await settings.set(9090, for: .serverPort)
    try await settings.set(9191, for: .serverPort)

    for await port in updates {
      show(port)
      if port == 9191 { break }
    }

    #expect(received.all == [8080, 9090, 9191])
  }

  @Test func `a callback lasts as long as its owner`() throws {
    let received = Received<Int?>()
    let show: @Sendable (Int, Int?) -> Void = { received.add($1) }
    do {
      let owner = Owner()

      let observation = settings.observe(.serverPort, initial: true) { change in
        show(change.oldValue, change.newValue)
      }
      observation.tie(to: owner)

      try settings.set(9090, for: .serverPort)
      withExtendedLifetime(owner) {}
    }
    try settings.set(9191, for: .serverPort)
    #expect(received.all == [8080, 9090])
  }

  @Test func `a custom reader notifies observers of its changes`() {
    let feed = FeedPreferences()
    let received = Received<Int?>()
    let observation = feed.observe(.serverPort) { received.add($0.newValue) }
    feed.receive(["server.port": 9090])
    feed.receive(["server.port": 9090, "other": 1])
    observation.invalidate()
    #expect(received.all == [9090])
  }

  // MARK: TestingWithPreferences.md

  @Test func `a test has a shared store and a failure handler of its own`() throws {
    let registry = PreferencesRegistry()
    registry.share(DictionaryPreferences(["server.port": 9090]))
    let failures = Mutex<[String]>([])

    try PreferencesRegistry.with(registry) {
      try PreferenceFailures.withHandler({ failure in failures.withLock { $0.append(failure.key) } }) {
        #expect(SharedPreferences()[.serverPort] == 9090)
        try SharedPreferences().set("none", forKey: "server.port")
        #expect(SharedPreferences()[.serverPort] == 8080)
      }
    }

    #expect(failures.withLock(\.self) == ["server.port"])
  }
}
