import Foundation
import Preferences
import PreferencesOperators
import PreferencesFoundation
import Testing

/// Reading what an `NSKeyedArchiver` has written, without ever calling an unarchiver.
struct KeyedArchiveTests {
  static func archive(_ object: Any, _ format: PropertyListSerialization.PropertyListFormat = .binary) -> Data {
    let archiver = NSKeyedArchiver(requiringSecureCoding: false)
    archiver.outputFormat = format
    archiver.encode(object, forKey: NSKeyedArchiveRootObjectKey)
    return archiver.encodedData
  }

  /// What an archive of these objects, the first being the root, is read as.
  static func read(
    _ objects: [PreferenceValue], allowing allowed: Set<ArchivedClass> = Set(ArchivedClass.allCases)
  ) throws -> PreferenceValue? {
    let list: [String: PreferenceValue] = [
      "$archiver": "NSKeyedArchiver", "$version": 100_000, "$top": ["root": reference(1)],
      "$objects": .array(["$null"] + objects),
    ]
    let data = Data(try PropertyListFormat(.xml).bytes(of: list, replacing: nil))
    return try KeyedArchive(data, allowing: allowed).value(forKey: "root")
  }

  static func reference(_ number: Int64) -> PreferenceValue { ["CF$UID": .integer(number)] }
  static func named(_ name: String) -> PreferenceValue { ["$classname": .string(name), "$classes": []] }

  static let objects: [(String, any Sendable, PreferenceValue)] = [
    ("text", "h\u{e9} 🦊", "h\u{e9} 🦊"), ("empty text", "", ""), ("null as text", "$null", "$null"),
    ("true", true, true), ("one", 1, 1), ("real", 1.0, 1.0), ("least", Int64.min, .integer(.min)),
    ("greatest", UInt64.max, .unsignedInteger(.max)), ("infinity", Double.infinity, .double(.infinity)),
    ("data", Data([0, 255]), .data(Data([0, 255]))),
    (
      "date", Date(timeIntervalSinceReferenceDate: 0.123_456),
      .date(Date(timeIntervalSinceReferenceDate: 0.123_456))
    ),
    ("URL", URL(string: "https://e.x/a?b=c#d")!, .url(URL(string: "https://e.x/a?b=c#d")!)),
    ("file URL", URL(filePath: "/a/b"), .url(URL(filePath: "/a/b"))),
    (
      "UUID", UUID(uuidString: "00010203-0405-0607-0809-0A0B0C0D0E0F")!, "00010203-0405-0607-0809-0A0B0C0D0E0F"
    ),
    ("array", ["a", "b", ["a"]] as [any Sendable], ["a", "b", ["a"]]), ("empty array", [String](), []),
    ("dictionary", ["a": 1, "b": ["c": "d"]] as [String: any Sendable], ["a": 1, "b": ["c": "d"]]),
  ]

  @Test(arguments: objects.indices, [PropertyListSerialization.PropertyListFormat.binary, .xml])
  func `item 60: what an archiver has written is read as the value that it was`(
    index: Int, format: PropertyListSerialization.PropertyListFormat
  ) throws {
    let (name, object, value) = Self.objects[index]
    #expect(try KeyedArchive(Self.archive(object, format)).value(forKey: "root") == value, "\(name)")
  }

  @Test func `item 60: mutable collections and sets are read, too, sets in the order that they are stored in`() throws {
    let cases: [(NSObject, PreferenceValue)] = [
      (NSMutableString(string: "a"), "a"), (NSMutableArray(array: ["a"]), ["a"]),
      (NSMutableDictionary(dictionary: ["a": "b"]), ["a": "b"]), (NSMutableData(data: Data([1])), .data(Data([1]))),
      (NSMutableSet(array: ["b", "a"]), ["a", "b"]), (NSSet(array: ["b", "a"]), ["a", "b"]),
    ]
    for (object, value) in cases {
      #expect(try KeyedArchive(Self.archive(object)).value(forKey: "root") == value)
    }
  }

  @Test func `item 60: an archive as other systems write it is read`() throws {
    let archive = try KeyedArchive(Self.fixture)
    #expect(archive.keys == ["$dollar", "on", "port", "root"])
    #expect(try archive.value(forKey: "port") == 8080)
    #expect(try archive.value(forKey: "on") == true)
    #expect(try archive.value(forKey: "$dollar") == "h\u{e9}llo 🦊")
    #expect(try archive.value(forKey: "0") == nil)
    #expect(
      try archive.value(forKey: "root") == [
        "yes": true, "list": [true, 1, 1.0, "h\u{e9}llo 🦊", []],
        "url": .url(URL(string: "https://example.com/a/b?c=d")!),
        "date": .date(Date(timeIntervalSinceReferenceDate: 725_857_445.5)),
        "uuid": "00010203-0405-0607-0809-0A0B0C0D0E0F", "set": [true, 1.0, 1], "text": "h\u{e9}llo 🦊",
        "mutable": "mutable", "data": .data(Data([1, 2])), "mutable data": .data(Data([3])),
        "above": .unsignedInteger(.max), "least": .integer(.min),
      ])
  }

  @Test func `item 60: an archive is a layer`() throws {
    let archive = try KeyedArchive(Self.fixture)
    let layer = KeysPreferences(name: "old", keys: { archive.keys }, value: archive.value(forKey:))
    #expect(try layer.integer(forKey: "port") == 8080)
    #expect(try layer.keys() == ["$dollar", "on", "port", "root"])
  }

  @Test func `item 60: a key reads an archive, and a migration stores it in a form of today`() throws {
    let store = DictionaryPreferences(["recent": .data(Self.archive(["a", "b"])), "version": 1])
    let old = PreferenceKey<Data?>("recent").read(through: KeyedArchiveTransformation<[String]>())
    #expect(try store.value(for: old) == ["a", "b"])
    try PreferenceMigrator([
      PreferenceMigration(
        to: 1,
        [
          .convert("recent") { stored in
            try KeyedArchiveTransformation<[String]>().value(from: Data(preferenceValue: stored)).preferenceValue
          }
        ])
    ]).run(on: store)
    #expect(try store.value(forKey: "recent") == ["a", "b"])
  }

  @Test func `item 60: data that is no archive, and an archive of something else, is refused and stays`() throws {
    let store = DictionaryPreferences()
    func code(_ data: Data) throws -> PreferencesError.Code? {
      try store.set(data, forKey: "k")
      return preferencesError {
        _ = try store.value(forKey: "k", through: KeyedArchiveTransformation<[String]>())
      }?.code
    }
    #expect(try code(Data()) == .malformed)
    #expect(try code(Data(sentinel.utf8)) == .malformed)
    #expect(try code(Data(try PropertyListFormat(.binary).bytes(of: ["root": 1], replacing: nil))) == .malformed)
    #expect(try code(Self.archive(["a": "b"])) == .typeMismatch)
    #expect(try code(Self.archive([1, 2])) == .typeMismatch)
    let other = NSKeyedArchiver(requiringSecureCoding: false)
    other.encode("a", forKey: "other")
    #expect(try code(other.encodedData) == .malformed)
    #expect(try store.contains("k"))
  }

  // MARK: What is refused

  @Test func `item 60: only classes that are allowed are read, wherever they are`() throws {
    let data = Self.archive(["a": [Date(timeIntervalSinceReferenceDate: 1)]])
    #expect(try KeyedArchive(data, allowing: [.dictionary, .string, .array, .date]).value(forKey: "root") != nil)
    for missing in [ArchivedClass.dictionary, .string, .array, .date] {
      let allowed = Set(ArchivedClass.allCases).subtracting([missing])
      let error = preferencesError { _ = try KeyedArchive(data, allowing: allowed).value(forKey: "root") }
      #expect(error?.code == .typeMismatch, "\(missing)")
    }
    for object in [1, true, 1.5, Data([1])] as [any Sendable] {
      let error = preferencesError {
        _ = try KeyedArchive(Self.archive(object), allowing: [.string]).value(forKey: "root")
      }
      #expect(error?.code == .typeMismatch)
    }
  }

  static let refused: [(String, [PreferenceValue], PreferencesError.Code)] = [
    ("a class of another name", [["$class": reference(2)], named(sentinel)], .typeMismatch),
    ("null", [["$class": reference(2)], named("NSNull")], .typeMismatch),
    (
      "null inside", [["$class": reference(2), "NS.objects": [reference(0)]], named("NSArray")], .typeMismatch
    ),
    ("no class", [["NS.objects": []]], .malformed),
    ("a class that is not there", [["$class": reference(9)]], .malformed),
    ("a class that is no dictionary", [["$class": reference(2)], "NSArray"], .malformed),
    ("a class without a name", [["$class": reference(2)], ["$classes": ["NSArray"]]], .malformed),
    ("no object", [], .malformed),
    (
      "a reference to nothing", [["$class": reference(2), "NS.objects": [reference(7)]], named("NSArray")], .malformed
    ),
    (
      "a negative reference", [["$class": reference(2), "NS.objects": [reference(-1)]], named("NSArray")],
      .malformed
    ),
    ("elements that are none", [["$class": reference(2), "NS.objects": "x"], named("NSArray")], .malformed),
    ("no elements", [["$class": reference(2)], named("NSSet")], .malformed),
    ("a list in its place", [["$class": reference(2), "NS.objects": [[]]], named("NSArray")], .malformed),
    (
      "itself inside", [["$class": reference(2), "NS.objects": [reference(1)]], named("NSArray")], .malformed
    ),
    (
      "itself further inside",
      [
        ["$class": reference(2), "NS.objects": [reference(3)]], named("NSArray"),
        ["$class": reference(2), "NS.objects": ["x", reference(1)]],
      ], .malformed
    ),
    (
      "more keys than values", [["$class": reference(2), "NS.keys": ["a"], "NS.objects": []], named("NSDictionary")],
      .malformed
    ),
    (
      "a repeated key",
      [["$class": reference(2), "NS.keys": ["a", "a"], "NS.objects": [1, 2]], named("NSDictionary")], .malformed
    ),
    (
      "a key that is no string", [["$class": reference(2), "NS.keys": [1], "NS.objects": [1]], named("NSDictionary")],
      .typeMismatch
    ),
    ("a date without a time", [["$class": reference(2)], named("NSDate")], .malformed),
    ("a date that is none", [["$class": reference(2), "NS.time": .double(.nan)], named("NSDate")], .malformed),
    (
      "a UUID of 3 bytes", [["$class": reference(2), "NS.uuidbytes": .data(Data([1, 2, 3]))], named("NSUUID")],
      .malformed
    ),
    ("a string without text", [["$class": reference(2)], named("NSString")], .malformed),
    ("a string of data", [["$class": reference(2), "NS.string": .data(Data())], named("NSString")], .malformed),
    ("data of text", [["$class": reference(2), "NS.data": "x"], named("NSData")], .malformed),
    ("a URL without text", [["$class": reference(2), "NS.base": reference(0)], named("NSURL")], .malformed),
    (
      "a URL relative to text",
      [["$class": reference(2), "NS.base": "x", "NS.relative": "a"], named("NSURL")], .malformed
    ),
    ("a URL that is none", [["$class": reference(2), "NS.relative": "http://[x"], named("NSURL")], .malformed),
    ("a number as an object", [["$class": reference(2)], named("NSNumber")], .malformed),
    ("a rectangle", [["$class": reference(2), "NS.rectval": "x"], named("NSValue")], .typeMismatch),
  ]

  @Test(arguments: refused)
  func `item 60: an archive that is not sound, or holds no preference, is refused`(
    name: String, objects: [PreferenceValue], code: PreferencesError.Code
  ) throws {
    let error = preferencesError { _ = try Self.read(objects) }
    #expect(error?.code == code)
    #expect(error?.description.contains(sentinel) == false)
  }

  @Test func `item 60: the object that is at fault is named`() {
    let inner: PreferenceValue = ["$class": Self.reference(2), "NS.objects": [Self.reference(4)]]
    let error = preferencesError {
      _ = try Self.read([inner, Self.named("NSArray"), ["x": 1], ["$class": Self.reference(5)], Self.named(sentinel)])
    }
    #expect(error?.message == "object 4: its class is not among those that are allowed")
  }

  @Test func `item 61: a small archive cannot unfold into a huge value`() {
    // Ten arrays, each of ten times the next one: ten thousand million times one string.
    let text = PreferenceValue.string(String(repeating: "x", count: 100_000))
    let array = Self.named("NSArray")
    let objects = (0..<10).map { level -> PreferenceValue in
      [
        "$class": Self.reference(11),
        "NS.objects": .array(Array(repeating: Self.reference(level == 9 ? 12 : level + 2), count: 10)),
      ]
    }
    #expect(preferencesError { _ = try Self.read(objects + [array, text]) }?.code == .limitExceeded)
    #expect(throws: Never.self) { try Self.read(Array(objects.prefix(1)) + Array(repeating: "x", count: 9) + [array]) }
  }

  @Test func `item 61: nesting is bounded`() {
    func nested(_ depth: Int64) -> [PreferenceValue] {
      let objects = (0..<depth).map { level -> PreferenceValue in
        ["$class": Self.reference(depth + 1), "NS.objects": level == depth - 1 ? [] : [Self.reference(level + 2)]]
      }
      return objects + [Self.named("NSArray")]
    }
    #expect(throws: Never.self) { try Self.read(nested(128)) }
    #expect(preferencesError { _ = try Self.read(nested(130)) }?.code == .limitExceeded)
    #expect(preferencesError { _ = try Self.read(nested(5_000)) }?.code == .limitExceeded)
  }

  @Test func `item 61: ten thousand mutated archives are read or refused, and none ends the process`() throws {
    var random = SeededGenerator(seed: 61)
    let object: [String: Any] = [
      "list": [1, true, 1.5, "x", ["a"]] as [Any], "date": Date(), "url": URL(string: "https://e.x/a?b")!, "id": UUID(),
      "data": Data([1, 2, 3]), "set": Set(["a", "b"]),
    ]
    let archives = [Self.fixture, Self.archive(object), Self.archive(["a": [1, Date()] as [Any]], .xml)].map {
      Array($0)
    }
    var (read, refused) = (0, 0)
    for round in 0..<10_000 {
      var bytes = archives[round % 3]
      for _ in 0...Int.random(in: 0..<3, using: &random) {
        let index = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes[index] = .random(in: 0...255, using: &random)
        case 2: bytes.removeSubrange(index..<min(index + Int.random(in: 1..<9, using: &random), bytes.count))
        case 3: bytes.insert(contentsOf: bytes[index...].prefix(9), at: Int.random(in: bytes.indices, using: &random))
        default: bytes.removeLast(Int.random(in: 0..<min(9, bytes.count - 1), using: &random))
        }
      }
      do throws(PreferencesError) {
        let archive = try KeyedArchive(Data(bytes))
        for key in archive.keys { _ = try archive.value(forKey: key) }
        read += 1
      } catch {
        #expect([.malformed, .limitExceeded, .typeMismatch].contains(error.code))
        refused += 1
      }
    }
    // Both happen, else this would show nothing.
    #expect(read > 100)
    #expect(refused > 1_000)
  }

  /// Written by Python's plistlib in the shape that macOS gives archives: mutable classes, strings that are objects of
  /// their own, a URL relative to another, keys that begin with `$`.
  static let fixture = Data(
    base64Encoded: """
      YnBsaXN0MDDUAQIDBAUGf4dZJGFyY2hpdmVyWCRvYmplY3RzVCR0b3BYJHZlcnNpb25fEA9OU0tleWVkQXJjaGl2ZXKvECgHCA8TFxod\
      ICQoKSorLC0uLzQ4OT9AQ0dLUlVZWltcXV5fM2BhYmNkVSRudWxs0gkKCwxYJGNsYXNzZXNaJGNsYXNzbmFtZaMMDQ5fEBNOU011dGFi\
      bGVEaWN0aW9uYXJ5XE5TRGljdGlvbmFyeVhOU09iamVjdNIJChARoxESDl5OU011dGFibGVBcnJheVdOU0FycmF50gkKFBWjFRYOXxAP\
      TlNNdXRhYmxlU3RyaW5nWE5TU3RyaW5n0gkKGBmiGQ5VTlNVUkzSCQobHKIcDlZOU0RhdGXSCQoeH6IfDlZOU1VVSUTSCQohIqMiIw5c\
      TlNNdXRhYmxlU2V0VU5TU2V00gkKJSajJicOXU5TTXV0YWJsZURhdGFWTlNEYXRhCRABIz/wAAAAAAAAFAAAAAAAAAAA//////////8T\
      gAAAAAAAAABoAGgA6QBsAGwAbwAg2D7dikIBAtIwMTIzViRjbGFzc1lOUy5zdHJpbmeAA1dtdXRhYmxl0jA1NjdXTlMuZGF0YYAIQQNf\
      EBZodHRwczovL2V4YW1wbGUuY29tL2Ev0zA6Ozw9PldOUy5iYXNlW05TLnJlbGF0aXZlgASAAIASVWI/Yz1k0zA6OzxBQoATgBTSMERF\
      RldOUy50aW1lgAUjQcWh2lLAAADSMEhJSlxOUy51dWlkYnl0ZXOABk8QEAABAgMEBQYHCAkKCwwNDg/SMExNTlpOUy5vYmplY3RzgAej\
      T1BRgAqAC4AJ0jBMU1SAAqDSMExTVqVRT1BXWIAOgBlTeWVzVGxpc3RTdXJsVGRhdGVUdXVpZFNzZXRUdGV4dFRkYXRhXG11dGFibGUg\
      ZGF0YVVhYm92ZVVsZWFzdNMwZUxmZ3RXTlMua2V5c4ABrGhpamtsbW5vcHFyc4AbgByAHYAegB+AIIAhgCKAI4AkgCWAJqxRdXZ3eHlX\
      ent8fX6AGoAVgBaAF4AYgBCAD4ARgAyADdWAgYKDhFdXKIWGWCQkZG9sbGFyUiQwUm9uVHBvcnRUcm9vdBEfkIAnEgABhqAACAARABsA\
      JAApADIARABvAHUAegCDAI4AkgCoALUAvgDDAMcA1gDeAOMA5wD5AQIBBwEKARABFQEYAR8BJAEnAS4BMwE3AUQBSgFPAVMBYQFoAWkB\
      awF0AYUBjgGfAaIBpwGuAbgBugHCAccBzwHRAdMB7AHzAfsCBwIJAgsCDQITAhoCHAIeAiMCKwItAjYCOwJIAkoCXQJiAm0CbwJzAnUC\
      dwJ5An4CgAKBAoYCjAKOApAClAKZAp0CogKnAqsCsAK1AsICyALOAtUC3QLfAuwC7gLwAvIC9AL2AvgC+gL8Av4DAAMCAwQDEQMTAxUD\
      FwMZAxsDHQMfAyEDIwMlAzADOQM8Az8DRANJA0wDTgAAAAAAAAIBAAAAAAAAAIgAAAAAAAAAAAAAAAAAAANT
      """)!

  @Test func `an archive prints no values`() throws {
    let archive = try KeyedArchive(Self.archive(["key": "SENTINEL"]))
    var dumped = ""
    dump(archive, to: &dumped)
    for text in ["\(archive)", String(reflecting: archive), dumped] { #expect(!text.contains("SENTINEL")) }
  }
}
