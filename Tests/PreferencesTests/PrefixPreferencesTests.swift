import Preferences
import Synchronization
import Testing

struct PrefixPreferencesTests {
  let base: DictionaryPreferences = ["server.port": 1, "server.tls.on": true, "other": 2, "server.": 3, "server": 4]

  @Test func `item 36: a prefix maps keys both ways`() throws {
    let server = base.below("server.")
    #expect(try server.integer(forKey: "port") == 1)
    #expect(try server.keys() == ["port", "tls.on"])
    try server.set("h", forKey: "host")
    #expect(try base.string(forKey: "server.host") == "h")
    try server.removeValue(forKey: "port")
    #expect(try base.contains("server.port") == false)
    #expect(try base.integer(forKey: "server") == 4)
  }

  @Test func `item 36: typed keys are stored below the prefix`() throws {
    let key = PreferenceKey<Int>("port", default: 0)
    try base.below("server.").set(8080, for: key)
    #expect(try base.integer(forKey: "server.port") == 8080)
    #expect(try base.below("none.").value(for: key) == 0)
  }

  @Test func `item 36: an empty prefix changes nothing`() throws {
    let view = base.below("")
    #expect(try view.keys() == base.keys())
    try view.set(5, forKey: "new")
    #expect(try base.integer(forKey: "new") == 5)
    try view.removeAll()
    #expect(base.keys() == [])
  }

  @Test func `item 37: removing all touches the prefix only`() throws {
    try base.below("server.").removeAll()
    #expect(base.keys() == ["other", "server", "server."])
  }

  @Test func `item 37: a merge writes below the prefix, and a bad name stores nothing`() throws {
    let server = base.below("server.")
    try server.set(["port": 9, "new": 1])
    #expect(base.keys() == ["other", "server", "server.", "server.new", "server.port", "server.tls.on"])
    #expect(preferencesError { try server.set(["a": 1, "": 2]) }?.code == .invalidKey)
    #expect(try base.contains("server.a") == false)
  }

  @Test func `item 37: views nest`() throws {
    let tls = base.below("server.").below("tls.")
    #expect(try tls.keys() == ["on"])
    try tls.set(false, forKey: "on")
    #expect(try base.bool(forKey: "server.tls.on") == false)
    try tls.removeAll()
    #expect(try base.below("server.").keys() == ["port"])
  }

  @Test func `item 37: a missing key is nil, and so is the prefix itself`() throws {
    #expect(try base.below("server.").value(forKey: "none") == nil)
    #expect(try base.below("server.tls").value(forKey: "none") == nil)
    #expect(preferencesError { _ = try base.below("server.").value(forKey: "") }?.code == .invalidKey)
  }

  @Test func `a key whose first accent would change the prefix is refused`() throws {
    let view = DictionaryPreferences().below("e")
    #expect(preferencesError { try view.set(1, forKey: "\u{301}x") }?.code == .invalidKey)
    #expect(preferencesError { _ = try view.value(forKey: "\u{301}x") }?.code == .invalidKey)
    #expect(preferencesError { try view.set(["\u{301}x": 1]) }?.code == .invalidKey)
    #expect(try view.keys() == [])
  }

  @Test func `views of one store with one prefix are one store`() {
    #expect(base.below("a.").identity == base.below("a.").identity)
    #expect(base.below("a.").identity != base.below("b.").identity)
    #expect(base.below("a.").identity != DictionaryPreferences().below("a.").identity)
  }

  @Test func `changes are reported with the short names, and others not at all`() throws {
    let received = Mutex<[Set<String>?]>([])
    let observation = base.below("server.").observe { change in received.withLock { $0.append(change.keys) } }
    try base.set(["server.port": 2, "other": 3])
    try base.set(4, forKey: "other")
    observation.invalidate()
    #expect(received.withLock(\.self) == [["port"]])
  }

  @Test func `secret keys stay with sealed layers`() throws {
    let sealed = SealedPreferences()
    let view = CompositePreferences([base, sealed.unclaimed]).below("server.")
    try view.setSecret("s", forKey: "password")
    #expect(try sealed.base.string(forKey: "server.password") == "s")
    #expect(try view.value(forKey: "password") == nil)
    #expect(preferencesError { try base.below("a").setSecret("s", forKey: "k") }?.code == .noStore)
  }
}
