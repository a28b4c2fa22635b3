import FoundationEssentials
import Glibc
import Preferences
import Synchronization
import Testing

struct FilePreferencesTests {
  func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

  func write(_ text: String, _ path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

  func mode(_ path: String) throws -> mode_t {
    var status = stat()
    try #require(stat(path, &status) == 0)
    return status.st_mode & 0o7777
  }

  func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  // MARK: Values

  static let values: [String: PreferenceValue] = [
    "yes": true, "one": 1, "real": 1.0, "half": 0.1, "minusZero": -0.0, "infinity": .double(.infinity),
    "minusInfinity": .double(-.infinity), "greatest": .double(.greatestFiniteMagnitude),
    "least": .double(.leastNonzeroMagnitude), "minimum": .integer(.min), "maximum": .integer(.max),
    "unsigned": .unsignedInteger(.max), "small unsigned": .unsignedInteger(1), "zero": .unsignedInteger(0),
    "date": .date(Date(timeIntervalSinceReferenceDate: 725_857_445)),
    "exact date": .date(Date(timeIntervalSinceReferenceDate: 0.1)),
    "old date": .date(Date(timeIntervalSinceReferenceDate: -63_113_904_000)),
    "far date": .date(Date.distantFuture), "farther date": .date(Date(timeIntervalSinceReferenceDate: 1e13)),
    "data": .data(Data((0...255).map { UInt8($0) })), "empty data": .data(Data()),
    "https": .url(URL(string: "https://example.com/a%20b?c=d&e#f")!), "file": .url(URL(string: "file:///a/b")!),
    "relative": .url(URL(string: "../a?b")!),
    "text": "<&>\"' \\/ é e\u{301} 🦊\t\r\n\u{2028}\u{7F}", "empty": "", "list": [1, true, 1.0, ["a": []]],
    "nested": ["a.b": 1, "": "x", "$schema": "s", "é🦊": ["deep": .unsignedInteger(5)]],
    "like a mark": ["$url": "a"], "more like one": ["$$url": ["$data": "b"]], "empty dictionary": [:], "empty list": [],
    "$top": "t", "with space and é": 1,
  ]

  @Test(arguments: FileCase.allCases)
  func `items 4 to 7: every value comes back with its type, before and after it was read again`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a")
      try store.set(Self.values)
      let again = try file.open(folder + "/a")
      for (key, value) in Self.values {
        #expect(try store.value(forKey: key) == value, "\(key)")
        #expect(try again.value(forKey: key) == value, "\(key)")
      }
      #expect(try again.double(forKey: "minusZero")?.sign == .minus)
      let text = "<&>\"' \\/ é e\u{301} 🦊\t\r\n\u{2028}\u{7F}"
      #expect(try again.string(forKey: "text").map { Array($0.utf8) } == Array(text.utf8))
    }
  }

  @Test(arguments: FileCase.allCases)
  func `of edits of an entry and of its dictionary the last one wins, and of a dictionary all are kept`(file: FileCase)
    throws
  {
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a")
      try store.set(["b": 5], forKey: "a")
      try store.edit { edits in
        try edits.set(2, forKey: "a.b")
        try edits.set(["b": 1], forKey: "a")
      }
      #expect(try store.integer(forKey: "a.b") == 1 && store.keys() == ["a.b"])
      try store.edit { edits in
        try edits.set(["b": 1], forKey: "a")
        try edits.set(2, forKey: "a.b")
      }
      #expect(try store.value(forKey: "a") == ["b": 2])
      try store.set(["a": ["c": 3], "a.b": 4, "a.d": 5])
      #expect(try store.value(forKey: "a") == ["b": 4, "c": 3, "d": 5])
    }
  }

  @Test(arguments: FileCase.allCases)
  func `item 6: NaN comes back as NaN`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      try file.open(folder + "/a").set(.double(.nan), forKey: "k")
      #expect(try file.open(folder + "/a").double(forKey: "k")?.isNaN == true)
    }
  }

  @Test(arguments: FileCase.allCases)
  func `item 7: a URL relative to another is stored as the whole, and is that at once`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a")
      let url = try #require(URL(string: "b", relativeTo: URL(string: "https://example.com/a")))
      try store.set(url, forKey: "k")
      #expect(try store.url(forKey: "k") == URL(string: "https://example.com/b"))
      #expect(try file.open(folder + "/a").url(forKey: "k") == URL(string: "https://example.com/b"))
    }
  }

  // Not as arguments: Foundation traps when it describes these.
  @Test(arguments: FileCase.allCases, [Double.nan, .infinity])
  func `item 9: a value that cannot be stored is refused, and changes nothing`(
    file: FileCase, seconds: Double
  ) throws {
    let value = PreferenceValue.date(Date(timeIntervalSinceReferenceDate: seconds))
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a")
      try store.set("old", forKey: "k")
      let before = try bytes(folder + "/a")
      #expect(preferencesError { try store.set(value, forKey: "k") }?.code == .unsupportedByFormat)
      #expect(preferencesError { try store.set([value], forKey: "k") }?.code == .unsupportedByFormat)
      #expect(try store.string(forKey: "k") == "old")
      #expect(try bytes(folder + "/a") == before)
    }
  }

  @Test(arguments: FileCase.allCases)
  func `item 9: nesting that could not be read again is refused when it is written`(file: FileCase) throws {
    func nested(_ depth: Int) -> PreferenceValue {
      (0..<depth).reduce(PreferenceValue.array([])) { inner, _ in .array([inner]) }
    }
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a")
      try store.set(nested(126), forKey: "k")
      #expect(preferencesError { try store.set(nested(128), forKey: "k") }?.code == .limitExceeded)
      #expect(try file.open(folder + "/a").value(forKey: "k") == nested(126))
    }
  }

  @Test func `item 9: text with control characters is refused by XML and kept by the others`() throws {
    for text in ["a\0b", "\u{1B}[31m", "\u{FFFE}"] {
      for file in FileCase.allCases {
        try withTemporaryFolder { folder in
          let store = try file.open(folder + "/a")
          if file == .xml {
            #expect(preferencesError { try store.set(text, forKey: "k") }?.code == .unsupportedByFormat)
            #expect(preferencesError { try store.set([text: 1], forKey: "k") }?.code == .unsupportedByFormat)
            #expect(try store.contains("k") == false)
          } else {
            try store.set(text, forKey: "k")
            try store.set([text: 1], forKey: "d")
            #expect(try file.open(folder + "/a").string(forKey: "k") == text)
            #expect(try file.open(folder + "/a").value(forKey: "d") == [text: 1])
          }
        }
      }
    }
  }

  @Test func `a file that would be too large is refused, and the old one stays`() throws {
    try withTemporaryFolder { folder in
      let store = try FileCase.binary.open(folder + "/a")
      try store.set(1, forKey: "k")
      let limit = PropertyListPreferences.maximumByteCount
      #expect(preferencesError { try store.set(Data(count: limit), forKey: "large") }?.code == .limitExceeded)
      let half = Data(count: limit / 2)
      #expect(preferencesError { try store.set(["a": .data(half), "b": .data(half)]) }?.code == .limitExceeded)
      #expect(try FileCase.binary.open(folder + "/a").keys() == ["k"])
      #expect(try store.keys() == ["k"])
    }
  }

  // MARK: Names with dots

  @Test(arguments: FileCase.allCases)
  func `a value is stored where its name is looked up`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a")
      try store.set(["server": ["port": 1], "flat.name": 2])
      try store.set(8080, forKey: "server.port")
      try store.set("h", forKey: "server.host.name")
      try store.set(3, forKey: "flat.name")
      try store.set(4, forKey: "new.name")
      #expect(try store.value(forKey: "server") == ["port": 8080, "host.name": "h"])
      #expect(try store.keys() == ["flat.name", "new.name", "server.host.name", "server.port"])
      for key in try store.keys() { #expect(try store.contains(key), "\(key)") }
    }
  }

  @Test(arguments: FileCase.allCases)
  func `removing makes a name absent, and takes emptied dictionaries away`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a")
      try store.set(["a.b": 1, "c": 2])
      try store.set(["b": 3], forKey: "a")
      try store.removeValue(forKey: "a.b")
      #expect(try store.value(forKey: "a.b") == nil)
      #expect(try store.keys() == ["c"])
      try store.removeValue(forKey: "a.b")
      #expect(try file.open(folder + "/a").keys() == ["c"])
    }
  }

  @Test(arguments: FileCase.allCases)
  func `item 24: a merge keeps other keys, and removing all empties the file`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a")
      let other = try file.open(folder + "/b")
      try other.set(1, forKey: "k")
      try store.set(["a": 1, "b": 2])
      try store.set(["b": 3, "c": 4])
      #expect(try store.keys() == ["a", "b", "c"])
      #expect(try store.integer(forKey: "b") == 3)
      #expect(preferencesError { try store.set(["d": 1, "": 2]) }?.code == .invalidKey)
      #expect(try store.keys() == ["a", "b", "c"])
      try store.removeAll()
      #expect(try store.keys() == [])
      #expect(try file.open(folder + "/a").keys() == [])
      #expect(try file.open(folder + "/b").keys() == ["k"])
    }
  }

  // MARK: The file

  @Test(arguments: FileCase.allCases)
  func `item 11: a missing file is made by the first write, on request`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      #expect(preferencesError { _ = try file.open(folder + "/a", []) }?.code == .notFound)
      let store = try file.open(folder + "/a")
      #expect(try names(folder) == [])
      try store.removeValue(forKey: "k")
      #expect(try names(folder) == [])
      try store.set(1, forKey: "k")
      #expect(try names(folder) == ["a"])
      #expect(try file.open(folder + "/a", []).integer(forKey: "k") == 1)
    }
  }

  @Test(arguments: FileCase.allCases)
  func `item 11: files that cannot be used have different errors`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      func code(_ name: String, _ options: PreferenceFileOptions = .creating) -> PreferencesError.Code? {
        preferencesError { _ = try file.open(folder + name, options) }?.code
      }
      mkfifo(folder + "/fifo", 0o600)
      try write("{\"a\": \(sentinel)", folder + "/broken")
      #expect(chmod(folder + "/broken", 0o644) == 0)
      #expect(code("/fifo") == .unreadable)
      #expect(code("") == .unreadable)
      #expect(code("/broken") == .malformed)
      #expect(code("/broken", .private) == .exposed)
      #expect(chmod(folder + "/broken", 0o600) == 0)
      #expect(code("/broken", .private) == .malformed)
    }
  }

  @Test(arguments: FileCase.allCases)
  func `item 11: a file that has become unusable is not overwritten`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a", [.creating, .private])
      try store.set(1, forKey: "k")
      try write("broken", folder + "/a")
      #expect(chmod(folder + "/a", 0o600) == 0)
      #expect(preferencesError { try store.set(2, forKey: "k") }?.code == .malformed)
      #expect(preferencesError { try store.removeAll() }?.code == .malformed)
      #expect(try bytes(folder + "/a") == Array("broken".utf8))
      #expect(chmod(folder + "/a", 0o640) == 0)
      #expect(preferencesError { try store.set(2, forKey: "k") }?.code == .exposed)
      #expect(try store.integer(forKey: "k") == 1)
      #expect(try names(folder) == ["a"])
    }
  }

  @Test func `a removed file is not made anew unless requested`() throws {
    try withTemporaryFolder { folder in
      try write("{}", folder + "/a")
      let store = try JSONPreferences(at: folder + "/a")
      unlink(folder + "/a")
      #expect(preferencesError { try store.set(1, forKey: "k") }?.code == .notFound)
      #expect(try names(folder) == [])
    }
  }

  @Test(arguments: FileCase.allCases)
  func `a private file is made for its owner alone`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      try file.open(folder + "/a", [.creating, .private]).set(1, forKey: "k")
      #expect(try mode(folder + "/a") == 0o600)
    }
  }

  @Test(arguments: [0o600, 0o640, 0o664] as [mode_t])
  func `replacing keeps the permissions`(mode: mode_t) throws {
    try withTemporaryFolder { folder in
      try write("{}", folder + "/a")
      #expect(chmod(folder + "/a", mode) == 0)
      try JSONPreferences(at: folder + "/a").set(1, forKey: "k")
      #expect(try self.mode(folder + "/a") == mode)
    }
  }

  @Test func `a link stays, and the file that it leads to is replaced`() throws {
    try withTemporaryFolder { folder in
      #expect(mkdir(folder + "/real", 0o700) == 0)
      try write("{}", folder + "/real/a")
      #expect(symlink("real/a", folder + "/link") == 0)
      try JSONPreferences(at: folder + "/link").set(1, forKey: "k")
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/link") == "real/a")
      #expect(try JSONPreferences(at: folder + "/real/a").integer(forKey: "k") == 1)
    }
  }

  @Test func `a link that leads nowhere is refused`() throws {
    try withTemporaryFolder { folder in
      #expect(symlink("none", folder + "/link") == 0)
      let store = try JSONPreferences(at: folder + "/link", options: .creating)
      #expect(preferencesError { try store.set(1, forKey: "k") }?.code == .unwritable)
      #expect(try names(folder) == ["link"])
    }
  }

  @Test(arguments: FileCase.allCases)
  func `a write that changes nothing leaves the file alone`(file: FileCase) throws {
    try withTemporaryFolder { folder in
      let store = try file.open(folder + "/a")
      try store.set(1, forKey: "k")
      var (before, after) = (stat(), stat())
      stat(folder + "/a", &before)
      try store.set(1, forKey: "k")
      try store.removeValue(forKey: "none")
      stat(folder + "/a", &after)
      #expect(before.st_ino == after.st_ino)
    }
  }

  // MARK: Creating

  @Test func `a store that creates its file also creates the folder, and takes an empty file`() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/one/two/a.json"
      let store = try JSONPreferences(at: path, options: [.creating, .private])
      #expect(store.keys().isEmpty)
      try store.set(1, forKey: "a")
      #expect(try JSONPreferences(at: path).integer(forKey: "a") == 1)
      #expect(try mode(folder + "/one/two") == 0o700)
      try write("", folder + "/b.json")
      let empty = try JSONPreferences(at: folder + "/b.json", options: .creating)
      try empty.set(2, forKey: "a")
      #expect(try JSONPreferences(at: folder + "/b.json").integer(forKey: "a") == 2)
      try write("", folder + "/c.json")
      #expect(preferencesError { _ = try JSONPreferences(at: folder + "/c.json") }?.code == .malformed)
    }
  }

  @Test func `observers receive no default while a program removes a file and saves it again`() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.json"
      let store = try JSONPreferences(at: path, options: .creating)
      try store.set(1, forKey: "a")
      let seen = Mutex<[Int]>([])
      let observation = store.observe(PreferenceKey("a", default: 0)) { change in
        seen.withLock { $0.append(change.newValue) }
      }
      let watch = try store.watch()
      try FileManager.default.removeItem(atPath: path)
      usleep(20_000)
      try write("", path)
      usleep(20_000)
      try write(#"{"a": 2}"#, path)
      for _ in 0..<300 where seen.withLock(\.isEmpty) { usleep(10_000) }
      #expect(seen.withLock(\.self) == [2])
      try FileManager.default.removeItem(atPath: path)
      for _ in 0..<300 where seen.withLock(\.count) < 2 { usleep(10_000) }
      #expect(seen.withLock(\.self) == [2, 0])
      withExtendedLifetime((observation, watch)) {}
    }
  }
}
