internal import FoundationEssentials
internal import Preferences
internal import Testing

extension ConformanceRule {
  /// Values that are written and read back, with their types.
  static let values = [
    // MARK: 4
    ConformanceRule(4, "true, 1 and 1.0 come back as what they are, before and after reopening") { fixture in
      try expectAllBack(["bool": true, "integer": 1, "double": 1.0, "unsigned": .unsignedInteger(1)], fixture)
    },
    ConformanceRule(4, "true, 1 and 1.0 are what they are inside arrays and dictionaries, too") { fixture in
      let mixed: PreferenceValue = [true, 1, 1.0, .unsignedInteger(1), [false, 0, 0.0], ["in": 1.0, "out": 1]]
      try expectAllBack(["array": mixed, "dictionary": ["flag": true, "count": 1, "share": 1.0]], fixture)
    },
    ConformanceRule(4, "a boolean is never read as a number, nor an integer as a double") { fixture in
      let store = try fixture.makeStore()
      try store.set(["bool": true, "integer": 1, "double": 1.0])
      for reader in [store, try fixture.reopened(store)] {
        #expect(code { _ = try reader.integer(forKey: "bool") } == .typeMismatch)
        #expect(code { _ = try reader.bool(forKey: "integer") } == .typeMismatch)
        #expect(code { _ = try reader.double(forKey: "bool") } == .typeMismatch)
        // JSON does not distinguish 1 from 1.0.
        #expect(try reader.double(forKey: "integer") == 1)
        #expect(code { _ = try reader.integer(forKey: "double") } == .typeMismatch)
      }
    },

    // MARK: 5
    ConformanceRule(5, "the least and the greatest of all ten integer types come back, also after reopening") {
      fixture in
      let store = try fixture.makeStore()
      for type in integerTypes { try type.write(store) }
      let reopened = try fixture.reopened(store)
      for type in integerTypes {
        try type.expect(store)
        try type.expect(reopened)
      }
    },
    ConformanceRule(5, "an integer that does not fit the type is out of range, and stays") { fixture in
      let store = try fixture.makeStore()
      try store.set(["greatest": .unsignedInteger(.max), "least": .integer(.min), "byte": 256])
      for reader in [store, try fixture.reopened(store)] {
        #expect(code { _ = try reader.integer(forKey: "greatest") } == .outOfRange)
        #expect(code { _ = try reader.value(for: .key("least")) as UInt64? } == .outOfRange)
        #expect(code { _ = try reader.value(for: .key("least")) as Int32? } == .outOfRange)
        #expect(code { _ = try reader.value(for: .key("byte")) as UInt8? } == .outOfRange)
        #expect(try reader.value(for: .key("byte")) as UInt16? == 256)
        #expect(try reader.value(forKey: "least") == .integer(.min))
      }
    },

    // MARK: 6
    ConformanceRule(6, "extremes, -0, infinities and NaN come back, or are refused with the old value kept") {
      fixture in
      let numbers: [Double] = [
        .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNormalMagnitude, .leastNonzeroMagnitude, .ulpOfOne,
        -0.0, 0.1, 1e22, 9_007_199_254_740_992, .infinity, -.infinity, .nan,
      ]
      for number in numbers { try expectKeptOrRefused(.double(number), "\(number)", fixture) }
      try expectKeptOrRefused([.double(.nan), .double(-.infinity), -0.0], "in an array", fixture)
    },
    ConformanceRule(6, "a Float comes back as a Float, also after reopening") { fixture in
      let store = try fixture.makeStore()
      let numbers: [Float] = [.greatestFiniteMagnitude, .leastNonzeroMagnitude, -0.0, 0.1, .pi]
      for number in numbers {
        try store.set(number, for: .key("float"))
        for reader in [store, try fixture.reopened(store)] {
          let back: Float? = try reader.value(for: .key("float"))
          #expect(back?.bitPattern == number.bitPattern, "\(number)")
        }
      }
    },

    // MARK: 7
    ConformanceRule(7, "https, file and relative URLs come back, before and after reopening") { fixture in
      let texts = [
        "https://user@example.com:8443/a%20b/c?q=1&r=%C3%A4#part", "file:///tmp/some%20file.txt", "sub/path?x=1#y",
        "../up", "mailto:somebody@example.com", "https://example.com", "https://example.com/",
      ]
      var values: [String: PreferenceValue] = [:]
      for (number, text) in texts.enumerated() { values["url\(number)"] = .url(try #require(URL(string: text))) }
      values["array"] = .array(Array(values.values))
      try expectAllBack(values, fixture)
    },
    ConformanceRule(7, "a URL with a base still leads to the same place") { fixture in
      let base = try #require(URL(string: "https://example.com/a/"))
      let url = try #require(URL(string: "b?c=1", relativeTo: base))
      try expectAllBack(["url": .url(url), "array": [.url(url)]], fixture)
    },
  ]

  private static let integerTypes: [IntegerType] = [
    IntegerType(Int8.self), IntegerType(Int16.self), IntegerType(Int32.self), IntegerType(Int64.self),
    IntegerType(Int.self), IntegerType(UInt8.self), IntegerType(UInt16.self), IntegerType(UInt32.self),
    IntegerType(UInt64.self), IntegerType(UInt.self),
  ]
}

/// One of the ten integer types.
private struct IntegerType: Sendable {
  let write: @Sendable (any PreferencesStore) throws -> Void
  let expect: @Sendable (any PreferencesReader) throws -> Void

  init<Integer: FixedWidthInteger & PreferenceConvertible>(_ type: Integer.Type) {
    write = { store in
      try store.set(Integer.min, forKey: "least\(type)")
      try store.set(Integer.max, forKey: "greatest\(type)")
    }
    expect = { reader in
      try expectBack(Integer.min, "least\(type)", reader)
      try expectBack(Integer.max, "greatest\(type)", reader)
    }
  }
}

private func expectBack<Value: PreferenceConvertible & Equatable>(
  _ value: Value, _ key: String, _ reader: any PreferencesReader
) throws {
  let back: Value? = try reader.value(for: .key(key))
  #expect(back == value, "\(key)")
}

/// Stores the values in one step, and expects each of them to come back before and after reopening.
func expectAllBack(
  _ values: [String: PreferenceValue], _ fixture: StoreFixture, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let store = try fixture.makeStore()
  try store.set(values)
  for (when, reader) in [("before", store), ("after", try fixture.reopened(store))] {
    for (key, value) in values {
      let isBack = try reader.value(forKey: key).isExactly(value)
      #expect(isBack, "\(key) \(when) reopening", sourceLocation: sourceLocation)
    }
  }
}

/// Stores a value over an old one. Expects, before and after reopening, that the new value is read back, or that the
/// write was refused and the old value is read back.
func expectKeptOrRefused(
  _ value: PreferenceValue, _ name: String, _ fixture: StoreFixture,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let first = try fixture.makeStore()
  try first.set(["key": "old", "other": "stays"])
  // Reopened, so that unsaved changes do not hide whether the old value survives.
  let store = try fixture.reopened(first)
  var expected = value
  var reopened: any PreferencesStore
  do {
    try store.set(value, forKey: "key")
    reopened = try fixture.reopened(store)
  } catch {
    expected = "old"
    reopened = try fixture.reopened(store)
  }
  for (when, reader) in [("before", store), ("after", reopened)] {
    do {
      // Not compared in the expectation, which would print both: some are long, and Foundation traps on some dates.
      let isBack = try reader.value(forKey: "key").isExactly(expected)
      #expect(isBack, "\(name) \(when) reopening", sourceLocation: sourceLocation)
      #expect(try reader.value(forKey: "other") == "stays", "\(name)", sourceLocation: sourceLocation)
    } catch {
      Issue.record(error, "\(name) was taken and is not readable \(when) reopening", sourceLocation: sourceLocation)
    }
  }
}
