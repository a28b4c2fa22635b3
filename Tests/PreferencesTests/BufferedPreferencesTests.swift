import Foundation
import Preferences
import PreferencesOperators
import Synchronization
import Testing

struct BufferedPreferencesTests {
  @Test func `entries of a dictionary are kept, also by a composite of a file`() async throws {
    for _ in 0..<8 {
      let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).json").path
      defer { try? FileManager.default.removeItem(atPath: path) }
      try Data(#"{"server":{"host":"a"}}"#.utf8).write(to: URL(fileURLWithPath: path))
      let file = try JSONPreferences(at: path)
      let buffer = BufferedPreferences(CompositePreferences([file]))
      try await buffer.set(["server": ["host": "h"], "server.port": 1, "server.next": 2])
      try await buffer.commit()
      #expect(try file.value(forKey: "server") == ["host": "h", "port": 1, "next": 2])
    }
  }

  @Test func `a composite explains what it finds inside a collected value`() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).json").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(#"{"server":{"port":1}}"#.utf8).write(to: URL(fileURLWithPath: path))
    let buffer = BufferedPreferences(try JSONPreferences(at: path))
    let settings = CompositePreferences([buffer])
    func answer() throws -> String { "\(try settings.explain("server.port"))" }
    try buffer.removeValue(forKey: "server")
    #expect(try settings.value(forKey: "server.port") == nil)
    #expect(try answer().contains("absent"))
    try buffer.set(["port": 2], forKey: "server")
    #expect(try settings.value(forKey: "server.port") == 2)
    #expect(try answer().contains("answers (integer)"))
  }

  let base: DictionaryPreferences = ["a": 1, "b": 2]

  @Test func `item 16: the store is untouched before the commit`() throws {
    let buffer = BufferedPreferences(base)
    try buffer.set(9, forKey: "a")
    try buffer.removeValue(forKey: "b")
    try buffer.set(["c": 3])
    #expect(try buffer.integer(forKey: "a") == 9)
    #expect(try buffer.keys() == ["a", "c"])
    #expect(try buffer.value(forKey: "b") == nil)
    #expect(base.map(\.key) == ["a", "b"])
    #expect(try base.integer(forKey: "a") == 1)
    #expect(buffer.isClean == false)
  }

  @Test func `item 16: a commit carries sets and removals`() throws {
    let buffer = BufferedPreferences(base)
    try buffer.set(9, forKey: "a")
    try buffer.removeValue(forKey: "b")
    try buffer.commit()
    #expect(buffer.isClean)
    #expect(base.keys() == ["a"])
    #expect(try base.integer(forKey: "a") == 9)
  }

  @Test func `item 16: a rollback restores`() throws {
    let buffer = BufferedPreferences(base)
    try buffer.set(9, forKey: "a")
    try buffer.removeAll()
    try buffer.set(5, forKey: "c")
    buffer.rollback()
    #expect(buffer.isClean)
    #expect(try buffer.integer(forKey: "a") == 1)
    #expect(try buffer.keys() == ["a", "b"])
    try buffer.commit()
    #expect(base.keys() == ["a", "b"])
  }

  @Test func `item 24: removing all is carried by the commit, before what was set afterwards`() throws {
    let buffer = BufferedPreferences(base)
    try buffer.set(1, forKey: "x")
    try buffer.removeAll()
    try buffer.set(3, forKey: "c")
    #expect(try buffer.keys() == ["c"])
    #expect(try buffer.value(forKey: "a") == nil)
    #expect(base.keys() == ["a", "b"])
    try buffer.commit()
    #expect(base.keys() == ["c"])
  }

  @Test func `item 16: what a store refuses is still collected, all of it`() throws {
    let failing = RecordPreferences(keys: { [] }, get: { _ in nil }) { _, key in
      if key == "b" { throw FailingPreferences.Locked() }
    }
    let buffer = BufferedPreferences(failing)
    try buffer.set(1, forKey: "a")
    try buffer.set(2, forKey: "b")
    try buffer.set(3, forKey: "c")
    #expect(throws: FailingPreferences.Locked.self) { try buffer.commit() }
    #expect(try buffer.keys() == ["a", "b", "c"])
    #expect(buffer.isClean == false)
  }

  @Test func `a commit keeps the order in which changes were made`() throws {
    let written = Mutex<[String]>([])
    let record = RecordPreferences(keys: { [] }, get: { _ in nil }) { _, key in written.withLock { $0.append(key) } }
    let buffer = BufferedPreferences(record)
    for key in ["c", "a", "b", "c"] { try buffer.set(1, forKey: key) }
    try buffer.commit()
    #expect(written.withLock(\.self) == ["a", "b", "c"])
  }

  @Test func `NaN is committed once`() throws {
    let buffer = BufferedPreferences(base)
    try buffer.set(.double(.nan), forKey: "a")
    try buffer.commit()
    #expect(buffer.isClean)
  }

  @Test func `a removal of nothing, an unreadable value and what is set after a removal of all are not compared`()
    throws
  {
    let buffer = BufferedPreferences(base)
    try buffer.removeValue(forKey: "new")
    try base.set(5, forKey: "new")
    #expect(try buffer.commit() == .visible)
    #expect(try base.contains("new") == false)

    try buffer.removeAll()
    try buffer.set(3, forKey: "a")
    try base.set(7, forKey: "a")
    #expect(try buffer.commit() == .visible)
    #expect(try base.dictionary() == ["a": 3])

    let written = Mutex<[String]>([])
    let unreadable = BufferedPreferences(
      RecordPreferences(keys: { [] }, get: { _ in throw FailingPreferences.Locked() }) { _, key in
        written.withLock { $0.append(key) }
      })
    try unreadable.set(1, forKey: "a")
    #expect(try unreadable.commit() != .conflict)
    #expect(written.withLock(\.self) == ["a"])
  }

  @Test func `item 33: over a composite, a secret and a plain value of one name are two`() throws {
    let sealed = SealedPreferences()
    let buffer = BufferedPreferences(CompositePreferences([base, sealed.unclaimed]))
    try buffer.set("plain", forKey: "k")
    try buffer.setSecret("secret", forKey: "k")
    #expect(try buffer.value(forKey: "k") == "plain")
    #expect(try buffer.secretValue(forKey: "k") == "secret")
    try buffer.commit()
    #expect(try base.string(forKey: "k") == "plain")
    #expect(try sealed.base.string(forKey: "k") == "secret")
  }

  @Test func `item 33: a buffered plain value is never returned for a secret key`() throws {
    let buffer = BufferedPreferences(CompositePreferences([base, SealedPreferences().unclaimed]))
    try buffer.set("plain", forKey: "k")
    #expect(try buffer.secretValue(forKey: "k") == nil)
    try buffer.set("by name", forKey: "l")
    #expect(try buffer.secretValue(forKey: "l") == nil)
    let plain = BufferedPreferences(base)
    try plain.set("by name", forKey: "l")
    #expect(try plain.secretValue(forKey: "l") == nil)
    #expect(preferencesError { try plain.setSecret("s", forKey: "k") }?.code == .noStore)
  }

  @Test func `a secret that waits does not hide a plain value of its name`() throws {
    let buffer = BufferedPreferences(CompositePreferences([base, SealedPreferences().unclaimed]))
    try buffer.setSecret("secret", forKey: "a")
    #expect(try buffer.value(forKey: "a") == 1)
  }

  @Test func `a bad name is refused when it is written, and nothing of a merge is collected`() throws {
    let buffer = BufferedPreferences(base)
    #expect(preferencesError { try buffer.set(["x": 1, "": 2]) }?.code == .invalidKey)
    #expect(buffer.isClean)
  }

  @Test func `changes notify observers when they are made, and those underneath too`() throws {
    let buffer = BufferedPreferences(base)
    let received = Mutex<[Set<String>?]>([])
    let observation = buffer.observe { change in received.withLock { $0.append(change.keys) } }
    try buffer.set(5, forKey: "a")
    try base.set(6, forKey: "b")
    buffer.rollback()
    observation.invalidate()
    #expect(received.withLock(\.self) == [["a"], ["b"], nil])
  }

  @Test func `item 34: what is written under a claimed name is a secret before the commit, too`() throws {
    let sealed = SealedPreferences()
    let preferences = CompositePreferences([sealed.claiming(.prefix("in.")), DictionaryPreferences()])
    for (base, key) in [
      (preferences, "in.token"), (preferences.below("in."), "token"), (CompositePreferences([preferences]), "in.token"),
    ] as [(any PreferencesStore, String)] {
      let buffer = BufferedPreferences(base)
      try buffer.set(.string(sentinel), forKey: key)
      let plain = DictionaryPreferences()

      #expect(try buffer.dictionary() == [key: .redacted])
      #expect(try DictionaryPreferences(copying: buffer).keys() == [])
      #expect(preferencesError { try plain += buffer }?.code == .noStore)
      #expect(plain.keys() == [])
      #expect(try buffer.string(forKey: key) == sentinel)
    }
  }

  @Test func `what is written under a name that no layer claims is no secret`() throws {
    let preferences = CompositePreferences(
      [SealedPreferences().unclaimed, DictionaryPreferences()], writeMode: .allStores)
    let buffer = BufferedPreferences(preferences)

    try buffer.set("text", forKey: "motd")

    #expect(try buffer.dictionary() == ["motd": "text"])
    #expect(try buffer.value(for: PreferenceKey<String?>("motd")) == "text")
  }

  @Test func `a commit and writes of several keys return what hides them`() throws {
    let (fixed, base) = (FixedPreferences(content: ["port": 1]), DictionaryPreferences())
    let layers = CompositePreferences([fixed, base])
    let buffer = BufferedPreferences(layers)
    try buffer.set(["port": 2])
    #expect(try buffer.commit() == .shadowed(by: "fixed"))
    #expect(try layers.set(["port": 3]) == .shadowed(by: "fixed"))
    #expect(try layers.reset([PreferenceKey("port", default: 0)]) == .shadowed(by: "fixed"))
    #expect(try base.removeAll() == .visible)
  }

  @Test func `over a file, a collected value is found by the names inside it and around it`() throws {
    try withTemporaryFolder { folder in
      let file = try JSONPreferences(at: folder + "/a.json", options: .creating)
      try file.set(["server": ["host": "x", "port": 80], "other": 1])
      let buffer = BufferedPreferences(file)
      try buffer.set(81, forKey: "server.port")
      #expect(try buffer.value(forKey: "server") == ["host": "x", "port": 81])
      #expect(try buffer.value(forKey: "server.host") == "x")
      #expect(try buffer.keys() == ["other", "server.host", "server.port"])
      try buffer.set(["host": "y"], forKey: "server")
      #expect(try buffer.value(forKey: "server.host") == "y")
      try buffer.removeAll()
      try buffer.set(["a": 5], forKey: "server")
      #expect(try buffer.value(forKey: "server.a") == 5)
      #expect(try buffer.value(forKey: "server.host") == nil)
      #expect(try file.value(forKey: "server") == ["host": "x", "port": 80])
      try buffer.commit()
      #expect(try file.dictionary() == ["server": ["a": 5]])
    }
  }

  @Test func `over a file, observers of a dictionary and of its entries receive the changes of each other`() throws {
    try withTemporaryFolder { folder in
      let file = try JSONPreferences(at: folder + "/a.json", options: .creating)
      try file.set(["port": 1], forKey: "server")
      let buffer = BufferedPreferences(file)
      let server = PreferenceKey<[String: Int]>("server", default: [:])
      let (servers, ports) = (Received<[String: Int]>(), Received<Int>())
      let observations = [
        buffer.observe(server) { servers.add($0.newValue) }, buffer.observe(.watchedPort) { ports.add($0.newValue) },
      ]
      try buffer.set(2, forKey: "server.port")
      try buffer.set(["port": 3], forKey: "server")
      try buffer.set(1, forKey: "other")
      observations.forEach { $0.invalidate() }
      #expect(servers.all == [["port": 2], ["port": 3]])
      #expect(ports.all == [2, 3])
    }
  }

  @Test func `over a view of a file, the names around a change and inside it change with the commit`() throws {
    try withTemporaryFolder { folder in
      let file = try JSONPreferences(at: folder + "/a.json", options: .creating)
      try file.set(["port": 1], forKey: "server")
      let buffer = BufferedPreferences(CompositePreferences([file]))
      try buffer.set(2, forKey: "server.port")
      #expect(try buffer.value(forKey: "server") == ["port": 1])
      try buffer.commit()
      #expect(try buffer.value(forKey: "server") == ["port": 2])
    }
  }

  /// A change of `server.port` or `server`.
  private struct Change: Sendable, CustomTestStringConvertible {
    let key: String
    let value: PreferenceValue?
    var testDescription: String { "\(key) = \(value.map { "\($0)" } ?? "nil")" }

    static let all: [Self] = [
      ("server.port", 81), ("server.port", nil), ("server.port", ["a": 1]), ("server", ["host": "y"]),
      ("server", ["port": 5]), ("server", "text"), ("server", nil), ("server.port.a", 7),
    ].map { Self(key: $0.0, value: $0.1) }

    func make(in store: any PreferencesStore) throws {
      try store.edit { edits in try edits.set(value, forKey: key) }
    }
  }

  private static let documents: [[String: PreferenceValue]] = [
    [:], ["server": ["host": "x", "port": 80]], ["server": "text"], ["server.port": 80],
    ["server.port": 80, "server": ["host": "x", "port": 1]], ["server": ["port": ["a": 1, "b": 2]]],
  ]

  @Test(arguments: Change.all, Change.all)
  private func `over a file, a commit leaves what the same changes leave without a buffer`(
    _ first: Change, _ second: Change
  ) throws {
    try withTemporaryFolder { folder in
      for (number, document) in Self.documents.enumerated() {
        for (name, third) in [("none", nil), ("port", Change.all[0])] {
          let plain = try JSONPreferences(at: "\(folder)/plain-\(number)-\(name).json", options: .creating)
          let file = try JSONPreferences(at: "\(folder)/file-\(number)-\(name).json", options: .creating)
          for store in [plain, file] { for (key, value) in document { try store.set(value, forKey: key) } }
          let buffer = BufferedPreferences(file)
          for change in [first, second, third].compactMap(\.self) {
            try change.make(in: plain)
            try change.make(in: buffer)
            // What a reader of the buffer sees is what a commit stores.
            for key in ["server", "server.port", "server.host", "server.port.a"] {
              #expect(try buffer.value(forKey: key) == plain.value(forKey: key), "\(key) in \(document)")
            }
          }
          #expect(try buffer.commit() == .visible)
          // What was removed and set again may be in the dictionary or beside it, where its name finds it all the same.
          let isSetAgain = third != nil || first.key == second.key && first.value == nil
          let keys = ["server.port", "server.host"] + (isSetAgain ? [] : ["server", "server.port.a"])
          for key in keys {
            #expect(try file.value(forKey: key) == plain.value(forKey: key), "\(key) in \(document)")
          }
        }
      }
    }
  }

  @Test func `over a file, many changes of many names are committed as they were made`() throws {
    try withTemporaryFolder { folder in
      let plain = try JSONPreferences(at: folder + "/plain.json", options: [.creating, .savingExplicitly])
      let buffer = BufferedPreferences(try JSONPreferences(at: folder + "/file.json", options: .creating))
      for round in 0..<40 {
        for store in [plain, buffer] as [any PreferencesStore] {
          for number in 0..<20 { try store.set(round, forKey: "name \(number)") }
          if round % 3 == 0 { try store.removeValue(forKey: "name 3") }
          try store.set(["inner \(round)": 1], forKey: "name 5")
          try store.set(round, forKey: "name 5.inner")
        }
      }
      #expect(try buffer.commit() == .visible)
      #expect(try buffer.base.dictionary() == plain.dictionary())
    }
  }

  @Test func `over a view of a file, a dictionary that is set last replaces its entries`() throws {
    try withTemporaryFolder { folder in
      let file = try JSONPreferences(at: folder + "/a.json", options: .creating)
      try file.set(["shop": ["server": ["host": "x", "port": 80]]])
      let buffer = BufferedPreferences(CompositePreferences([EnvironmentPreferences(), file.below("shop.")]))
      try buffer.set(81, forKey: "server.port")
      try buffer.set(["host": "y"], forKey: "server")
      #expect(try buffer.commit() == .visible)
      #expect(try file.value(forKey: "shop") == ["server": ["host": "y"]])
    }
  }

  @Test func `a commit over a change that was made meanwhile is a conflict, and writes nothing`() throws {
    let buffer = BufferedPreferences(base)
    try buffer.set(9, forKey: "a")
    try buffer.set(8, forKey: "c")
    try base.set(5, forKey: "a")
    #expect(try buffer.commit() == .conflict)
    #expect(base.keys() == ["a", "b"])
    #expect(try base.integer(forKey: "a") == 5)
    #expect(!buffer.isClean)
    buffer.rollback()
    try buffer.set(9, forKey: "a")
    #expect(try buffer.commit() == .visible)
    #expect(try base.integer(forKey: "a") == 9)
    try buffer.set(10, forKey: "a")
    try buffer.commit()
    #expect(try base.integer(forKey: "a") == 10)
  }

  @Test func `a commit over a change of another process is a conflict`() throws {
    try withTemporaryFolder { folder in
      let file = try JSONPreferences(at: folder + "/a.json", options: .creating)
      try file.set(1, forKey: "a")
      let buffer = BufferedPreferences(file)
      try buffer.set(2, forKey: "a")
      try JSONPreferences(at: folder + "/a.json").set(3, forKey: "a")
      #expect(try buffer.commit() == .conflict)
      #expect(try JSONPreferences(at: folder + "/a.json").integer(forKey: "a") == 3)
    }
  }
}
