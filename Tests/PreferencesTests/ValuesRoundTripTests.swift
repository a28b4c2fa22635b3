import FoundationEssentials
import Preferences
import Testing

private enum Theme: String, PreferenceConvertible, Codable, PreferenceDictionaryKey { case light, dark }
private enum Level: Int, PreferenceConvertible { case low = 1, high = 9 }

private struct Rights: OptionSet, PreferenceConvertible, Hashable {
  let rawValue: UInt8
  static let read = Self(rawValue: 1)
  static let write = Self(rawValue: 128)
}

/// A type with a conversion of its own.
private struct Celsius: PreferenceConvertible, Hashable {
  var degrees: Double
  static var preferenceKind: PreferenceValue.Kind { .double }
  var preferenceValue: PreferenceValue { .double(degrees) }
  init(_ degrees: Double) { self.degrees = degrees }
  init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    degrees = try Double(preferenceValue: value)
  }
}

private struct Playlist: PreferenceCollection, Equatable {
  var songs: [String]
  init(_ elements: [String]) { songs = elements }
  var startIndex: Int { songs.startIndex }
  var endIndex: Int { songs.endIndex }
  subscript(position: Int) -> String { songs[position] }
  func index(after i: Int) -> Int { i + 1 }
}

/// A collection that does not take every list of elements.
private struct Pair: PreferenceCollection {
  struct NotTwo: Error {}
  var elements: [Int]
  init(_ elements: [Int]) throws {
    guard elements.count == 2 else { throw NotTwo() }
    self.elements = elements
  }
  var startIndex: Int { 0 }
  var endIndex: Int { elements.count }
  subscript(position: Int) -> Int { elements[position] }
  func index(after i: Int) -> Int { i + 1 }
}

struct ValuesRoundTripTests {
  let store = DictionaryPreferences()

  private func comesBack<Value: PreferenceConvertible & Equatable>(_ value: Value) throws {
    let key = PreferenceKey<Value?>("key")
    try store.set(value, for: key)
    #expect(try store.value(for: key) == value)
    #expect(try store.value(forKey: "key")?.kind == Value.preferenceKind)
  }

  /// Two values, alone and in every collection that a key can be typed as.
  private func comesBackInEveryShape<Value: PreferenceConvertible & Hashable>(_ a: Value, _ b: Value) throws {
    try comesBack(a)
    try comesBack([a, b, a])
    try comesBack([[a], [], [b, a]])
    try comesBack(ContiguousArray([a, b]))
    try comesBack([a, b][1...])
    try comesBack(Set([a, b]))
    try comesBack(["one": a, "two": b])
    try comesBack([1: a, -2: b])
    try comesBack([Theme.dark: a])
    try comesBack(["one": [a, b], "none": []])
    try store.set(nil, for: PreferenceKey<Value?>("key"))
    #expect(try store.contains("key") == false)
    let key = PreferenceKey("other", default: a)
    #expect(try store.value(for: key) == a)
    try store.set(b, for: key)
    #expect(try store.value(for: key) == b)
    try store.reset(key)
  }

  @Test func `item 52: every type comes back in every shape`() throws {
    let url = try #require(URL(string: "https://example.com/a?b=c#d"))
    try comesBackInEveryShape(true, false)
    try comesBackInEveryShape("", "text")
    try comesBackInEveryShape(Data(), Data([0, 255]))
    try comesBackInEveryShape(Date(timeIntervalSinceReferenceDate: 1.25), Date(timeIntervalSinceReferenceDate: -1e9))
    try comesBackInEveryShape(url, URL(filePath: "/tmp/a b"))
    try comesBackInEveryShape(UUID(), UUID())
    try comesBackInEveryShape(Character("é"), Character("👨‍👩‍👧"))
    try comesBackInEveryShape(Double.pi, -0.0)
    try comesBackInEveryShape(Float(0.1), Float.infinity)
    try comesBackInEveryShape(Theme.dark, .light)
    try comesBackInEveryShape(Level.low, .high)
    try comesBackInEveryShape(Rights.read, [.read, .write])
    try comesBackInEveryShape(0..<5, 3..<3)
    try comesBackInEveryShape(0.5...1.5, -1...1)
    try comesBackInEveryShape(Celsius(36.6), Celsius(-273.15))
  }

  @Test func `item 5: the extremes of all ten integers come back in every shape`() throws {
    func extremes<Integer: FixedWidthInteger & PreferenceConvertible>(_ type: Integer.Type) throws {
      try comesBackInEveryShape(Integer.min, .max)
    }
    try extremes(Int.self)
    try extremes(Int8.self)
    try extremes(Int16.self)
    try extremes(Int32.self)
    try extremes(Int64.self)
    try extremes(UInt.self)
    try extremes(UInt8.self)
    try extremes(UInt16.self)
    try extremes(UInt32.self)
    try extremes(UInt64.self)
  }

  @Test func `item 5: every integer type with a text is a key of dictionaries`() throws {
    try comesBack([Int.min: 1, Int.max: 2])
    try comesBack([Int8.min: 1])
    try comesBack([Int16.min: 1])
    try comesBack([Int32.min: 1])
    try comesBack([Int64.min: 1])
    try comesBack([UInt.max: 1])
    try comesBack([UInt8.max: 1])
    try comesBack([UInt16.max: 1])
    try comesBack([UInt32.max: 1])
    try comesBack([UInt64.max: 1])
    try comesBack([UUID(): 1])
  }

  @Test func `item 55: a custom collection comes back`() throws {
    try comesBack(Playlist(["one", "two"]))
    try comesBack([Playlist([]), Playlist(["three"])])
    #expect(Playlist(["one"]).preferenceValue == ["one"])
  }

  @Test func `item 55: a collection that refuses its elements cannot be read`() {
    let error = preferencesError { _ = try Pair(preferenceValue: [1, 2, 3]) }
    #expect(error?.code == .outOfRange)
    #expect(error?.cause is Pair.NotTwo)
  }

  @Test func `item 54: the stored form of each type is the documented one`() throws {
    let uuid = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
    #expect(uuid.preferenceValue == "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
    #expect(Character("x").preferenceValue == "x")
    #expect((1..<3).preferenceValue == [1, 3])
    #expect((1.0...3).preferenceValue == [1.0, 3.0])
    #expect(Theme.dark.preferenceValue == "dark")
    #expect(Level.high.preferenceValue == 9)
    #expect(Rights([.read, .write]).preferenceValue == .unsignedInteger(129))
    #expect([-1: true].preferenceValue == ["-1": true])
    #expect([Theme.dark: [uuid]].preferenceValue == ["dark": [.string(uuid.uuidString)]])
  }

  @Test func `equal sets are equal values`() {
    let numbers = Set(-500..<500)
    #expect(numbers.preferenceValue == .array((-500..<500).map(PreferenceValue.init)))
    let one = Set((0..<200).map { "\($0)" })
    let other = Set((0..<200).reversed().map { "\($0)" } + ["more"]).subtracting(["more"])
    #expect(one.preferenceValue == other.preferenceValue)
  }

  static let unordered: [PreferenceValue] = [
    ["a", "b"], [.data(Data([1])), .data(Data([1, 0]))], [false, true], [-1, 1],
    [.unsignedInteger(1), .unsignedInteger(.max)], [-1.5, 2.5],
    [.date(Date(timeIntervalSinceReferenceDate: 0)), .date(Date(timeIntervalSinceReferenceDate: 1))],
    [.url(URL(filePath: "/a")), .url(URL(filePath: "/b"))], [[1], [1, 2]], [["a": 1], ["a": 2]],
    [["a": 9], ["b": 1]],
  ]

  /// Any value, converted to itself.
  private struct Anything: PreferenceConvertible, Hashable {
    let preferenceValue: PreferenceValue
    static var preferenceKind: PreferenceValue.Kind { .array }
    init(preferenceValue value: PreferenceValue) { preferenceValue = value }
  }

  @Test(arguments: unordered)
  func `elements of every kind are stored in one order`(ordered: PreferenceValue) throws {
    guard case .array(let elements) = ordered else { return }
    #expect(Set(elements.map(Anything.init)).preferenceValue == ordered)
    #expect(Set(elements.reversed().map(Anything.init)).preferenceValue == ordered)
  }

  @Test func `a set with an element twice is read`() throws {
    #expect(try Set<Int>(preferenceValue: [1, 1, 2]) == [1, 2])
  }

  static let outOfRange: [(String, @Sendable () throws -> Void)] = [
    ("no UUID", { _ = try UUID(preferenceValue: "\(sentinel)") }),
    ("two characters", { _ = try Character(preferenceValue: "\(sentinel)") }),
    ("no character", { _ = try Character(preferenceValue: "") }),
    ("unknown raw value", { _ = try Theme(preferenceValue: "\(sentinel)") }),
    ("inverted range", { _ = try Range<Int>(preferenceValue: [5, 1]) }),
    ("inverted closed range", { _ = try ClosedRange<Double>(preferenceValue: [1.5, 1.0]) }),
    ("NaN as a bound", { _ = try ClosedRange<Double>(preferenceValue: [.double(.nan), 1.0]) }),
    ("one bound", { _ = try Range<Int>(preferenceValue: [5]) }),
    ("three bounds", { _ = try Range<Int>(preferenceValue: [1, 2, 3]) }),
    ("a bound that is too large", { _ = try Range<UInt8>(preferenceValue: [1, 256]) }),
    ("a key that is no integer", { _ = try [Int: Bool](preferenceValue: ["one": true]) }),
    ("a key that is too large", { _ = try [Int8: Bool](preferenceValue: ["128": true]) }),
    ("a key in two spellings", { _ = try [Int: Bool](preferenceValue: ["1": true, "01": false]) }),
    ("an unknown enum as a key", { _ = try [Theme: Bool](preferenceValue: ["red": true]) }),
    ("an element in a set", { _ = try Set<UInt8>(preferenceValue: [1, 256]) }),
  ]

  @Test(arguments: outOfRange.indices)
  func `item 53: a value of the right kind that is none of the type is out of range`(row: Int) throws {
    let (name, body) = Self.outOfRange[row]
    let error = try #require(preferencesError(body), "\(name)")
    #expect(error.code == .outOfRange, "\(name)")
    #expect(!dumped(error).contains(sentinel), "\(name)")
  }

  @Test func `item 53: one bad element fails every collection and is named`() {
    #expect(
      preferencesError { _ = try Set<Int>(preferenceValue: [1, "two"]) }?.message
        == "element 1: expected integer, found string")
    #expect(
      preferencesError { _ = try Playlist(preferenceValue: [1]) }?.message
        == "element 0: expected string, found integer")
    #expect(
      preferencesError { _ = try [Int: [Bool]](preferenceValue: ["7": [true, 0]]) }?.message
        == "entry \"7\": element 1: expected bool, found integer")
    #expect(
      preferencesError { _ = try Range<Int>(preferenceValue: [1, 2.0]) }?.message
        == "element 1: expected integer, found double")
  }

  @Test func `item 63: an unknown raw value is an error that leaves the stored value alone`() throws {
    try store.set("sepia", forKey: "theme")
    let error = preferencesError { _ = try store.value(for: PreferenceKey("theme", default: Theme.light)) }
    #expect(error?.code == .outOfRange)
    #expect(error?.message == "key \"theme\": the value is not a raw value of Theme")
    #expect(try store.string(forKey: "theme") == "sepia")
  }

  @Test func `item 3: absent, of another type and unreadable are three results`() throws {
    try store.set("text", forKey: "port")
    #expect(try store.integer(forKey: "absent") == nil)
    #expect(preferencesError { _ = try store.integer(forKey: "port") }?.code == .typeMismatch)
    #expect(throws: FailingPreferences.Locked.self) { try FailingPreferences().integer(forKey: "port") }
  }

  @Test func `item 6: NaN and the extremes come back inside collections, bit for bit`() throws {
    let doubles: [Double] = [
      .nan, -0.0, 0, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
    ]
    try store.set(doubles, forKey: "key")
    let read = try #require(try store.value(for: PreferenceKey<[Double]?>("key")))
    #expect(read.map(\.bitPattern) == doubles.map(\.bitPattern))
  }
}
