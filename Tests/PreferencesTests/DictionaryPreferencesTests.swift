import FoundationEssentials
import Preferences
import Testing

struct DictionaryPreferencesTests {
  @Test(arguments: PreferenceValueTests.samples.map(\.1))
  func `every kind of value comes back with its type`(value: PreferenceValue) throws {
    let store = DictionaryPreferences()
    #expect(try store.set(value, forKey: "k") == .visible)
    #expect(try store.value(forKey: "k") == value)
    #expect(try store.value(forKey: "k")?.kind == value.kind)
  }

  @Test func `item 10: a store is made of texts, of values of one type, and of values of any`() throws {
    let texts: [String: String] = ["a": "1", "b": "two"]
    #expect(try DictionaryPreferences(texts).dictionary() == ["a": "1", "b": "two"])
    #expect(
      try DictionaryPreferences(["a": [1, 2]] as [String: [UInt8]]).value(forKey: "a", as: [Int].self) == [1, 2])
    let date = Date(timeIntervalSinceReferenceDate: 1)
    let any: [String: Any] = [
      "text": "t", "flag": true, "count": 1, "share": 1.0, "date": date, "list": [1, "a", ["k": UInt8(1)]] as [Any],
      "sub": ["deep": [true]] as [String: Any], "empty": [Any](),
    ]
    #expect(
      try DictionaryPreferences(converting: any).dictionary() == [
        "text": "t", "flag": true, "count": 1, "share": 1.0, "date": .date(date),
        "list": [1, "a", ["k": .unsignedInteger(1)]], "sub": ["deep": [true]], "empty": [],
      ])
  }

  @Test(arguments: PreferenceValueTests.samples.map(\.1))
  func `item 10: every kind of value goes through any and comes back`(value: PreferenceValue) throws {
    let store = DictionaryPreferences(["list": [value], "sub": ["deep": value], "top": value])
    let again = try DictionaryPreferences(converting: try store.anyDictionary())
    for name in ["list", "sub", "top"] {
      let stored = try #require(try store.value(forKey: name))
      #expect(try again.value(forKey: name)?.isIdentical(to: stored) == true, "\(name)")
    }
  }

  @Test func `item 10: other code gets the types that it expects, and no secret`() throws {
    let values = try DictionaryPreferences(["port": 8080, "hosts": ["a", "b"], "tls": ["on": true]]).anyDictionary()
    #expect(values["port"] as? Int == 8080)
    #expect(values["hosts"] as? [String] == ["a", "b"])
    #expect((values["tls"] as? [String: Any])?["on"] as? Bool == true)
    let sealed = SealedPreferences()
    try sealed.set(.string(sentinel), forKey: "token")
    #expect(try sealed.anyDictionary()["token"] as? String != sentinel)
    #expect(try sealed.anyDictionary(revealingSecrets: true)["token"] as? String == sentinel)
  }

  @Test func `item 10: a value of any type that cannot be stored is named, without the value`() {
    struct Window: CustomStringConvertible { var description: String { sentinel } }
    let error = preferencesError {
      _ = try DictionaryPreferences(converting: ["ui": ["windows": [1, Window()] as [Any]] as [String: Any]])
    }
    #expect(error?.code == .notStorable)
    #expect(error?.message == "key \"ui\": entry \"windows\": element 1: Window has no stored form")
    let missing = preferencesError { _ = try DictionaryPreferences(converting: ["n": Int?.none as Any]) }
    #expect(missing?.code == .notStorable)
    #expect(missing?.message.hasPrefix("key \"n\": ") == true)
  }

  @Test func `item 10: a value of any type that is nested too deeply is refused with its key`() throws {
    func nested(_ levels: Int) -> [Any] { (1..<levels).reduce([] as [Any]) { inner, _ in [inner] } }
    let error = preferencesError { _ = try DictionaryPreferences(converting: ["a": nested(129), "b": 1]) }
    #expect(error?.code == .limitExceeded)
    #expect(error?.message.hasPrefix("key \"a\": ") == true)
    #expect(try DictionaryPreferences(converting: ["a": nested(128)]).keys() == ["a"])
  }

  @Test func `a getter of another type throws and leaves the value`() throws {
    let store = DictionaryPreferences(["k": 1])
    #expect(preferencesError { _ = try store.bool(forKey: "k") }?.code == .typeMismatch)
    #expect(preferencesError { _ = try store.string(forKey: "k") }?.code == .typeMismatch)
    #expect(try store.integer(forKey: "k") == 1)
  }

  @Test func `plain Swift values can be set`() throws {
    let store = DictionaryPreferences()
    let token = "t"
    try store.set(token, forKey: "token")
    try store.set(UInt8(5), forKey: "small")
    try store.set(["a", "b"], forKey: "list")
    #expect(try store.value(forKey: "token") == "t")
    #expect(try store.value(forKey: "small") == .unsignedInteger(5))
    #expect(try store.value(forKey: "list") == ["a", "b"])
  }

  @Test func `of a repeated key in the literal the last value counts`() throws {
    let store: DictionaryPreferences = ["a": 1, "a": 2]
    #expect(try store.integer(forKey: "a") == 2)
  }

  @Test func `an unreachable name is not listed`() {
    #expect(DictionaryPreferences(["": 1, "a\n": 2, "c": 3]).keys() == ["c"])
  }

  @Test func `all holders share one set of values`() async throws {
    let store = DictionaryPreferences()
    await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for index in 0..<100 { try store.set(task, forKey: "\(task).\(index)") }
        }
      }
    }
    #expect(store.keys().count == 800)
  }

  @Test func `neither description nor dump shows a value`() {
    let store = DictionaryPreferences(["k": .string(sentinel)], name: "defaults")
    #expect("\(store)" == "defaults")
    #expect(!dumped(store).contains(sentinel))
    #expect(!String(reflecting: store).contains(sentinel))
  }

  @Test(arguments: FileCase.allCases)
  func `item 10: what is written to a file can be loaded`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      let store = DictionaryPreferences(FilePreferencesTests.values)
      switch file {
      case .json: try store.write(to: folder + "/a", format: JSONFormat(keepingTypes: true))
      case .xml: try store.write(to: folder + "/a", format: PropertyListFormat(.xml, keepingTypes: true))
      case .binary: try store.write(to: folder + "/a", format: PropertyListFormat(.binary, keepingTypes: true))
      }
      let loaded =
        file == .json
        ? try DictionaryPreferences(contentsOf: folder + "/a", format: JSONFormat())
        : try DictionaryPreferences(contentsOf: folder + "/a", format: PropertyListFormat())
      #expect(loaded.keys() == store.keys())
      for (key, value) in store { #expect(try loaded.value(forKey: key) == value, "\(key)") }
    }
  }

  @Test func `item 10: loading fails with a reason`() throws {
    try withTemporaryFolder { folder in
      func code(_ path: String) -> PreferencesError.Code? {
        preferencesError { _ = try DictionaryPreferences(contentsOf: path, format: JSONFormat()) }?.code
      }
      try Data("{".utf8).write(to: URL(filePath: folder + "/broken"))
      #expect(code(folder + "/none") == .notFound)
      #expect(code(folder) == .unreadable)
      #expect(code(folder + "/broken") == .malformed)
    }
  }

  @Test func `an empty file, as touch makes it, is written, and one of another format is left alone`() throws {
    try withTemporaryFolder { folder in
      try Data().write(to: URL(filePath: folder + "/a"))
      let store: DictionaryPreferences = ["a": 2]
      try store.write(to: folder + "/a", format: JSONFormat())
      #expect(try JSONPreferences(at: folder + "/a").integer(forKey: "a") == 2)
      let error = preferencesError { try store.write(to: folder + "/a", format: PropertyListFormat(.xml)) }
      #expect(error?.code == .malformed)
      #expect(try JSONPreferences(at: folder + "/a").integer(forKey: "a") == 2)
    }
  }

  @Test func `item 10: writing fails with a reason and leaves the old file`() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a"
      try DictionaryPreferences(["a": 1]).write(to: path, format: JSONFormat(), isPrivate: true)
      let bad = DictionaryPreferences(["a": .date(Date(timeIntervalSinceReferenceDate: .nan))])
      #expect(preferencesError { try bad.write(to: path, format: JSONFormat()) }?.code == .unsupportedByFormat)
      #expect(preferencesError { try bad.write(to: folder + "/none/a", format: JSONFormat()) }?.code == .unwritable)
      #expect(try DictionaryPreferences(contentsOf: path, format: JSONFormat()).integer(forKey: "a") == 1)
    }
  }

  @Test func `item 10: a copy of a reader is its own, and leaves sealed values where they are`() throws {
    let sealed = SealedPreferences()
    try sealed.set(.string(sentinel), forKey: "password")
    let base: DictionaryPreferences = ["a": 1]
    let composite = CompositePreferences([base, sealed.unclaimed])
    let copy = try DictionaryPreferences(copying: composite)
    try base.set(2, forKey: "a")
    #expect(copy.map(\.key) == ["a"])
    #expect(try copy.integer(forKey: "a") == 1)
    #expect(try DictionaryPreferences(copying: composite, includingSealed: true).string(forKey: "password") == sentinel)
    #expect(try DictionaryPreferences(copying: sealed).keys() == [])
  }

  @Test func `item 10: a store is iterated in the order of its keys`() {
    let store: DictionaryPreferences = ["b": 2, "a": 1, "": 0]
    #expect(store.map(\.key) == ["a", "b"])
    #expect(store.map(\.value) == [1, 2])
  }
}
