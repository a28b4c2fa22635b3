import Preferences
import Synchronization
import Testing

private enum Name: String {
  case port = "server.port"
  case host
}

extension PreferenceKey<Int> {
  fileprivate static var port: Self { .init("server.port", default: 8080) }
  fileprivate static let retries = Self("retries", default: 3)
}

extension PreferenceKey<[String]> {
  fileprivate static var hosts: Self { .init("hosts", default: ["a"]) }
}

extension PreferenceKey<String?> {
  fileprivate static var host: Self { .init("host") }
}

private enum Shop: PreferenceNamespace {
  enum Server: PreferenceNamespace {
    typealias Parent = Shop
    static var port: PreferenceKey<Int> { key("port", default: 8080) }
  }
  enum Legacy: PreferenceNamespace {
    typealias Parent = Shop
    static let segment = "OLD"
  }
  enum Flat: PreferenceNamespace {
    static let prefix = "flat/"
    enum Inner: PreferenceNamespace { typealias Parent = Flat }
  }
  struct Box<Content>: PreferenceNamespace {}
}

/// What was told to the hook while `body` ran.
func failures(_ body: () throws -> Void) rethrows -> [PreferenceFailures.Failure] {
  let told = Recorded<PreferenceFailures.Failure>()
  try PreferenceFailures.withHandler({ told.add($0) }, body)
  return told.all
}

/// What callbacks were given, in order.
final class Recorded<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])
  func add(_ element: Element) { elements.withLock { $0.append(element) } }
  var all: [Element] { elements.withLock(\.self) }
}

struct AccessTests {
  private let store = DictionaryPreferences()

  // MARK: 38 to 41

  @Test func `item 38: names, enum cases, members and declared keys reach the same value`() throws {
    store["host"] = "first"
    #expect(store[Name.host] == "first")
    #expect(store.members.host == "first")
    #expect(store[.host] == "first")
    #expect(try store.value(forKey: Name.host) == "first")
    store[Name.host] = "second"
    #expect(store["host"] == "second")
    store.members.host = "third"
    #expect(store["host"] == "third")
    store[.host] = "fourth"
    #expect(try store.contains(Name.host))
    #expect(try store.value(for: PreferenceKey<String?>(Name.host)) == "fourth")
    try store.removeValue(forKey: Name.host)
    #expect(store["host"] == nil)
    try store.set(1, forKey: Name.port)
    #expect(store[PreferenceKey(Name.port, default: 0)] == 1)
  }

  @Test func `setting a subscript to nil removes the value`() throws {
    let writes: [(DictionaryPreferences) -> Void] = [
      { $0["host"] = nil }, { $0[Name.host] = nil }, { $0.members.host = nil }, { $0[.host] = nil },
    ]
    for write in writes {
      store["host"] = "a"
      write(store)
      #expect(try !store.contains("host"))
    }
  }

  @Test func `a failure in a subscript is told and reads as absent or as the default`() {
    let failing = FailingPreferences()
    let told = failures {
      #expect(failing["host"] == nil)
      #expect(failing[.port] == 8080)
      failing["host"] = "a"
      failing[.port] = 1
    }
    #expect(told.map(\.key) == ["host", "server.port", "host", "server.port"])
    #expect(told.allSatisfy { $0.error is FailingPreferences.Locked && $0.reader == failing.name })
  }

  @Test func `members do not reach the values of a sealed store`() {
    let told = failures {
      #expect(FailingPreferences().members.token == nil)
      FailingPreferences().members.token = "a"
    }
    #expect(told.compactMap { ($0.error as? PreferencesError)?.code } == [.unavailable, .unavailable])
  }

  @Test func `members of a composite pass its sealed layers by`() {
    let composite = CompositePreferences([FailingPreferences(), store])
    let told = failures {
      composite.members.host = "a"
      #expect(composite.members.host == "a")
    }
    #expect(told.isEmpty)
  }

  @Test func `below a prefix members are the rest of the name`() {
    store.below("server.").members.port = 443
    #expect(store["server.port"] == 443)
  }

  @Test(arguments: ["a.b", "a b", "ключ", "@a", "🦊"])
  func `item 40: dots, spaces and other characters are accepted, and can be observed`(name: String) async throws {
    let updates = store.updates(forKeys: [name], initial: false)
    store[name] = 1
    var iterator = updates.makeAsyncIterator()
    await iterator.next()
    #expect(store[name] == 1)
  }

  @Test func `item 40: a name against the rule is refused through every access`() {
    let told = failures {
      store["a\n"] = 1
      #expect(store["a\n"] == nil)
      store.members[dynamicMember: ""] = 1
    }
    #expect(told.compactMap { ($0.error as? PreferencesError)?.code } == [.invalidKey, .invalidKey, .invalidKey])
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

  @Test func `item 41: a namespace may name itself`() {
    #expect(Shop.Legacy.prefix == "shop.OLD.")
    #expect(Shop.Flat.prefix == "flat/")
    #expect(Shop.Flat.Inner.prefix == "flat/inner.")
  }

  // MARK: 42 to 51

  @Test func `item 42: a static key and a free one read their default and are changed in place`() throws {
    let free = PreferenceKey("free", default: 1)
    #expect(store[.port] == 8080)
    store[.port] += 1
    store[free] += 1
    store[.hosts].append("b")
    #expect(try store.value(for: .port) == 8081)
    #expect(try store.value(for: free) == 2)
    #expect(try store.value(for: .hosts) == ["a", "b"])
  }

  @Test func `item 43: an optional key starts nil, is set, and is cleared by nil`() throws {
    #expect(store[.host] == nil)
    store[.host] = "a"
    #expect(store[.host] == "a")
    store[.host] = nil
    #expect(store.keys().isEmpty)
  }

  @Test func `item 44: a default is computed at each miss, not before, and never stored`() throws {
    let counter = Recorded<Void>()
    let key = PreferenceKey("n") {
      counter.add(())
      return counter.all.count
    }
    #expect(counter.all.isEmpty)
    #expect(try store.value(for: key) == 1)
    #expect(store[key] == 2)
    #expect(store.keys().isEmpty)
    try store.set(7, for: key)
    #expect(try store.value(for: key) == 7)
    #expect(counter.all.count == 2)
  }

  @Test func `item 45: of one key in two stores neither default nor value crosses over`() throws {
    let other = DictionaryPreferences()
    store[.port] = 1
    #expect(other[.port] == 8080)
    #expect(try other.value(for: PreferenceKey("server.port", default: 5)) == 5)
    #expect(store[.port] == 1)
  }

  @Test func `item 46: one, several, an array and names are reset, and observers hear of each`() async throws {
    let name = PreferenceKey("name", default: "x")
    let fill: () -> Void = {
      (store[.port], store[.retries], store[name], store["other"]) = (1, 2, "y", 3)
    }
    let heard = Recorded<String>()
    let token = store.observe { change in change.keys?.sorted().forEach(heard.add) }
    for (reset, gone) in [
      ({ try store.reset(.port) }, ["server.port"]),
      ({ try store.reset(.port, name) }, ["server.port", "name"]),
      ({ try store.reset([.port, .retries]) }, ["server.port", "retries"]),
      ({ try store -= ["retries", "other"] }, ["retries", "other"]),
    ] as [(() throws -> Void, [String])] {
      fill()
      let before = heard.all.count
      try reset()
      #expect(heard.all.dropFirst(before) == gone[...])
      #expect(Set(store.keys()) == Set(["server.port", "retries", "name", "other"]).subtracting(gone))
    }
    fill()
    store.removeAll()
    #expect(store.keys().isEmpty)
    #expect(Set(heard.all.suffix(4)) == ["server.port", "retries", "name", "other"])
    token.invalidate()
  }

  @Test func `item 46: whether a key reads as its default is told`() throws {
    #expect(try store.isDefault(.port))
    store[.port] = 1
    #expect(try !store.isDefault(.port))
    store[.port] = 8080
    #expect(try store.isDefault(.port))
    #expect(try store.isDefault(.host))
  }

  @Test func `item 47: keys are equal by name, handles by name and store`() {
    #expect(PreferenceKey("a", default: 1) == PreferenceKey("a", default: 2))
    #expect(PreferenceKey("a", default: 1) != PreferenceKey("b", default: 1))
    #expect(Set([PreferenceKey("a", default: 1), PreferenceKey("a", default: 2)]).count == 1)
    let other = DictionaryPreferences()
    #expect(store.preference("a", as: Int.self).id == store.preference("a", as: Int.self).id)
    #expect(store.preference("a", as: Int.self).id != other.preference("a", as: Int.self).id)
    #expect(store.preference("a", as: Int.self).id != store.preference("b", as: Int.self).id)
  }

  @Test func `item 48: what is not a value of the key reads as the default, is told, and stays`() throws {
    try store.set("x", forKey: "server.port")
    let told = failures { #expect(store[.port] == 8080) }
    #expect((told.first?.error as? PreferencesError)?.code == .typeMismatch)
    #expect(store["server.port"] == "x")
    store[.port] = 1
    #expect(store["server.port"] == 1)
  }

  @Test func `item 50: keys declared as static lets are used from several tasks`() async throws {
    let store = store
    await withTaskGroup { group in
      for value in 0..<4 { group.addTask { store[.retries] = value } }
    }
    #expect((0..<4).contains(store[.retries]))
  }

  @Test(arguments: 0..<4)
  func `item 51: the same keys in stores of their own do not see each other`(value: Int) throws {
    #expect(store[.retries] == 3)
    store[.retries] = value + 10
    #expect(try store.value(for: .retries) == value + 10)
  }
}
