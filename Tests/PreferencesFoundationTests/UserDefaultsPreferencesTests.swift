import Foundation
import Glibc
import PreferencesOperators
import Preferences
import PreferencesFoundation
import SyncFaulting
import Synchronization
import Testing

/// The values of a suite, before and after it was read again. A suite that is a path is kept there.
struct UserDefaultsPreferencesTests {
  static let values: [String: PreferenceValue] = [
    "yes": true, "no": false, "one": 1, "real": 1.0, "half": 0.1, "minusZero": -0.0, "infinity": .double(.infinity),
    "minusInfinity": .double(-.infinity), "greatest": .double(.greatestFiniteMagnitude),
    "least": .double(.leastNonzeroMagnitude), "minimum": .integer(.min), "maximum": .integer(.max),
    "unsigned": .unsignedInteger(.max), "above": .unsignedInteger(1 << 63), "small unsigned": .unsignedInteger(1),
    "date": .date(Date(timeIntervalSinceReferenceDate: 725_857_445)),
    "exact date": .date(Date(timeIntervalSinceReferenceDate: 725_857_445.123_456_7)), "far date": .date(.distantFuture),
    "past date": .date(.distantPast), "data": .data(Data((0...255).map { UInt8($0) })), "empty data": .data(Data()),
    "https": .url(URL(string: "https://example.com/a%20b?c=d&e#f")!), "file": .url(URL(string: "file:///a/b")!),
    "relative": .url(URL(string: "../a?b")!), "text": "<&>\"' \\/ é e\u{301} 🦊\t\r\n\u{2028}", "empty": "",
    "list": [1, true, 1.0, ["a": []], .data(Data([1]))], "empty list": [], "empty dictionary": [:],
    "nested": ["a.b": 1, "": "x", "é🦊": ["deep": .unsignedInteger(5), "url": .url(URL(string: "a:b")!)]],
    "like a mark": ["$url": "a"],
  ]

  @Test func `items 4 to 7 and 18: every value comes back with its type, before and after it was read again`() throws {
    try withTemporaryFolder { folder in
      try UserDefaultsPreferences(suiteName: folder + "/a").set(Self.values)
      // A new object: nothing of the first is left.
      let again = try UserDefaultsPreferences(suiteName: folder + "/a")
      for (key, value) in Self.values { #expect(try again.value(forKey: key) == value, "\(key)") }
      #expect(try again.double(forKey: "minusZero")?.sign == .minus)
      #expect(try again.keys() == Self.values.keys.sorted())
      for (key, value) in Self.values {
        try again.set(value, forKey: "again")
        #expect(try again.value(forKey: "again") == value, "\(key)")
      }
    }
  }

  /// XML that this package reads and Foundation does not.
  @Test(arguments: [
    "<data/>", "<integer> 12\n</integer>", "<string>a<!-- c -->b</string>", "<date>2001-01-01T00:00:00.5Z</date>",
    "<real>0x1p3</real>", "<real>0x10</real>",
  ])
  func `a write over a file that Foundation cannot read loses nothing`(element: String) async {
    // In a process of its own: Foundation writes what all its objects have waiting when any one is synchronized.
    await #expect(processExitsWith: .success) { [element = element as String] in
      try UserDefaultsPreferencesTests.write(over: element)
    }
  }

  private static func write(over element: String) throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.plist"
      let entries = "<key>odd</key>\(element)<key>other</key><string>kept</string>"
      let text = "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict>\(entries)</dict></plist>"
      try Data(text.utf8).write(to: URL(filePath: path))
      let foundation = try #require(UserDefaults(suiteName: folder + "/a"))
      foundation.set("pending", forKey: "foundation")
      // Read or refused, as a whole.
      let error = preferencesError { try UserDefaultsPreferences(suiteName: folder + "/a").set("new", forKey: "own") }
      let left = try Data(contentsOf: URL(filePath: path))
      guard error == nil else { return #expect(left == Data(text.utf8)) }
      let again = try UserDefaultsPreferences(suiteName: folder + "/a")
      #expect(try again.string(forKey: "other") == "kept")
      #expect(try again.contains("odd"))
      #expect(try again.string(forKey: "own") == "new")
      #expect(try PropertyListSerialization.propertyList(from: left, format: nil) is [String: Any])
    }
  }

  @Test func `empty collections are not nested in each other, and Foundation's pending changes are read`() async {
    await #expect(processExitsWith: .success) { try UserDefaultsPreferencesTests.readBesideEmptyCollections() }
  }

  private static func readBesideEmptyCollections() throws {
    try withTemporaryFolder { folder in
      let empty = ["<array/>", "<dict/>", "<array />"]
      let entries = (0..<300).map { "<key>\($0)</key>\(empty[$0 % empty.count])" }.joined()
      let text = "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict>\(entries)</dict></plist>"
      try Data(text.utf8).write(to: URL(filePath: folder + "/a.plist"))
      let foundation = try #require(UserDefaults(suiteName: folder + "/a"))
      foundation.set("pending", forKey: "foundation")
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      #expect(try store.string(forKey: "foundation") == "pending")
      #expect(try store.array(forKey: "0") == [])
    }
  }

  @Test func `item 6: NaN comes back as NaN`() throws {
    try withTemporaryFolder { folder in
      try UserDefaultsPreferences(suiteName: folder + "/a").set(Double.nan, forKey: "k")
      #expect(try UserDefaultsPreferences(suiteName: folder + "/a").double(forKey: "k")?.isNaN == true)
    }
  }

  @Test func `item 7: a URL relative to another is stored as the whole, and is that at once`() throws {
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      let url = try #require(URL(string: "b", relativeTo: URL(string: "https://example.com/a")))
      try store.set(url, forKey: "k")
      #expect(try store.url(forKey: "k") == URL(string: "https://example.com/b"))
    }
  }

  @Test func `item 4: a value that Foundation takes for the same as the old one is written`() throws {
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      let names: [PreferenceValue] = [["caf\u{E9}": 1], ["cafe\u{301}": 1]]
      let numbers: [PreferenceValue] = [1, 1.0, true, 0, 0.0, -0.0, .unsignedInteger(0)]
      for value in numbers + names {
        try store.set(value, forKey: "k")
        let again = try PropertyListPreferences(at: store.path).value(forKey: "k")
        #expect(again?.isIdentical(to: value) == true, "\(value)")
      }
    }
  }

  @Test func `item 18: dots, spaces and other letters are part of a key, which is one entry`() throws {
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      let keys = ["server.port", "a b", "é🦊", ".", "$null", "<&>", String(repeating: "x", count: 1_024)]
      try store.set(["inner": 1], forKey: "server")
      for key in keys { try store.set("v", forKey: key) }
      #expect(try store.keys() == (keys + ["server"]).sorted())
      #expect(try store.value(forKey: "server.inner") == nil)
      #expect(try store.value(forKey: "server") == ["inner": 1])
      for key in ["", "a\0", "\u{1B}", String(repeating: "x", count: 1_025)] {
        #expect(preferencesError { try store.set(1, forKey: key) }?.code == .invalidKey)
        #expect(preferencesError { _ = try store.value(forKey: key) }?.code == .invalidKey)
        #expect(preferencesError { try store.removeValue(forKey: key) }?.code == .invalidKey)
      }
    }
  }

  @Test func `item 8: every way of setting nil removes the key at once`() throws {
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      let key = PreferenceKey<String?>("k")
      @StoredPreference("k", in: store) var wrapped: String?
      for remove in [
        { try store.set(nil, for: key) }, { try store.reset(key) }, { store[key] = nil },
        { wrapped = nil }, { try store.removeValue(forKey: "k") },
      ] as [() throws -> Void] {
        try store.set("v", for: key)
        try remove()
        #expect(try store.contains("k") == false)
        #expect(try PropertyListPreferences(at: store.path).contains("k") == false)
      }
    }
  }

  @Test(arguments: [Double.nan, .infinity])
  func `item 9: a date that is no moment is refused, and changes nothing`(seconds: Double) throws {
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      try store.set(sentinel, forKey: "k")
      let before = try Data(contentsOf: URL(filePath: store.path))
      let error = preferencesError { try store.set(.date(Date(timeIntervalSinceReferenceDate: seconds)), forKey: "k") }
      #expect(error?.code == .unsupportedByFormat)
      #expect(error?.message.contains("key \"k\"") == true)
      #expect(try store.string(forKey: "k") == sentinel)
      #expect(try Data(contentsOf: URL(filePath: store.path)) == before)
    }
  }

  @Test(arguments: ["a\0b", "\u{1B}[31m", "\u{FFFE}"])
  func `item 18: text that XML cannot hold is kept, by us and by Foundation's object`(text: String) throws {
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      try store.set(UserDefaultsPreferencesTests.values)
      try store.set(text, forKey: "control")
      try store.set([text: [.string(text)]], forKey: "inside")
      func expectAll(_ reader: some PreferencesReader) throws {
        #expect(try reader.string(forKey: "control") == text)
        #expect(try reader.value(forKey: "inside") == [text: [.string(text)]])
        for (key, value) in Self.values { #expect(try reader.value(forKey: key) == value, "\(key)") }
      }
      try expectAll(store)
      try expectAll(try UserDefaultsPreferences(suiteName: folder + "/a"))
      let foundation = try #require(UserDefaults(suiteName: folder + "/a"))
      #expect(foundation.string(forKey: "control") == text)
      // Foundation writes XML that is none, and reads it again.
      foundation.set("theirs", forKey: "beside")
      foundation.synchronize()
      try store.reload()
      try expectAll(store)
      try store.set(1, forKey: "ours")
      try expectAll(try UserDefaultsPreferences(suiteName: folder + "/a"))
      #expect(foundation.string(forKey: "beside") == "theirs")
    }
  }

  @Test func `item 9: nesting that could not be read again is refused`() throws {
    let nested = (0..<200).reduce(PreferenceValue.array([])) { inner, _ in .array([inner]) }
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      #expect(preferencesError { try store.set(nested, forKey: "k") }?.code == .limitExceeded)
      #expect(try store.keys() == [])
    }
  }

  @Test func `item 24: setting a dictionary merges, and one value that cannot be stored keeps out all`() throws {
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      try store.set(["x": 1, "y": 2])
      try store.set(["y": 3, "z": 4])
      let error = preferencesError {
        try store.set(["x": 9, "bad": .date(Date(timeIntervalSinceReferenceDate: .nan))])
      }
      #expect(error?.code == .unsupportedByFormat)
      #expect(try store.integer(forKey: "x") == 1)
      #expect(try store.integer(forKey: "y") == 3)
      #expect(try store.keys() == ["x", "y", "z"])
    }
  }

  @Test func `neither description, dump nor error shows a value`() throws {
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      try store.set(sentinel, forKey: "k")
      #expect(store.description == "user defaults \(folder)/a")
      #expect(!dumped(store).contains(sentinel))
      try "<plist><dict><key>k</key><string>\(sentinel)</strong>".write(
        toFile: store.path, atomically: true, encoding: .utf8)
      try settle(store.path)
      let error = try #require(preferencesError { try store.reload() })
      #expect(error.code == .malformed)
      #expect(!"\(error) \(dumped(error))".contains(sentinel))
    }
  }

  // MARK: The file

  @Test(arguments: [
    "NSGlobalDomain", "NSArgumentDomain", "NSRegistrationDomain", ".GlobalPreferences", "", "../a", "a/../../b", "a\0",
    String(repeating: "x", count: 1_025),
  ])
  func `a name that is no suite's is refused`(name: String) {
    #expect(preferencesError { _ = try UserDefaultsPreferences(suiteName: name) }?.code == .invalidKey)
  }

  @Test func `item 18: a new file and its folder are the user's alone, and the file is Foundation's`() throws {
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/x/y/a")
      #expect(!FileManager.default.fileExists(atPath: folder + "/x"))
      try store.set(1, forKey: "k")
      #expect(store.path == folder + "/x/y/a.plist")
      for (path, mode) in [("/x", 0o700), ("/x/y", 0o700), ("/x/y/a.plist", 0o600)] {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder + path)
        #expect(attributes[.posixPermissions] as? Int == mode, "\(path)")
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/x/y") == ["a.plist"])
    }
  }

  @Test(arguments: ["not a property list", "<plist><dict><key>a</key>", "bplist00", "<plist><array/></plist>"])
  func `item 11: a damaged file is refused, and neither we nor Foundation replace it`(content: String) throws {
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      try store.set("old", forKey: "k")
      try content.write(toFile: store.path, atomically: true, encoding: .utf8)
      try settle(store.path)
      for change in [
        { try store.set(1, forKey: "k") }, { try store.removeValue(forKey: "k") }, { try store.removeAll() },
        { try store.reload() }, { _ = try UserDefaultsPreferences(suiteName: folder + "/a") },
      ] as [() throws -> Void] {
        let error = preferencesError(change)
        #expect(error?.code == .malformed)
        #expect(error?.message.contains("a.plist") == true)
      }
      #expect(try String(contentsOfFile: store.path, encoding: .utf8) == content)
      #expect(try store.string(forKey: "k") == "old")
    }
  }

  @Test func `item 11: what is no regular file, or too large, is refused`() throws {
    try withTemporaryFolder { folder in
      try FileManager.default.createDirectory(atPath: folder + "/a.plist", withIntermediateDirectories: true)
      #expect(preferencesError { _ = try UserDefaultsPreferences(suiteName: folder + "/a") }?.code == .unreadable)
      #expect(mkfifo(folder + "/b.plist", 0o600) == 0)
      #expect(preferencesError { _ = try UserDefaultsPreferences(suiteName: folder + "/b") }?.code == .unreadable)
      let long = String(repeating: "x", count: 300)
      #expect(preferencesError { _ = try UserDefaultsPreferences(suiteName: long) }?.code == .unreadable)
      let store = try UserDefaultsPreferences(suiteName: folder + "/c")
      try store.set("old", forKey: "k")
      let large = Data(repeating: 0, count: PropertyListPreferences.maximumByteCount)
      #expect(preferencesError { try store.set(large, forKey: "k") }?.code == .limitExceeded)
      #expect(try UserDefaultsPreferences(suiteName: folder + "/c").string(forKey: "k") == "old")
    }
  }

  @Test func `item 18: a write that cannot reach the disk is thrown, and the old values stay`() throws {
    try withTemporaryFolder { folder in
      try "a file".write(toFile: folder + "/file", atomically: true, encoding: .utf8)
      // Below a file there is no folder, not even for root.
      let store = try UserDefaultsPreferences(suiteName: folder + "/file/a")
      #expect(try store.keys() == [])
      #expect(preferencesError { try store.set(1, forKey: "k") }?.code == .unwritable)
      #expect(preferencesError { _ = try store.watch() }?.code == .unreadable)
      #expect(try store.contains("k") == false)
    }
  }

  @Test func `a write whose folder cannot be synced throws, and its values are read and observed`() throws {
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      try store.set("old", forKey: "k")
      let changes = Mutex<[PreferenceChange]>([])
      let observation = store.observe { change in changes.withLock { $0.append(change) } }
      let error = SyncFault.with {
        SyncFault.isDirectory($0) ? EIO : nil
      } during: {
        preferencesError { try store.set("new", forKey: "k") }
      }
      #expect(error?.code.rawValue == "durabilityUnknown")
      #expect(try store.string(forKey: "k") == "new")
      #expect(changes.withLock { $0.count == 1 && $0[0].concerns("k") })
      withExtendedLifetime(observation) {}
    }
  }

  @Test func `an empty file, as Foundation leaves it when it is killed, has no values`() throws {
    try withTemporaryFolder { folder in
      try Data().write(to: URL(filePath: folder + "/a.plist"))
      try settle(folder + "/a.plist")
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      #expect(try store.keys() == [])
      try store.set(1, forKey: "k")
      #expect(try UserDefaultsPreferences(suiteName: folder + "/a").integer(forKey: "k") == 1)
    }
  }

  @Test(arguments: [0, 200])
  func `a file that Foundation is writing in place is read when it is whole`(count: Int) throws {
    try withTemporaryFolder { folder in
      let path = try UserDefaultsPreferences(suiteName: folder + "/a").path
      try UserDefaultsPreferences(suiteName: folder + "/a").set(1, forKey: "k")
      let whole = try Data(contentsOf: URL(filePath: path))
      try whole.prefix(count).write(to: URL(filePath: path))
      try FileManager.default.setAttributes([.modificationDate: Date.distantFuture], ofItemAtPath: path)
      let pauses = Atomic(0)
      let file = try UserDefaultsFile(suite: folder + "/a") {
        if pauses.add(1, ordering: .relaxed).newValue == 3 {
          #expect(throws: Never.self) { try whole.write(to: URL(filePath: path)) }
        }
      }
      #expect(try file.read() == ["k": 1])
      #expect(pauses.load(ordering: .relaxed) == 3)
    }
  }

  @Test func `a file that is never whole is given up`() throws {
    try withTemporaryFolder { folder in
      try Data("<plist>".utf8).write(to: URL(filePath: folder + "/a.plist"))
      try FileManager.default.setAttributes([.modificationDate: Date.distantFuture], ofItemAtPath: folder + "/a.plist")
      let pauses = Atomic(0)
      let file = try UserDefaultsFile(suite: folder + "/a") { pauses.add(1, ordering: .relaxed) }
      #expect(preferencesError { _ = try file.read() }?.code == .unreadable)
      #expect((10...1_000).contains(pauses.load(ordering: .relaxed)))
    }
  }
}

/// Gives a file a time at which no process is writing it any more.
func settle(_ path: String) throws {
  try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: path)
}
