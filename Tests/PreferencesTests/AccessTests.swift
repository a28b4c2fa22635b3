import FoundationEssentials
import PreferencesOperators
import Preferences
import Synchronization
import Testing

private enum Name: String {
  case port = "server.port"
  case host
}

extension PreferenceKey<Int> {
  fileprivate static var port: Self { .init("server.port", default: 8080) }
}

extension PreferenceKey<String?> {
  fileprivate static var host: Self { .init("host") }
}

private enum Shop: PreferenceNamespace {
  enum Server: PreferenceNamespace {
    typealias Parent = Shop
    static var port: PreferenceKey<Int> { key("port", default: 8080) }
  }
  struct Box<Content>: PreferenceNamespace {}
}

/// The failures that were reported while `body` ran.
func failures(_ body: () throws -> Void) rethrows -> [PreferenceFailures.Failure] {
  let received = Recorded<PreferenceFailures.Failure>()
  try PreferenceFailures.withHandler({ received.add($0) }, body)
  return received.all
}

/// What callbacks were given, in order.
final class Recorded<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])
  func add(_ element: Element) { elements.withLock { $0.append(element) } }
  var all: [Element] { elements.withLock(\.self) }
}

struct AccessTests {
  private let store = DictionaryPreferences()

  @Test func `without a handler a failure is one line with the reader and the code, without the key`() async throws {
    let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let error = PreferencesError(.typeMismatch, "key \"a.secret.name\" has text")
      PreferenceFailures.report(error, key: "a.secret.name", reader: "the reader")
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("preferences: the reader: typeMismatch\n"))
    #expect(!text.contains("a.secret.name"))
  }

  @Test func `a key of a namespace that is created in a different way has its prefix`() {
    #expect(Shop.Server.name("token") == "shop.server.token")
    #expect(Shop.Box<Int>.name("a") == "box.a")
  }

  @Test func `item 38: a subscript takes and gives the type that the context has`() {
    let (text, missing): (String, String?) = ("a", nil)
    store["host"] = text
    #expect(store["host"] == .string("a"))
    #expect(store["host"] == text)
    #expect(store["host"] != "b")
    #expect(store["host"] != missing)
    #expect((store["host"] ?? "b") == text)
    #expect((store["host"] ?? text) == "a")
    if let read: String = store["host"] { #expect(read == "a") } else { Issue.record("absent") }
    store["host"] = missing
    #expect(store["host"] == missing)
    #expect(store.keys().isEmpty)
    store[Name.host] = text
    #expect(store[Name.host] == text)
    store.members.host = [text, text]
    #expect(store.members.host == [text, text])
    let reader: any PreferencesReader = store.readOnly
    #expect(reader["host"] == [text, text])
  }

  @Test func `item 38: comparing a subscript with another type is a failure, and not equal`() {
    store["server.port"] = 1
    let text: String? = "1"
    let reported = failures {
      #expect(store["server.port"] != text)
      #expect(store.members[dynamicMember: "server.port"] != text)
    }
    #expect(reported.compactMap { ($0.error as? PreferencesError)?.code } == [.typeMismatch, .typeMismatch])
    let (number, unsigned): (Int?, UInt8?) = (1, 1)
    #expect(store["server.port"] == number)
    #expect(store["server.port"] == unsigned)
  }

  @Test func `item 38: getters, operators, handles, members and wrappers take an enum's names`() throws {
    try store.set("a", forKey: Name.host)
    #expect(try store.string(forKey: Name.host) == "a")
    #expect(try store.value(forKey: Name.host, as: String.self) == "a")
    #expect(store.members[Name.host] == "a")
    store.members[Name.host] = "b"
    let handle: Preference<String> = store <| Name.host
    #expect(try handle.get() == "b")
    #expect(handle.id == store.preference(Name.host, as: String.self).id)
    @StoredPreference(Name.port, in: store) var port = 80
    @StoredPreference(Name.host, in: store) var host: String?
    @ReadPreference(Name.host, in: store) var read: String?
    (port, host) = (port + 1, "c")
    #expect(try store.integer(forKey: Name.port) == 81)
    #expect(read == "c")
    try store -= Name.host
    try store ?= [Name.port: 1, Name.host: "d"]
    #expect(store["server.port"] == 81 && store["host"] == "d")
    try store += [Name.port: 1]
    #expect(store["server.port"] == 1)
    try store -= [Name.port, Name.host]
    #expect(store.keys().isEmpty)
  }

  @Test func `items 1 and 38: every type has a getter, by name and by an enum's name`() throws {
    let (data, date, url) = (Data([1]), Date(timeIntervalSinceReferenceDate: 1), URL(filePath: "/a"))
    func expect<Value: Equatable>(
      _ value: some PreferenceConvertible, _ expected: Value, _ byName: (String) throws -> Value?,
      _ byCase: (Name) throws -> Value?, line: Int = #line
    ) throws {
      try store.set(value, forKey: Name.host)
      #expect(try byName("host") == expected, "line \(line)")
      #expect(try byCase(.host) == expected, "line \(line)")
      try store.removeAll()
      #expect(try byName("host") == nil, "line \(line)")
    }
    try expect("a", "a", { try store.string(forKey: $0) }, { try store.string(forKey: $0) })
    try expect(data, data, { try store.data(forKey: $0) }, { try store.data(forKey: $0) })
    try expect(true, true, { try store.bool(forKey: $0) }, { try store.bool(forKey: $0) })
    try expect(1, 1, { try store.integer(forKey: $0) }, { try store.integer(forKey: $0) })
    try expect(1.5, 1.5, { try store.double(forKey: $0) }, { try store.double(forKey: $0) })
    try expect(0.1, Float(0.1), { try store.float(forKey: $0) }, { try store.float(forKey: $0) })
    try expect(date, date, { try store.date(forKey: $0) }, { try store.date(forKey: $0) })
    try expect(url, url, { try store.url(forKey: $0) }, { try store.url(forKey: $0) })
    try expect([1, 2], [1, 2], { try store.array(forKey: $0) }, { try store.array(forKey: $0) })
    try expect(["a"], ["a"], { try store.stringArray(forKey: $0) }, { try store.stringArray(forKey: $0) })
    try expect(["k": 1], ["k": 1], { try store.dictionary(forKey: $0) }, { try store.dictionary(forKey: $0) })
    try expect(
      [[1]], [[1]], { try store.value(forKey: $0, as: [[Int]].self) }, { try store.value(forKey: $0, as: [[Int]].self) }
    )
    store["host"] = ["a", 1]
    #expect(preferencesError { _ = try store.stringArray(forKey: "host") }?.code == .typeMismatch)
  }

  @Test func `a failure in a subscript is reported and reads as absent or as the default`() {
    let failing = FailingPreferences()
    let reported = failures {
      #expect(failing["host"] == nil)
      #expect(failing[.port] == 8080)
      failing["host"] = "a"
      failing[.port] = 1
    }
    #expect(reported.map(\.key) == ["host", "server.port", "host", "server.port"])
    #expect(reported.allSatisfy { $0.error is FailingPreferences.Locked && $0.reader == failing.name })
  }

  @Test func `members do not reach the values of a sealed store`() {
    let reported = failures {
      #expect(FailingPreferences().members.token == nil)
      FailingPreferences().members.token = "a"
    }
    #expect(reported.compactMap { ($0.error as? PreferencesError)?.code } == [.unavailable, .unavailable])
  }

  @Test func `members of a composite pass its sealed layers by`() {
    let composite = CompositePreferences([FailingPreferences().unclaimed, store])
    let reported = failures {
      composite.members.host = "a"
      #expect(composite.members.host == "a")
    }
    #expect(reported.isEmpty)
  }

  @Test func `below a prefix members are the rest of the name`() {
    store.below("server.").members.port = 443
    #expect(store["server.port"] == 443)
  }

  @Test func `item 40: a name against the rule is refused through every access`() {
    let reported = failures {
      store["a\n"] = 1
      #expect(store["a\n"] == nil)
      store.members[dynamicMember: ""] = 1
    }
    #expect(reported.compactMap { ($0.error as? PreferencesError)?.code } == [.invalidKey, .invalidKey, .invalidKey])
    for write in [
      { try store += ["": 1] }, { try store ?= ["": 1] }, { try store -= "" },
      { try store.preference("", as: Int.self) += 1 }, { _ = try store.preference("", as: Int.self).hasValue },
    ] as [() throws -> Void] {
      #expect(preferencesError(write)?.code == .invalidKey)
    }
  }

  @Test func `item 41: namespaces derive nested prefixes from the names of types`() throws {
    #expect(Shop.prefix == "shop.")
    #expect(Shop.Server.prefix == "shop.server.")
    #expect(Shop.Server.port.name == "shop.server.port")
    #expect(Shop.Box<Int>.prefix == "box.")
    try store.set(443, for: Shop.Server.port)
    #expect(try store.below(Shop.Server.self).integer(forKey: "port") == 443)
    #expect(Shop.Server.key("host", of: String.self).name == "shop.server.host")
  }
}
