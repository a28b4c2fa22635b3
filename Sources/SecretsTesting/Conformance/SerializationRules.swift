internal import FoundationEssentials
internal import Preferences
internal import Testing

extension ConformanceRule {
  /// Values of every type.
  static let serialization = [
    ConformanceRule(52, "every type comes back in every shape, before and after reopening") { fixture in
      let store = try fixture.makeStore()
      var matrix = ValueMatrix()
      try matrix.add(true, false)
      try matrix.add("", "text \u{1F98A}\n")
      try matrix.add(Data(), Data([0, 255]))
      try matrix.add(Date(timeIntervalSinceReferenceDate: 1.25), Date(timeIntervalSinceReferenceDate: -1e9))
      try matrix.add(URL(filePath: "/tmp/a b"), #require(URL(string: "https://example.com/a?b=c#d")))
      try matrix.add(UUID(), UUID())
      try matrix.add(Character("é"), Character("👨‍👩‍👧"))
      try matrix.add(Double.pi, -0.0)
      try matrix.add(Float(0.1), Float.infinity)
      try matrix.add(Theme.dark, .light)
      try matrix.add(Level.low, .high)
      try matrix.add(Rights.read, [.read, .write])
      try matrix.add(0..<5, 3..<3)
      try matrix.add(0.5...1.5, -1...1)
      try matrix.add(Celsius(36.6), Celsius(-273.15))
      try matrix.addCoded(Server(), Server(host: "b", port: .max, proxy: "p", theme: .dark, tags: ["x", "y"]))
      try matrix.addCoded(Tree.leaf(.min), .node(left: .leaf(1), right: .node(left: .leaf(2), right: .leaf(3))))
      try matrix.addCoded(Theme.dark, .light)
      try matrix.write(to: store)
      try matrix.check(store)
      try matrix.check(fixture.reopened(store))
    },
    ConformanceRule(52, "integers of every width come back in every shape, before and after reopening") { fixture in
      let store = try fixture.makeStore()
      var matrix = ValueMatrix()
      func add<Integer: FixedWidthInteger & PreferenceConvertible>(_ type: Integer.Type) throws {
        try matrix.add(Integer.min, .max)
      }
      try add(Int.self)
      try add(Int8.self)
      try add(Int16.self)
      try add(Int32.self)
      try add(Int64.self)
      try add(UInt.self)
      try add(UInt8.self)
      try add(UInt16.self)
      try add(UInt32.self)
      try add(UInt64.self)
      try matrix.write(to: store)
      try matrix.check(store)
      try matrix.check(fixture.reopened(store))
    },
    ConformanceRule(53, "one element that does not convert is an error, and the collection stays") { fixture in
      let store = try fixture.makeStore()
      func fails<Value: PreferenceConvertible>(
        _ type: Value.Type, _ stored: PreferenceValue, _ code: PreferencesError.Code
      ) throws {
        let key = PreferenceKey<Value?>("key")
        try store.set(stored, forKey: "key")
        for reader in [store, try fixture.reopened(store)] {
          let error = #expect(throws: PreferencesError.self, "\(type)") { try reader.value(for: key) }
          #expect(error?.code == code, "\(type)")
          #expect(try reader.value(forKey: "key") == stored, "\(type)")
        }
      }
      try fails([Int].self, [1, "two"], .typeMismatch)
      try fails([[Bool]].self, [[true], [0]], .typeMismatch)
      try fails(Set<UInt8>.self, [1, 256], .outOfRange)
      try fails([Int: Bool].self, ["7": true, "one": true], .outOfRange)
      try fails([String: [Bool]].self, ["a": [true], "b": [1.0]], .typeMismatch)
      try fails([Theme].self, ["dark", "sepia"], .outOfRange)
      try fails(Range<Int>.self, [5, 1], .outOfRange)
      try fails(ClosedRange<Double>.self, [1.5, 1.0], .outOfRange)
      try fails(Range<Int>.self, [5], .outOfRange)
    },
    ConformanceRule(54, "what is stored is the documented form of each type") { fixture in
      let store = try fixture.makeStore()
      let uuid = UUID()
      func set(_ value: some PreferenceConvertible, _ stored: PreferenceValue) throws {
        try store.set(value, forKey: "key")
        #expect(try fixture.reopened(store).value(forKey: "key") == stored)
      }
      try set(uuid, .string(uuid.uuidString))
      try set(Theme.dark, "dark")
      try set(Level.high, 9)
      try set([Rights.read, .write], [.unsignedInteger(1), .unsignedInteger(128)])
      try set(1..<3, [1, 3])
      try set(1.0...3, [1.0, 3.0])
      try set([-1: true], ["-1": true])
      try set(Set(["b", "a"]), ["a", "b"])
      let server = Server()
      try store.set(server, for: .codable("server", default: server))
      let coded: PreferenceValue = [
        "host": "default", "port": .unsignedInteger(1), "since": .date(server.since), "key": .data(server.key),
        "home": .url(server.home), "theme": "light", "tags": [],
      ]
      #expect(try fixture.reopened(store).value(forKey: "server") == coded)
    },
    ConformanceRule(54, "a key says which form is stored, and reads the other on request") { fixture in
      let store = try fixture.makeStore()
      let raw = PreferenceKey("size", default: Int64(0))
      let coded = PreferenceKey("size", default: Int64(0), through: JSONTransformation().asText)
      try store.set(7, for: coded)
      #expect(try store.value(forKey: "size") == "7")
      // Text is parsed where a key asks for a number, and the text of a number is its JSON.
      #expect(try store.value(for: raw) == 7)
      try store.set("seven", forKey: "size")
      #expect(throws: PreferencesError.self) { try store.value(for: raw) }
      #expect(throws: PreferencesError.self) { try store.value(for: coded) }
      try store.set(7, for: coded)
      let either = raw.alsoReading(coded)
      #expect(try store.value(for: either) == 7)
      try store.update(either) { $0 += 1 }
      #expect(try fixture.reopened(store).value(forKey: "size") == 8)
      #expect(try fixture.reopened(store).value(for: raw) == 8)
    },
    ConformanceRule(55, "custom collections and set algebras come back") { fixture in
      let store = try fixture.makeStore()
      var matrix = ValueMatrix()
      try matrix.add(Playlist(["one", "two"]))
      try matrix.add([Playlist([]), Playlist(["three"])])
      try matrix.add(Bag([3, 1, 2]))
      try matrix.add(["a": Bag([]), "b": Bag([7])])
      try matrix.add(ContiguousArray([1, 2]))
      try matrix.add([1, 2, 3][1...])
      try matrix.write(to: store)
      try matrix.check(store)
      try matrix.check(fixture.reopened(store))
      try store.set(Bag([3, 1, 2]), forKey: "bag")
      #expect(try store.value(forKey: "bag") == [1, 2, 3])
    },
    ConformanceRule(56, "a value of any type comes back equal, with its hash, and as its own type alone") { fixture in
      let store = try fixture.makeStore()
      let values: [String: PreferenceValue] = [
        "string": "a", "integer": 1, "double": 1.5, "bool": true, "array": [1, "a", [], 1.0, true],
        "dictionary": ["k": 1, "": ["a.b": [:]]], "unsigned": .unsignedInteger(1), "data": .data(Data([1])),
        "date": .date(Date(timeIntervalSinceReferenceDate: 0)), "url": .url(URL(filePath: "/a")),
      ]
      try store.set(values)
      let reopened = try fixture.reopened(store)
      for (key, value) in values {
        let read = try #require(try reopened.value(forKey: key), "\(key)")
        #expect(read == value, "\(key)")
        #expect(read.hashValue == value.hashValue, "\(key)")
        #expect((read.as(Int.self) != nil) == ["integer", "unsigned"].contains(key), "\(key)")
        #expect((read.as(Double.self) != nil) == ["integer", "unsigned", "double"].contains(key), "\(key)")
        #expect((read.as(Bool.self) != nil) == (key == "bool"), "\(key)")
        #expect((read.as(String.self) != nil) == (key == "string"), "\(key)")
      }
      var value = try #require(try reopened.value(forKey: "string"))
      value.set([true])
      try store.set(value, forKey: "string")
      #expect(try fixture.reopened(store).value(forKey: "string")?[0]?.as(Bool.self) == true)
    },
  ]
}
