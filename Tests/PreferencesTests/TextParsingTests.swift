import Foundation
import Preferences
import PreferencesOperators
import Testing

private struct Site: Codable, Hashable, Sendable {
  var home: URL
  var since: Date
  var mirrors: [URL]
  var port: Int
  var isOpen: Bool
}

/// A type that tries several forms, like the JSON values of many libraries.
private enum Anything: Codable, Equatable, Sendable {
  case flag(Bool), number(Double), address(URL), text(String)

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let address = try? container.decode(URL.self) {
      self = .address(address)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .flag(let flag): try container.encode(flag)
    case .number(let number): try container.encode(number)
    case .address(let address): try container.encode(address)
    case .text(let text): try container.encode(text)
    }
  }
}

/// Text becomes the kind that a key asks for, by one rule, in every layer and at any depth.
struct TextParsingTests {
  private static let (a, b) = (URL(string: "https://a")!, URL(string: "https://b/c?d")!)
  private static let date = Date(timeIntervalSinceReferenceDate: 0)
  private static let values: [String: PreferenceValue] = [
    "number": "8080", "share": "0.5", "flag": "yes", "address": "https://a", "date": "2001-01-01T00:00:00Z",
    "addresses": ["https://a", "https://b/c?d"], "dates": ["2001-01-01T00:00:00Z"], "numbers": ["1", "2"],
    "nested": ["one": ["https://a"]],
    "site": [
      "home": "https://a", "since": "2001-01-01T00:00:00Z", "mirrors": ["https://b/c?d"], "port": "80",
      "isOpen": "true",
    ],
  ]

  private func check(_ reader: some PreferencesReader) throws {
    #expect(try reader.integer(forKey: "number") == 8080)
    #expect(try reader.value(for: PreferenceKey("number", default: UInt16(0))) == 8080)
    #expect(try reader.double(forKey: "share") == 0.5)
    #expect(try reader.bool(forKey: "flag") == true)
    #expect(try reader.url(forKey: "address") == Self.a)
    #expect(try reader.date(forKey: "date") == Self.date)
    #expect(try reader.value(forKey: "addresses", as: [URL].self) == [Self.a, Self.b])
    #expect(try reader.value(forKey: "addresses", as: Set<URL>.self) == [Self.a, Self.b])
    #expect(try reader.value(forKey: "dates", as: [Date].self) == [Self.date])
    #expect(try reader.value(forKey: "numbers", as: [Int].self) == [1, 2])
    #expect(try reader.value(forKey: "numbers", as: ClosedRange<Int>.self) == 1...2)
    #expect(try reader.value(forKey: "nested", as: [String: [URL]].self) == ["one": [Self.a]])
    let site = Site(home: Self.a, since: Self.date, mirrors: [Self.b], port: 80, isOpen: true)
    #expect(try reader.value(forKey: "site", decoding: Site.self) == site)
    #expect(try reader.value(forKey: "addresses", decoding: [URL].self) == [Self.a, Self.b])
    #expect(try reader.string(forKey: "number") == "8080")
  }

  @Test func `text is parsed in memory, in files and through composites and views`() throws {
    let memory = DictionaryPreferences(Self.values)
    try check(memory)
    try check(CompositePreferences([DictionaryPreferences(), memory]))
    try check(memory.below("").readOnly)
    try withTemporaryFolder { folder in
      let json = try JSONPreferences(at: folder + "/a.json", options: .creating)
      let list = try PropertyListPreferences(at: folder + "/a.plist", options: .creating)
      for store: any PreferencesStore in [json, list] {
        try store.set(Self.values)
        try check(store)
      }
    }
  }

  @Test func `text that does not parse is an error, and data is never parsed`() throws {
    let store = DictionaryPreferences(["a": "text", "list": ["https://a", "a b"], "data": "QUJD"])
    #expect(preferencesError { _ = try store.integer(forKey: "a") }?.code == .typeMismatch)
    #expect(preferencesError { _ = try store.date(forKey: "a") }?.code == .typeMismatch)
    #expect(preferencesError { _ = try store.value(forKey: "list", as: [URL].self) }?.code == .typeMismatch)
    #expect(preferencesError { _ = try store.value(forKey: "list", decoding: [URL].self) }?.code == .typeMismatch)
    #expect(preferencesError { _ = try store.data(forKey: "data") }?.code == .typeMismatch)
    #expect(preferencesError { _ = try store.array(forKey: "a") }?.code == .typeMismatch)
  }

  @Test(arguments: ["5", "true", "https://a", "text", "nan"])
  func `a type that tries several forms reads the text that it has written`(text: String) throws {
    let store = DictionaryPreferences()
    try store.set(encoding: [Anything.text(text)], forKey: "a")
    #expect(try store.value(forKey: "a", decoding: [Anything].self) == [.text(text)])
  }

  @Test(arguments: ["5", "true", "https://a", "text"], [1, 2000])
  func `text beside a part that is parsed stays what it was`(text: String, count: Int) throws {
    struct Entry: Codable, Equatable {
      var any: Anything
      var home: URL
      var rest: [Anything]
      var next: [String: Anything]
    }

    let stored: PreferenceValue = [
      "any": .string(text), "home": "https://a", "rest": [.string(text)], "next": ["a": .string(text)],
    ]
    let found = try PreferenceValueDecoder().decode(
      [Entry].self, from: .array([PreferenceValue](repeating: stored, count: count)))
    let entry = Entry(any: .text(text), home: Self.a, rest: [.text(text)], next: ["a": .text(text)])
    #expect(found == [Entry](repeating: entry, count: count))
  }

  @Test func `text is parsed at any depth of a type that contains itself`() throws {
    struct Node: Codable, Equatable {
      var next: [Node]
      var home: URL
    }

    var node: PreferenceValue = ["next": [], "home": "https://a"]
    for _ in 0..<50 { node = ["next": [node], "home": "https://a"] }
    let decoded = try PreferenceValueDecoder().decode(Node.self, from: node)
    #expect(decoded.next[0].next[0].home == Self.a)
  }

  @Test func `a layer of text has lists and structs`() throws {
    let environment = EnvironmentPreferences(
      prefix: "SHOP",
      environment: [
        "SHOP_PORTS": "80, 8080", "SHOP_FLAGS": "yes,no", "SHOP_SHARES": "0.5,1", "SHOP_HOSTS": "a, b ,c",
        "SHOP_NONE": "", "SHOP_JSON": #"["a,b", "c"]"#, "SHOP_LINKS": "https://a,https://b/c?d",
        "SHOP_SITE": #"""
        {"home": "https://a", "since": "2001-01-01T00:00:00Z", "mirrors": [], "port": 1, "isOpen": false}
        """#,
        "SHOP_WEIGHTS": #"{"a": 1, "b": "2"}"#,
      ])
    #expect(try environment.value(forKey: "ports", as: [Int].self) == [80, 8080])
    #expect(try environment.value(forKey: "flags", as: [Bool].self) == [true, false])
    #expect(try environment.value(forKey: "shares", as: [Double].self) == [0.5, 1])
    #expect(try environment.stringArray(forKey: "hosts") == ["a", "b", "c"])
    #expect(try environment.stringArray(forKey: "none") == [])
    #expect(try environment.stringArray(forKey: "json") == ["a,b", "c"])
    #expect(try environment.value(forKey: "links", decoding: [URL].self) == [Self.a, Self.b])
    #expect(try environment.value(forKey: "ports", decoding: Set<Int>.self) == [80, 8080])
    let site = Site(home: Self.a, since: Self.date, mirrors: [], port: 1, isOpen: false)
    #expect(try environment.value(forKey: "site", decoding: Site.self) == site)
    #expect(try environment.value(forKey: "weights", as: [String: Int].self) == ["a": 1, "b": 2])
    #expect(preferencesError { _ = try environment.value(forKey: "ports", decoding: Site.self) }?.code == .typeMismatch)
  }

  @Test(arguments: [
    "0x10", "0x1p3", "nan(0x1)", "snan", "-0x1", "1e999", "0.1e-400", "-1E-999", "", " 1", "1_000", "٣", "1e", "0b1",
    "+-1",
  ])
  func `a number in text is decimal`(text: String) {
    #expect(PreferenceValue(parsing: text, as: .double) == nil)
    #expect(PreferenceValue(parsing: text, as: .integer) == nil)
  }

  @Test func `decimal numbers, infinity and NaN are numbers`() {
    for (text, number) in [("1", 1), ("-0.5", -0.5), ("+1e3", 1000), (".5", 0.5), ("1E-2", 0.01), ("INF", .infinity)] {
      #expect(PreferenceValue(parsing: text, as: .double) == .double(number), "\(text)")
    }
    guard case .double(let nan)? = PreferenceValue(parsing: "NaN", as: .double) else { return #expect(Bool(false)) }
    #expect(nan.isNaN)
  }

  @Test func `empty variables can be ignored, and names as they are written can be reached`() throws {
    let variables = ["A": "", "http_proxy": "p", "B": "1", "Mixed_Case": "m"]
    let all = EnvironmentPreferences(environment: variables)
    #expect(try all.string(forKey: "a") == "")
    #expect(try all.string(forKey: "http_proxy") == "p")
    #expect(try all.string(forKey: "Mixed_Case") == "m")
    #expect(try all.keys() == ["Mixed_Case", "a", "b", "http_proxy"])
    let some = EnvironmentPreferences(environment: variables, ignoringEmpty: true)
    #expect(try CompositePreferences([some, DictionaryPreferences(["a": "below"])]).string(forKey: "a") == "below")
  }

  @Test func `a dotenv file can be read by the names of the environment`() throws {
    try withTemporaryFolder { folder in
      try Data("SHOP_SERVER_PORT=80\nexport SHOP_HOSTS=a,b\nOTHER=1\n".utf8).write(to: URL(filePath: folder + "/.env"))
      let layer = try EnvironmentPreferences(prefix: "SHOP", dotenv: folder + "/.env")
      #expect(try layer.integer(forKey: "server.port") == 80)
      #expect(try layer.stringArray(forKey: "hosts") == ["a", "b"])
      #expect(try layer.keys() == ["hosts", "server.port"])
    }
  }

  @Test func `decimals and wide integers are decoded from numbers, and a type may encode nothing`() throws {
    struct Wide: Codable, Equatable { var a, b: Int128; var c: UInt128; var d: Decimal }
    struct Nothing: Codable, Equatable {
      init() {}
      init(from decoder: any Decoder) throws {}
      func encode(to encoder: any Encoder) throws {}
    }
    struct Outer: Codable, Equatable { var nothing = Nothing() }
    let store = DictionaryPreferences(["d": 0.1, "i": 12, "text": "0.10", "n": ["nothing": [:]]])
    #expect(try store.value(forKey: "d", decoding: Decimal.self) == Decimal(string: "0.1"))
    #expect(try store.value(forKey: "i", decoding: Decimal.self) == 12)
    #expect(try store.value(forKey: "text", decoding: Decimal.self) == Decimal(string: "0.1"))
    #expect(try store.value(forKey: "i", decoding: Int128.self) == 12)
    let wide = Wide(a: .min, b: 5, c: .max, d: Decimal(string: "3.14159265358979323846")!)
    try store.set(encoding: wide, forKey: "w")
    #expect(try store.value(forKey: "w", decoding: Wide.self) == wide)
    #expect(try store.dictionary(forKey: "w")?["b"] == 5)
    try store.set(Int128.max, forKey: "m")
    #expect(try store.value(forKey: "m", as: Int128.self) == .max)
    #expect(preferencesError { _ = try store.value(forKey: "m", as: Int.self) }?.code == .typeMismatch)
    try store.set(encoding: Outer(), forKey: "o")
    #expect(try store.value(forKey: "o") == ["nothing": [:]])
  }

  @Test func `decimals, short floats and optionals are read from layers of text`() throws {
    let layers: [any PreferencesReader] = [
      EnvironmentPreferences(environment: ["D": "0.1", "F": "0.5", "I": "7", "BAD": "x"]),
      LaunchArgumentPreferences(["--d=0.1", "--f=0.5", "--i=7", "--bad=x"]),
    ]
    for layer in layers {
      #expect(try layer.value(forKey: "d", decoding: Decimal.self) == Decimal(string: "0.1"))
      #expect(try layer.value(forKey: "f", decoding: Float16.self) == 0.5)
      #expect(try layer.value(forKey: "i", decoding: Int?.self) == 7)
      #expect(preferencesError { _ = try layer.value(forKey: "bad", decoding: Decimal.self) }?.code == .typeMismatch)
    }
    let exact = EnvironmentPreferences(environment: ["D": "3.14159265358979323846"])
    #expect(try exact.value(forKey: "d", decoding: Decimal.self) == Decimal(string: "3.14159265358979323846"))
  }

  @Test func `wide integers are read from text, and from no number that may be rounded`() throws {
    let text = DictionaryPreferences(["a": "170141183460469231731687303715884105727", "b": "5"])
    #expect(try text.value(forKey: "a", as: Int128.self) == .max)
    #expect(try text.value(forKey: "b", as: UInt128.self) == 5)
    let layer = LaunchArgumentPreferences(["--a=\(UInt128.max)", "--b=-3"])
    #expect(try layer.value(forKey: "a", as: UInt128.self) == .max)
    #expect(try layer.value(forKey: "b", as: Int128.self) == -3)
    let store = DictionaryPreferences(["d": 2e19, "e": 1.5])
    #expect(preferencesError { _ = try store.value(forKey: "d", as: Int128.self) }?.code == .outOfRange)
    #expect(preferencesError { _ = try store.value(forKey: "e", as: Int128.self) }?.code == .typeMismatch)
  }

  @Test(arguments: [
    (#"["a","b",]"#, nil), ("[1, null", nil), (#"["a" "b"]"#, nil), (" [ {x} ]", nil), ("[1,2,", nil),
    ("[::1],[::2]:80", ["[::1]", "[::2]:80"]), ("[::1]", ["[::1]"]), ("a[0],b", ["a[0]", "b"]), ("x[,y", ["x[", "y"]),
  ])
  func `a list that begins as JSON and is none is no list`(_ text: String, _ parts: [String]?) throws {
    let expected = parts.map { PreferenceValue.array($0.map { .string($0) }) }
    #expect(PreferenceValue(parsing: text, as: .array) == expected)
  }

  @Test func `a float is stored with its shortest text`() throws {
    let store = DictionaryPreferences()
    try store.set(Float(0.1), forKey: "f")
    #expect(try store.value(forKey: "f") == 0.1)
    var random = SeededGenerator(seed: 8)
    for _ in 0..<100_000 {
      let float = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
      let back = try Float(preferenceValue: float.preferenceValue)
      #expect(back == float || back.isNaN && float.isNaN)
    }
  }
}

private final class Chain: Codable, Sendable {
  let next: Chain?
  init(_ length: Int) { next = length > 0 ? Chain(length - 1) : nil }
}

/// Values are at most 128 levels deep.
struct DepthTests {
  private func nested(_ levels: Int, in value: PreferenceValue = 1) -> PreferenceValue {
    (0..<levels).reduce(value) { value, _ in [value] }
  }

  @Test func `a type of 4,000 levels is refused, one of 100 is stored`() throws {
    let store = DictionaryPreferences()
    #expect(preferencesError { try store.set(encoding: Chain(4_000), forKey: "a") }?.code == .limitExceeded)
    try store.set(encoding: Chain(100), forKey: "a")
    #expect(throws: Never.self) { try store.value(forKey: "a", decoding: Chain.self) }
    let deep = (0..<4_000).reduce(PreferenceValue.dictionary([:])) { value, _ in ["next": value] }
    #expect(throws: PreferencesError.self) { try PreferenceValueDecoder().decode(Chain.self, from: deep) }
  }

  @Test func `every store refuses a value that is deeper than 128 levels`() throws {
    let buffer = BufferedPreferences(DictionaryPreferences())
    let stores: [any PreferencesStore] = [
      DictionaryPreferences(), CompositePreferences([DictionaryPreferences()]), buffer, SharedPreferences(),
      DictionaryPreferences().below("a."),
    ]
    for store in stores {
      try store.set(nested(128), forKey: "a")
      let error = preferencesError { try store.set(nested(129), forKey: "a") }
      #expect(error?.code == .limitExceeded)
      #expect(try store.value(forKey: "a") == nested(128))
    }
    #expect(DictionaryPreferences(["a": nested(1_000), "b": 1]).keys() == ["b"])
  }
}
