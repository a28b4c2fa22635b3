import FoundationEssentials
import Preferences
import Synchronization
import Testing

private enum Theme: String, Codable, Sendable { case light, dark }

private struct Server: Codable, Hashable {
  var host: String
  var port: Int
  var since = Date(timeIntervalSinceReferenceDate: 1)
  var home = URL(filePath: "/")
}

private let doubling = TwoWayTransformation<Int, Int>(reading: { $0 * 2 }, writing: { $0 / 2 })
private let adding = TwoWayTransformation<Int, Int>(reading: { $0 + 1 }, writing: { $0 - 1 })
private let counting = ReadingTransformation<String, Int> { $0.count }

struct TransformationTests {
  let store = DictionaryPreferences()

  @Test func `item 57: an optional key through a transformation is removed by nil`() throws {
    let key = PreferenceKey<Int?>("mask", through: Hexadecimal())
    #expect(try store.value(for: key) == nil)
    try store.set(16, for: key)
    #expect(try store.value(forKey: "mask") == "10")
    try store.set(nil, for: key)
    #expect(try store.contains("mask") == false)
  }

  @Test func `item 57: a declared key is transformed, with its name and secrecy`() throws {
    let key = PreferenceKey("mask", default: "0").transformed(by: Hexadecimal(), default: 0)
    try store.set(10, for: key)
    #expect(try store.value(forKey: "mask") == "a")
    #expect(try store.value(for: key) == 10)
    #expect(key.secrecy == .plain)

    let optional = PreferenceKey<String?>("mask").transformed(by: Hexadecimal())
    #expect(try store.value(for: optional) == 10)
    try store.set(nil, for: optional)
    #expect(try store.value(for: optional) == nil)
    #expect(store.keys().isEmpty)
  }

  @Test func `item 58: a transformation that fails to read throws, without the value, and keeps it`() throws {
    let key = PreferenceKey("mask", default: 0, through: Hexadecimal())
    try store.set("\(sentinel)", forKey: "mask")
    let error = preferencesError { _ = try store.value(for: key) }
    #expect(error?.code == .malformed)
    #expect(error?.message == "key \"mask\": what is stored cannot be transformed")
    #expect(error?.cause is Hexadecimal.NotHexadecimal)
    #expect(error?.description.contains(sentinel) == false)
    #expect(try store.string(forKey: "mask") == sentinel)
  }

  @Test func `item 58: a failure in the middle of a chain keeps its own error`() throws {
    let chain = RawValueTransformation<Theme>().then(
      TwoWayTransformation(reading: { $0 == .dark }, writing: { $0 ? .dark : .light }))
    try store.set("sepia", forKey: "theme")
    let error = preferencesError { _ = try store.value(forKey: "theme", through: chain) }
    #expect(error?.code == .outOfRange)
    try store.set(true, forKey: "theme", through: chain)
    #expect(try store.string(forKey: "theme") == "dark")
  }

  @Test func `item 58: a subscript reports a failure and leaves the old value`() throws {
    try store.set("ff", forKey: "mask")
    let failures = Failures()
    PreferenceFailures.withHandler(failures.add) { store["mask", Hexadecimal()] = -1 }
    #expect(try store.value(forKey: "mask") == "ff")
    try store.set("no number", forKey: "mask")
    PreferenceFailures.withHandler(failures.add) { #expect(store["mask", Hexadecimal()] == nil) }
    #expect(failures.codes == [.notStorable, .malformed])
  }

  @Test func `item 59: a transformation is found by its name`() throws {
    let registry = TransformationRegistry()
    registry.register(Hexadecimal(), named: "hexadecimal")
    registry.register(doubling, named: "twice")
    #expect(registry.names == ["hexadecimal", "twice"])
    let found = try #require(try registry.transformation(named: "hexadecimal", from: String.self, to: Int.self))
    try store.set(255, forKey: "mask", through: found)
    #expect(try store.string(forKey: "mask") == "ff")
    registry.unregister("twice")
    #expect(registry.names == ["hexadecimal"])
  }

  @Test func `item 59: an unknown name is nil, and a name of other types is an error`() throws {
    let registry = TransformationRegistry()
    registry.register(Hexadecimal(), named: "hexadecimal")
    #expect(try registry.transformation(named: "octal", from: String.self, to: Int.self) == nil)
    let error = preferencesError {
      _ = try registry.transformation(named: "hexadecimal", from: Int.self, to: Int.self)
    }
    #expect(error?.code == .typeMismatch)
  }

  @Test func `item 59: a name that is registered again means the newer transformation`() throws {
    let registry = TransformationRegistry()
    registry.register(doubling, named: "n")
    registry.register(adding, named: "n")
    #expect(try registry.transformation(named: "n", from: Int.self, to: Int.self)?.value(from: 5) == 6)
  }

  @Test func `item 59: a one-way subscript reports a failure`() throws {
    try store.set(4, forKey: "text")
    let failures = Failures()
    PreferenceFailures.withHandler(failures.add) { #expect(store["text", counting] == nil) }
    #expect(failures.codes == [.typeMismatch])
  }

  @Test func `item 59: a chain with a one-way part is one-way, and no transformation to write with`() throws {
    let chain = UTF8Transformation().then(ReadingTransformation { $0.count })
    #expect(try chain.value(from: "é") == 2)
    #expect(!(chain is any PreferenceTransformation))
    #expect(!(counting.then(doubling) is any PreferenceTransformation))
    #expect(try counting.then(doubling).value(from: "four") == 8)
  }

  @Test func `item 60: a Codable value comes back through JSON in text, also from the environment`() throws {
    let key = PreferenceKey<[String: Int]?>("limits", through: JSONTransformation().asText)
    try store.set(["b": 2, "a": 1], for: key)
    #expect(try store.string(forKey: "limits") == #"{"a":1,"b":2}"#)
    let environment = EnvironmentPreferences(environment: ["LIMITS": #"{"a": 3}"#])
    #expect(try environment.value(for: key) == ["a": 3])
  }

  @Test func `item 60: dates come back to the fraction, unless XML is requested`() throws {
    let key = PreferenceKey<Server?>("server", through: PropertyListTransformation())
    let server = Server(host: "a", port: 1, since: Date(timeIntervalSinceReferenceDate: 0.25))
    try store.set(server, for: key)
    #expect(try store.value(for: key) == server)
  }

  @Test(arguments: [true, false])
  func `item 60: an array and a set come back through a property list`(isXML: Bool) throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = isXML ? .xml : .binary
    let list = PropertyListTransformation<[Int]>(encoder: encoder)
    #expect(try list.value(from: try list.stored(from: [3, 1])) == [3, 1])
    let set = PropertyListTransformation<Set<String>>(encoder: encoder)
    #expect(try set.value(from: try set.stored(from: ["a", "b"])) == ["a", "b"])
  }

  @Test func `item 60: what a property list could not give back is refused, and the old value stays`() throws {
    let key = PreferenceKey<Tree?>("tree", through: PropertyListTransformation())
    let deep = (0..<200).reduce(Tree.leaf(0)) { tree, _ in .node(left: tree, right: .leaf(1)) }
    try store.set(.leaf(1), for: key)
    #expect(preferencesError { try store.set(deep, for: key) }?.code == .notStorable)
    #expect(try store.value(for: key) == .leaf(1))
  }

  @Test func `item 62: what JSON cannot say is refused, and the old value stays`() throws {
    let key = PreferenceKey<[String: Double]?>("n", through: JSONTransformation())
    try store.set(["a": 1], for: key)
    let error = preferencesError { try store.set(["a": .nan], for: key) }
    #expect(error?.code == .notStorable)
    #expect(try store.value(for: key) == ["a": 1])
  }

  @Test(arguments: ["", "{", "[1]", #"{"host": "\#(sentinel)", "port": "\#(sentinel)"}"#, #"{"host": "h"}"#])
  func `item 62: JSON that is none, or of another type, is thrown without its text`(text: String) throws {
    let error = try #require(
      preferencesError { _ = try JSONTransformation<Server>().asText.value(from: text) })
    #expect(error.code == .malformed || error.code == .typeMismatch)
    #expect(!error.description.contains(sentinel))
  }

  @Test func `item 62: the part of JSON that does not decode is named`() {
    let error = preferencesError {
      _ = try JSONTransformation<[String: [Int]]>().asText.value(from: #"{"a": [1, "x"]}"#)
    }
    #expect(error?.message == "entry \"a\": element 1: the stored value is not of type Dictionary<String, Array<Int>>")
  }

  @Test func `data that is no text is refused`() {
    let error = preferencesError { _ = try UTF8Transformation().stored(from: Data([0xFF])) }
    #expect(error?.code == .notStorable)
  }

  @Test(arguments: ["<?>", "<!-->", "<!--->"], ["?>", "-->"])
  func `a property list is decoded from what was parsed, wherever a parser sees the end of a comment`(
    begin: String, end: String
  ) {
    let deep = String(repeating: "<array>", count: 10_000)
    let text = "<plist><dict>\(begin)<key>a</key>\(deep)\(end)</dict></plist>"
    #expect(throws: PreferencesError.self) {
      try PropertyListTransformation<[String: [String]]>().value(from: Data(text.utf8))
    }
  }

  @Test func `item 61: a property list that is nested deeply is refused, not followed`() throws {
    let depth = 100_000
    let nested = Data(
      ("<plist><dict><key>a</key>" + String(repeating: "<array>", count: depth)
        + String(repeating: "</array>", count: depth) + "</dict></plist>").utf8)
    let error = preferencesError { _ = try PropertyListTransformation<Server>().value(from: nested) }
    #expect(error?.code == .limitExceeded)
  }

  @Test(arguments: ["json", "xml", "binary"])
  func `item 61: mutated archives give a value or an error of ours, and never end the process`(form: String) throws {
    let list = PropertyListEncoder()
    list.outputFormat = form == "xml" ? .xml : .binary
    let transformation =
      form == "json"
      ? TwoWayTransformation(JSONTransformation<[String: Server]>())
      : TwoWayTransformation(PropertyListTransformation<[String: Server]>(encoder: list))
    let archive = try transformation.stored(
      from: ["one": Server(host: "a", port: 1), "two": Server(host: "é", port: .max)])
    var random = SeededGenerator(seed: 61)
    var (values, errors) = (0, 0)
    for _ in 0..<3_400 {
      var mutated = archive
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let position = Int.random(in: mutated.startIndex..<mutated.endIndex, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: mutated[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: mutated[position] = UInt8.random(in: 0...255, using: &random)
        case 2: mutated.insert(mutated[position], at: position)
        default: mutated.remove(at: position)
        }
      }
      do {
        _ = try transformation.value(from: mutated)
        values += 1
      } catch {
        #expect(error is PreferencesError)
        errors += 1
      }
    }
    #expect(values > 0 && errors > 0)
  }
}

/// The failures that handlers received.
private final class Failures: Sendable {
  private let list = Mutex<[PreferencesError.Code?]>([])
  var codes: [PreferencesError.Code?] { list.withLock(\.self) }
  func add(_ failure: PreferenceFailures.Failure) {
    list.withLock { $0.append((failure.error as? PreferencesError)?.code) }
  }
}
