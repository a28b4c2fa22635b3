import FoundationEssentials
import Preferences
import Testing

private struct Server: Codable, Hashable {
  var host: String
  var port: UInt16
  var timeout = 1.5
  var proxy: String?
  var since = Date(timeIntervalSinceReferenceDate: 0.25)
  var key = Data([0, 255])
  var home = URL(filePath: "/")
  var mode = Mode.fast
  var tags: Set<String> = []
}

struct CodableKeyTests {
  let store = DictionaryPreferences()

  private func comesBack<Value: Codable & Equatable & Sendable>(_ value: Value) throws {
    let key = PreferenceKey<Value?>.codable("key")
    try store.set(value, for: key)
    #expect(try store.value(for: key) == value)
    #expect(try store.value(forKey: "key")?.kind == key.kind)
  }

  private func comesBackInEveryShape<Value: Codable & Hashable & Sendable>(_ a: Value, _ b: Value) throws {
    try comesBack(a)
    try comesBack([a, b])
    try comesBack([[a], [], [b, a]])
    try comesBack(Set([a, b]))
    try comesBack(["one": a, "two": b])
    try comesBack([1: a, -2: b])
    try comesBack(["one": [a, b], "none": []])
    try store.set(nil, for: PreferenceKey<Value?>.codable("key"))
    #expect(try store.contains("key") == false)
    let key = PreferenceKey.codable("other", default: a)
    #expect(try store.value(for: key) == a)
    try store.set(b, for: key)
    #expect(try store.value(for: key) == b)
    try store.reset(key)
  }

  @Test func `item 52: a Codable type comes back in every shape`() throws {
    try comesBackInEveryShape(
      Server(host: "a", port: 1), Server(host: "b", port: .max, proxy: "p", mode: .safe, tags: ["x", "y"]))
    try comesBackInEveryShape(
      Tree.leaf(.min), Tree.node(left: .leaf(1), right: .node(left: .leaf(2), right: .leaf(3))))
    try comesBackInEveryShape(Mode.fast, .safe)
    try comesBack(Nothing())
    try comesBack(0..<5)
    try comesBack(UUID())
    try comesBack([Int.max: Int64.min])
    try comesBack(Nested([[1, 2], [], [3]]))
  }

  @Test func `item 54: a struct is stored as a dictionary of kinds, without what is nil`() throws {
    try store.set(Server(host: "a", port: 80, tags: ["x"]), for: .codable("server"))
    let expected: PreferenceValue = [
      "host": "a", "port": .unsignedInteger(80), "timeout": 1.5,
      "since": .date(Date(timeIntervalSinceReferenceDate: 0.25)), "key": .data(Data([0, 255])),
      "home": .url(URL(filePath: "/")), "mode": "fast", "tags": ["x"],
    ]
    #expect(try store.value(forKey: "server") == expected)
  }

  private struct Product: Codable, Equatable { var price: Decimal; var name: String }

  @Test(arguments: ["19.99", "5", "0.10", "1e20"])
  func `a decimal in a file stays as it is when another member changes`(price: String) throws {
    try withTemporaryFolder { folder in
      let file = URL(filePath: folder + "/a.json")
      try Data(#"{"product":{"price":\#(price),"name":"x"}}"#.utf8).write(to: file)
      let store = try JSONPreferences(at: folder + "/a.json")
      var product = try #require(try store.value(forKey: "product", decoding: Product.self))
      product.name = "y"
      try store.set(encoding: product, forKey: "product")
      let text = try String(decoding: Data(contentsOf: file), as: UTF8.self)
      #expect(text.filter { !$0.isWhitespace } == #"{"product":{"price":\#(price),"name":"y"}}"#)
    }
  }

  static let decimals: [(String, PreferenceValue)] = [
    ("19.99", 19.99), ("-3", -3), ("5.0", 5), ("18446744073709551615", .unsignedInteger(.max)), ("1e20", 1e20),
    ("0.30000000000000004", 0.30000000000000004),
    ("3.14159265358979323846", "3.14159265358979323846"),
  ]

  @Test(arguments: decimals.indices)
  func `a decimal is stored as a number, or as text if no number holds it exactly`(row: Int) throws {
    let (text, stored) = Self.decimals[row]
    let decimal = try #require(Decimal(string: text))
    let value = try PreferenceValueEncoder().encode(decimal)
    #expect(value.isIdentical(to: stored))
    #expect(try PreferenceValueDecoder().decode(Decimal.self, from: value) == decimal)
  }

  /// A type that tries a number and then a string.
  private enum Amount: Codable, Equatable {
    case number(Decimal), text(String)
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let number = try? container.decode(Decimal.self) {
        self = .number(number)
      } else {
        self = .text(try container.decode(String.self))
      }
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .number(let number): try container.encode(number)
      case .text(let text): try container.encode(text)
      }
    }
  }

  @Test func `a decimal stored as text is no string, and text that a number holds is no decimal`() throws {
    let exact = try #require(Decimal(string: "3.14159265358979323846"))
    for amount in [Amount.number(exact), .number(1), .text("1.5"), .text("a")] {
      try store.set(encoding: amount, forKey: "amount")
      #expect(try store.value(forKey: "amount", decoding: Amount.self) == amount)
    }
  }

  @Test func `a decimal is read from the members that it encodes itself`() throws {
    let members: PreferenceValue = [
      "exponent": -2, "length": 1, "isNegative": false, "isCompact": true, "mantissa": [1999, 0, 0, 0, 0, 0, 0, 0],
    ]
    #expect(try PreferenceValueDecoder().decode(Decimal.self, from: members) == Decimal(string: "19.99"))
    let nan = try PreferenceValueEncoder().encode(Decimal.nan)
    #expect(try PreferenceValueDecoder().decode(Decimal.self, from: nan).isNaN)
  }

  private func isRead<Value: Codable & Sendable>(fromJSONOf value: Value) throws {
    let json = try JSONEncoder().encode(value)
    let key = PreferenceKey<Value?>.codable("key")
    #expect(key.kind == (json.first == UInt8(ascii: "[") ? .array : .dictionary), "\(Value.self)")
    let environment = EnvironmentPreferences(environment: ["KEY": String(decoding: json, as: UTF8.self)])
    #expect(try JSONEncoder().encode(environment.value(for: key)) == json, "\(Value.self)")
    try store.set(value, for: key)
    #expect(try store.value(forKey: "key")?.kind == key.kind, "\(Value.self)")
  }

  @Test func `a type of the standard library is read from the text of its JSON, an array or an object`() throws {
    try isRead(fromJSONOf: Duration.seconds(90))
    try isRead(fromJSONOf: 1..<3)
    try isRead(fromJSONOf: Duration.zero..<Duration.seconds(1))
    try isRead(fromJSONOf: Duration.zero...Duration.seconds(1))
    try isRead(fromJSONOf: PartialRangeFrom(1))
    try isRead(fromJSONOf: PartialRangeUpTo(1.5))
    try isRead(fromJSONOf: PartialRangeThrough("z"))
    try isRead(fromJSONOf: [1.5: 2])
    try isRead(fromJSONOf: [1: 2])
    try isRead(fromJSONOf: ["a": 2])
  }

  @Test func `item 54: a key says what kind its coding stores`() {
    #expect(PreferenceKey<Decimal?>.codable("a").kind == .string)
    #expect(PreferenceKey<Int??>.codable("a").kind == .integer)
    #expect(PreferenceKey<[Int]??>.codable("a").kind == .array)
    #expect(PreferenceKey<Server?>.codable("a").kind == .dictionary)
    #expect(PreferenceKey<[Server]?>.codable("a").kind == .array)
    #expect(PreferenceKey<[String: Server]?>.codable("a").kind == .dictionary)
    #expect(PreferenceKey<Mode?>.codable("a").kind == .string)
    #expect(PreferenceKey<Date?>.codable("a").kind == .date)
    #expect(PreferenceKey<UUID?>.codable("a").kind == .string)
    #expect(PreferenceKey<Port?>.codable("a", kind: .integer).kind == .integer)
  }

  @Test func `item 54: raw or coded is what the key says, and the other form is read on request`() throws {
    enum Size: Int, Codable, PreferenceConvertible {
      case small = 1
      case large = 2
      private enum Key: CodingKey { case size }
      init(from decoder: any Decoder) throws {
        let name = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .size)
        self = name == "large" ? .large : .small
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(self == .large ? "large" : "small", forKey: .size)
      }
    }
    let raw = PreferenceKey("size", default: Size.small)
    let coded = PreferenceKey.codable("size", default: Size.small)
    try store.set(.large, for: coded)
    #expect(try store.value(forKey: "size") == ["size": "large"])
    #expect(preferencesError { _ = try store.value(for: raw) }?.code == .typeMismatch)

    let migrating = raw.alsoReading(coded)
    #expect(try store.value(for: migrating) == .large)
    try store.set(try store.value(for: migrating), for: migrating)
    #expect(try store.value(forKey: "size") == 2)
    #expect(try store.value(for: migrating) == .large)

    try store.set(true, forKey: "size")
    #expect(
      preferencesError { _ = try store.value(for: migrating) }?.message == "key \"size\": expected integer, found bool")
  }

  @Test func `item 52: a collection with nil is refused with the place, and the old value stays`() throws {
    let list = PreferenceKey<[Int?]?>.codable("list")
    let names = PreferenceKey<[String: Int?]?>.codable("names")
    try store.set([1, 2], for: list)
    let error = preferencesError { try store.set([1, nil], for: list) }
    #expect(error?.code == .notStorable && error?.message.contains("element 1") == true)
    #expect(preferencesError { try store.set(["a": 1], for: names) }?.code == .notStorable)
    #expect(try store.dictionary() == ["list": [1, 2]])
  }

  @Test func `item 62: absent is nil, and what does not decode is thrown and stays`() throws {
    #expect(try store.value(forKey: "server", decoding: Server.self) == nil)
    try store.set(["host": "a"], forKey: "server")
    let error = preferencesError { _ = try store.value(forKey: "server", decoding: Server.self) }
    #expect(error?.code == .malformed)
    #expect(error?.message == "key \"server\": entry \"port\": it is missing")
    #expect(try store.value(forKey: "server") == ["host": "a"])
  }

  @Test func `item 62: a value that cannot be encoded leaves the old one`() throws {
    try store.set("old", forKey: "key")
    let error = preferencesError { try store.set(encoding: Picky(), forKey: "key") }
    #expect(error?.code == .notStorable)
    #expect(error?.cause is Picky.Refused)
    #expect(error?.description.contains(sentinel) == false)
    #expect(try store.string(forKey: "key") == "old")
  }

  @Test func `item 62: custom coding and what it requests of its coder are honoured`() throws {
    let unit = try #require(CodingUserInfoKey.unit)
    let key = PreferenceKey.codable(
      "length", default: Length(metres: 0), kind: .double, encoder: PreferenceValueEncoder(userInfo: [unit: 1000.0]),
      decoder: PreferenceValueDecoder(userInfo: [unit: 1000.0]))
    try store.set(Length(metres: 2500), for: key)
    #expect(try store.value(forKey: "length") == 2.5)
    #expect(try store.value(for: key) == Length(metres: 2500))
  }

  @Test func `item 48: what does not decode is an error, not the default, and survives until it is overwritten`() throws
  {
    let key = PreferenceKey.codable("server", default: Server(host: "default", port: 1))
    try store.set("garbage", forKey: "server")
    let error = preferencesError { _ = try store.value(for: key) }
    #expect(error?.code == .typeMismatch)
    #expect(error?.message == "key \"server\": expected dictionary, found string")
    #expect(try store.string(forKey: "server") == "garbage")
    try store.set(Server(host: "new", port: 2), for: key)
    #expect(try store.value(for: key).host == "new")
  }

  static let undecodable: [(PreferenceValue, PreferencesError.Code, String)] = [
    (["a": ["host": 1, "port": 1]], .typeMismatch, "entry \"a\": entry \"host\": expected string, found integer"),
    (
      ["a": ["host": "h", "port": 65536]], .outOfRange,
      "entry \"a\": entry \"port\": the integer does not fit UInt16"
    ),
    (["a": [1]], .typeMismatch, "entry \"a\": expected dictionary, found array"),
    (["a": [:]], .malformed, "entry \"a\": entry \"host\": it is missing"),
    ([1], .typeMismatch, "expected dictionary, found array"),
    (
      ["a": ["host": "h", "port": 1, "timeout": 1.0, "tags": "none"]], .malformed,
      "entry \"a\": entry \"since\": it is missing"
    ),
  ]

  @Test(arguments: undecodable.indices)
  func `item 53: the part that does not decode is named`(row: Int) {
    let (value, code, message) = Self.undecodable[row]
    let error = preferencesError { _ = try PreferenceValueDecoder().decode([String: Server].self, from: value) }
    #expect(error?.code == code)
    #expect(error?.message == message)
  }

  @Test func `item 53: an unknown case of an enum is malformed, and its text is not in the error`() {
    let value: PreferenceValue = ["\(sentinel)"]
    let error = preferencesError { _ = try PreferenceValueDecoder().decode([Mode].self, from: value) }
    #expect(error?.code == .malformed)
    #expect(error?.message == "element 0: the stored value is not of type Array<Mode>")
    #expect(error?.description.contains(sentinel) == false)
  }

  @Test func `item 44: a computed default of a coded key is computed at each miss and never stored`() throws {
    let counter = Recorded<Void>()
    let key = PreferenceKey<[Int]>.codable("numbers") {
      counter.add(())
      return [counter.all.count]
    }
    #expect(counter.all.isEmpty)
    #expect(try (store.value(for: key), store.value(for: key)) == ([1], [2]))
    #expect(store.keys().isEmpty)
    try store.set([7], for: key)
    #expect(try store.value(for: key) == [7])
    #expect(counter.all.count == 2)
  }

  @Test func `an error of the type itself is malformed, with that error as cause`() {
    let error = preferencesError { _ = try PreferenceValueDecoder().decode(Picky.self, from: 1) }
    #expect(error?.code == .malformed)
    #expect(error?.cause is Picky.Refused)
    #expect(error?.description.contains(sentinel) == false)
  }

  @Test func `a value that is no array is a mismatch where one is wanted`() {
    let error = preferencesError { _ = try PreferenceValueDecoder().decode([Mode].self, from: ["a": 1]) }
    #expect(error?.code == .typeMismatch)
    #expect(error?.message == "expected array, found dictionary")
  }

  @Test func `an array with a null is named where an array is wanted`() throws {
    let list = try JSONFormat().values(from: Array("{\"list\": [1, null]}".utf8))["list"]
    let value = try #require(list)
    let message = "expected array, found an array with a null"
    #expect(preferencesError { _ = try PreferenceValueDecoder().decode([Int].self, from: value) }?.message == message)
    #expect(preferencesError { _ = try [Int](preferenceValue: value) }?.message == message)
    let other: PreferenceValue = ["$json": "text"]
    #expect(
      preferencesError { _ = try [Int](preferenceValue: other) }?.message == "expected array, found dictionary")
  }

  @Test func `too few elements are malformed`() {
    #expect(
      preferencesError { _ = try PreferenceValueDecoder().decode(Range<Int>.self, from: [1]) }?.code == .malformed)
  }

  @Test func `a type that tries one form after another is understood`() throws {
    #expect(try PreferenceValueDecoder().decode(Port.self, from: 80) == Port(80))
    #expect(try PreferenceValueDecoder().decode(Port.self, from: "443") == Port(443))
  }

  @Test func `a superclass is stored inside its subclass`() throws {
    let dog = Dog()
    (dog.name, dog.tricks) = ("rex", 7)
    let value = try PreferenceValueEncoder().encode(dog)
    #expect(value == ["tricks": 7, "super": ["name": "rex"]])
    let read = try PreferenceValueDecoder().decode(Dog.self, from: value)
    #expect((read.name, read.tricks) == ("rex", 7))
  }

  @Test func `a type knows where in the value it is`() throws {
    let value = try PreferenceValueEncoder().encode(Path())
    #expect(value == ["list": [["at": "list/0"], "list/1"], "base": 2])
    #expect(try PreferenceValueDecoder().decode(Path.self, from: value).steps == ["list/0", "list/1"])
  }

  @Test func `an entry that a type does not know is passed over`() throws {
    #expect(try PreferenceValueDecoder().decode(Nothing.self, from: ["more": 1]) == Nothing())
  }

  static let unstorable: [(String, @Sendable () throws -> Void, String)] = [
    ("nil in an array", { _ = try PreferenceValueEncoder().encode([1, nil]) }, "element 1: nil cannot be stored here"),
    ("nil alone", { _ = try PreferenceValueEncoder().encode(Int?.none) }, "nil cannot be stored here"),
    (
      "a dictionary of optionals", { _ = try PreferenceValueEncoder().encode(["k": ["a": 1 as Int?]]) },
      "entry \"k\": a dictionary of optionals cannot be stored"
    ),
    (
      "a type that says nothing", { _ = try PreferenceValueEncoder().encode(Silent()) },
      "the type has encoded nothing"
    ),
    (
      "a type that says two things", { _ = try PreferenceValueEncoder().encode(TwoFaced()) },
      "the type was encoded in two ways at once"
    ),
  ]

  /// A class and its base class often share a container.
  private struct Shared: Encodable {
    private enum Key: String, CodingKey { case part, a, b }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      var first = container.nestedContainer(keyedBy: Key.self, forKey: .part)
      try first.encode(1, forKey: .a)
      var second = container.nestedContainer(keyedBy: Key.self, forKey: .part)
      try second.encode(2, forKey: .b)
    }
  }

  @Test func `a nested container that is requested again has what is in it`() throws {
    #expect(try PreferenceValueEncoder().encode(Shared()) == ["part": ["a": 1, "b": 2]])
  }

  @Test(arguments: unstorable.indices)
  func `what has no stored form is refused`(row: Int) {
    let (name, body, message) = Self.unstorable[row]
    let error = preferencesError(body)
    #expect(error?.code == .notStorable, "\(name)")
    #expect(error?.message == message, "\(name)")
  }
}
