import Foundation
import Preferences
import Secrets
import Testing
import VaultCore

@testable import secretprefs

/// Kinds of values that `set` and `import` store.
struct TypedValueTests {
  struct Sample: CustomTestStringConvertible, Sendable {
    let option: String
    let text: String
    let kind: ValueKind
    /// What `get` writes.
    let shown: String
    var testDescription: String { "\(option) \(text)" }
  }

  static let samples = [
    Sample(option: "--int", text: "8080", kind: .integer, shown: "8080"),
    Sample(option: "--int", text: "-1", kind: .integer, shown: "-1"),
    Sample(option: "--integer", text: "18446744073709551615", kind: .unsignedInteger, shown: "18446744073709551615"),
    Sample(option: "--bool", text: "yes", kind: .bool, shown: "true"),
    Sample(option: "--bool", text: "0", kind: .bool, shown: "false"),
    Sample(option: "--double", text: "1e3", kind: .double, shown: "1000.0"),
    Sample(option: "--date", text: "2027-01-31T13:00:00+01:00", kind: .date, shown: "2027-01-31T12:00:00.000Z"),
    Sample(option: "--kind json", text: "{\"a\": [1, null]}", kind: .json, shown: "{\"a\": [1, null]}"),
    Sample(option: "--kind url", text: "https://a.example/x?y", kind: .url, shown: "https://a.example/x?y"),
    Sample(option: "--kind unsignedInteger", text: "7", kind: .unsignedInteger, shown: "7"),
    Sample(option: "--kind string", text: "7", kind: .string, shown: "7"),
    Sample(option: "--kind data", text: "7\n", kind: .data, shown: "7\n"),
  ]

  private func stored(_ key: String, in scene: ExchangeScene) throws -> ValueKind? {
    try scene.vault.kind(service: try Vault.Name("default"), key: key, in: scene.group)
  }

  @Test(arguments: samples) func `set stores text as the kind that an option names`(_ sample: Sample) throws {
    let scene = try ExchangeScene()
    try scene.home.write(sample.text, to: "text")
    let ending = sample.kind == .data ? "" : "; echo"
    let outcome = try scene.shell("(cat text\(ending)) | secretprefs set a \(sample.option) --json; secretprefs get a")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text.hasSuffix("}\n\(sample.shown)"), "\(outcome.text)")
    #expect(try stored("a", in: scene) == sample.kind)
  }

  @Test(arguments: [
    ("--int", "x"), ("--int", "1.0"), ("--int", "0x10"), ("--int", "99999999999999999999"), ("--bool", "maybe"),
    ("--double", "1e999"), ("--double", "0.1e-400"), ("--double", "0x1p3"), ("--date", "2027-01-31"),
    ("--kind json", "{"),
    ("--kind json", "1 2"),
    ("--kind url", "a b"), ("--kind unsignedInteger", "x"), ("--kind unsignedInteger", "-1"),
  ])
  func `text that is no value of the kind is refused, without its text`(_ option: String, _ text: String) throws {
    let scene = try ExchangeScene()
    let outcome = try scene.shell("printf '%s' '\(text)' | secretprefs set a \(option)")
    #expect(outcome.exit == 1)
    #expect(outcome.errorText.contains("the value is not of the kind"))
    #expect(try stored("a", in: scene) == nil)
  }

  @Test(arguments: ["--int --bool", "--data --kind json", "--kind odd"])
  func `a value has one kind, of a known name`(_ options: String) throws {
    #expect(try ExchangeScene().shell("echo 1 | secretprefs set a \(options)").exit == 64)
  }

  @Test(arguments: ["1,\"x\":1", "{", "1}", "", "[1]]"])
  func `text that a program stores as JSON and that is none is exported as text`(_ text: String) throws {
    let scene = try ExchangeScene()
    try scene.vault.transaction(service: try Vault.Name("default"), in: scene.group) { (batch) throws(VaultError) in
      try batch.set(Array(text.utf8).span.bytes, kind: .json, forKey: "a")
    }
    let outcome = try scene.shell("secretprefs export --format json")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(try JSONSerialization.jsonObject(with: outcome.output) as? [String: String] == ["a": text])
  }

  @Test func `an import of JSON keeps the kinds, which the library reads`() throws {
    let scene = try ExchangeScene()
    try scene.home.write(
      #"{"i":8080,"u":18446744073709551615,"b":true,"d":0.5,"e":-1.50e3,"z":1.0,"n":-0,"l":["a","b"],"s":"5","#
        + #""g":0.12345678901234567890,"h":1e999,"o":{"x":[]}}"#, to: "t.json")
    let outcome = try scene.shell("secretprefs import t.json")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    let kinds: [String: ValueKind] = [
      "i": .integer, "u": .unsignedInteger, "b": .bool, "d": .double, "e": .double, "z": .double, "n": .double,
      "l": .json, "s": .string, "g": .json, "h": .json, "o.x": .json,
    ]
    for (key, kind) in kinds { #expect(try stored(key, in: scene) == kind, "\(key)") }
    #expect(try scene.texts(service: "default")["g"] == "0.12345678901234567890")
    let secrets = try SecretPreferences(service: "default", in: scene.vault)
    #expect(try secrets.integer(forKey: "i") == 8080)
    #expect(try secrets.value(forKey: "l", decoding: [String].self) == ["a", "b"])
    #expect(try secrets.double(forKey: "d") == 0.5)
    #expect(try secrets.bool(forKey: "b") == true)
  }
  @Test(
    arguments: [
      ("0.0e-9223372036854775808", .double), ("1.5e-9223372036854775808", .json), ("10e9223372036854775807", .json),
      ("0.0e-99999999999999999999", .double), ("1e-1000000", .json), ("100e-2", .double),
    ] as [(String, ValueKind)])
  func `a number with any exponent is a double only if that is the same number`(_ text: String, _ kind: ValueKind) {
    #expect(Array(text.utf8).withUnsafeBytes { TypedText.kind(ofNumber: $0) } == kind)
  }
}
