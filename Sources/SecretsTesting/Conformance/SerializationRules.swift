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
