import Foundation
import Testing

struct ImportRefusalTests {
  /// A file that is not in order, and the line that the error names.
  struct Sample: CustomTestStringConvertible, Sendable {
    let format: String
    let bytes: [UInt8]
    let error: String
    var testDescription: String { "\(format), \(error)" }

    init(_ format: String, _ text: String, _ error: String) {
      (self.format, bytes, self.error) = (format, Array(text.utf8), error)
    }
  }

  private static let canary = TranscriptTests.canary

  /// An entry with one field.
  private static func keepass(_ field: String) -> String {
    "<KeePassFile><Root><Group><Entry><String>\(field)</String></Entry></Group></Root></KeePassFile>"
  }

  static let samples = [
    Sample("dotenv", "A=1\n\(canary)\n", "line 2: not NAME=value"),
    Sample("dotenv", "A=\"\\n\\n\nx\"\nB='\(canary)\n\n", "lines 3 to 4: a quote that is not closed"),
    Sample("dotenv", "A=1\nB=\(canary)\u{0}\n", "line 2: a NUL byte"),
    Sample("dotenv", "A='x' \(canary)", "line 1: text behind the value"),
    Sample("json", "{\"a\":\"\(canary)", "line 1: a string that does not end"),
    Sample("json", "{\"a\":\"\(canary)\",\n\"b\"}", "line 2: expected a colon"),
    Sample("json", "{\"a\":\"\(canary)\"\n", "line 2: an object that does not end"),
    Sample("json", "{\"a\":\"\(canary)\",\n\"b\":[1", "line 2: an array that does not end"),
    Sample("json", "{\"a\":\"\(canary)\"}\n{}", "line 2: text after the object"),
    Sample("json", "{\"a\":\"\(canary)\",\n\"a\":\"x\"}", "line 2, a: the same key as in line 1"),
    Sample("json", "{\"a.b\":\"\(canary)\",\n\"a\":{\"b\":\"x\"}}", "line 2, a.b: the same key as in line 1"),
    Sample(
      "json", "{\"a.b\":\"\(canary)\",\"a\":{\"b\":\"x\"}}",
      "line 1, a.b: the same key as an earlier one in this line, which is kept"),
    Sample("json", "{\"a\":\"\(canary)\",\n\"a\":null}", "line 2, a: the same key as in line 1"),
    Sample("json", "{\"a\":null,\n\"a\":\"\(canary)\"}", "line 2, a: the same key as in line 1"),
    Sample("json", "{\"a\":\"\(canary)\",\n\"a\":{}}", "line 2, a: the same key as in line 1"),
    Sample("json", "{\"a\":\"\(canary)\",\n\"a\":\"op://v/i/f\"}", "line 2, a: the same key as in line 1"),
    Sample("json", "{\"a\":\"\(canary)\",\n\"a\":[\"op://v/i/f\"]}", "line 2, a: the same key as in line 1"),
    Sample("json", "{\"a\":\"\(canary)\",\n\"\":\"x\"}", "line 2: not a key"),
    Sample("json", "{\"a\":\"\(canary)\",\n\"b\\n\":\"x\"}", "line 2, b"),
    Sample("json", "{\"a\":\"\(canary)\\ud800\"}", "line 1: half a character"),
    Sample("json", "{\"a\":\"\(canary)\\x\"}", "line 1: an unknown escape"),
    Sample("json", "{\"a\":\"\(canary)\n\"}", "a control character in a string"),
    Sample("json", "{\"a\":\"\(canary)\",\n\"b\":01}", "line 2: an object that does not end"),
    Sample("json", "[\"\(canary)\"]", "line 1: the top level is not an object"),
    Sample("json", "\(canary)", "line 1: the top level is not an object"),
    Sample("json", String(repeating: "{\"a\":", count: 100_000), "line 1: nested more than 64 deep"),
    Sample("json", "{\"a\":" + String(repeating: "[", count: 100_000), "line 1: nested more than 64 deep"),
    Sample("csv", "name,password\na,\(canary),c\n", "line 2: 3 fields, and the header has 2"),
    Sample("csv", "name,password\na,\"x\ny\"\nb,\"\(canary)\n\n", "lines 4 to 5: a quote that is not closed"),
    Sample("csv", "name,password\na,\"x\"\(canary)\n", "line 2: text behind a quoted field"),
    Sample("csv", "name,password\na,\(canary)\"\n", "line 2: a quote in a field without quotes"),
    Sample("csv", "name,password\na,\(canary)\rx\n", "line 2: a carriage return that ends no line"),
    Sample("csv", "a,\(canary)\n", "line 1: the header names no columns"),
    Sample("csv", "", "line 1: the header names no columns"),
    Sample("csv", "name,password\n\n\"a\u{1}\",\(canary)\n", "line 3, a"),
    Sample("csv", "name,password\n\(String(repeating: "n", count: 1025)),\(canary)\n", "line 2: a name of more than"),
    Sample("csv", "key,value\na,\(canary)\na,\(canary)\n", "line 3, a: the same key as in line 2"),
    Sample("csv", "key,value\na,\(canary)\na,op://v/i/f\n", "line 3, a: the same key as in line 2"),
    Sample("netrc", "machine a\nlogin b \(canary)\n", "line 2: not a keyword of a netrc file"),
    Sample("netrc", "password \(canary)\n", "line 1: a password before the first machine"),
    Sample("netrc", "machine a\npassword \"\(canary)\n\n", "line 2: a quote that is not closed"),
    Sample("netrc", "machine a login x\npassword", "line 2: a keyword without a value"),
    Sample("netrc", "machine a login u password \"\(canary)\nmachine b login c password d", "line 1: a quote"),
    Sample("netrc", "machine a\npassword \"\(canary)\"x\n", "line 2: text behind a quoted value"),
    Sample("netrc", "machine a login u password # \(canary)\n", "line 1: a keyword without a value"),
    Sample("docker", "{\"auths\":{\"a\":\n{\"auth\":\"\(canary)\"}}}", "line 2, a: a login that is not base64"),
    Sample("docker", "{\"auths\":{\"a\":{\"password\":\n\"\(canary)\"}}}", "line 2, a: a login without a user name"),
    Sample(
      "docker", "{\"auths\":{\"a\":{\"username\":\"u\\n\",\n\"password\":\"\(canary)\"}}}", "line 2, a: a user name"),
    Sample("bitwarden", "{\"encrypted\":true,\"data\":\"\(canary)\"}", "this Bitwarden export is encrypted"),
    Sample("keepass", "<KeePassFile>\n\(canary)</KeePassFile>", "line 2: text between the elements"),
    Sample("keepass", "<KeePassFile><Root>\n<Group><Name>\(canary)", "line 2: the text ends within an element"),
    Sample("keepass", "<a>\(canary)</a>", "line 1: not an export of KeePass"),
    Sample("keepass", "<!DOCTYPE a [<!ENTITY x \"\(canary)\">]>", "line 1: not an element"),
    Sample("keepass", "<KeePassFile><Root></Meta></KeePassFile>", "line 1: an element that is not closed"),
    Sample(
      "keepass", keepass("<Key>a</Key>\n<Value>\(canary)&x;</Value>"), "line 2: an entity that XML does not define"),
    Sample("keepass", keepass("<Key>a</Key><Value>\(canary)&#xD800;</Value>"), "line 1: a reference to no character"),
    Sample("keepass", keepass("<Key>a</Key><Value>\(canary)&#x110000;</Value>"), "line 1: a reference to no character"),
    Sample("keepass", keepass("<Key>a</Key><Value>\(canary)<b/></Value>"), "line 1: an element where text is expected"),
    Sample("keepass", keepass("<Value Protected=\"True\">\(canary)</Value>"), "line 1: a protected value"),
    Sample(
      "keepass", "<KeePassFile><Root><Group><Entry/>\n<Name>\(canary)</Name></Group></Root></KeePassFile>",
      "line 2: the element Name of a group behind its entries"),
    Sample(
      "keepass", "<KeePassFile><Root><Group><Group/>\n<UUID>\(canary)</UUID></Group></Root></KeePassFile>",
      "line 2: the element UUID of a group behind its entries"),
    Sample("keepass", "<KeePassFile><Root/>\n<Meta>\(canary)</Meta></KeePassFile>", "line 2: the element Meta behind"),
    Sample("keepass", String(repeating: "<a>", count: 100_000), "line 1: not an export of KeePass"),
    Sample("keepass", keepass(String(repeating: "<a>", count: 100_000)), "line 1: elements nested too deeply"),
    Sample("csv", "\u{89}", "line 1: the header names no columns"),
  ]

  @Test(arguments: samples)
  func `a broken file is an error with a line, without content, and the vault is as before`(_ sample: Sample) throws {
    let scene = try ExchangeScene()
    try scene.write(sample.bytes, to: "plain")
    let before = try scene.file
    for option in ["", " --json", " --dry-run"] {
      let outcome = try scene.shell("secretprefs import plain --format \(sample.format)\(option)")
      #expect(outcome.exit == 65)
      #expect(outcome.output.isEmpty)
      #expect(outcome.errorText.contains(sample.error), "\(outcome.errorText)")
      #expect(!outcome.errorText.contains(Self.canary))
    }
    #expect(try scene.file == before)
  }

  @Test(arguments: ["dotenv", "json", "csv", "netrc", "git-credentials", "docker", "bitwarden", "keepass"])
  func `every beginning of a file either imports or is an error, and random bytes too`(_ format: String) throws {
    let scene = try ExchangeScene()
    let whole = ForeignFileTests.files.first { $0.format == format }!
    for length in stride(from: 0, to: whole.text.utf8.count, by: 37) {
      try scene.write(Array(whole.text.utf8.prefix(length)), to: "plain")
      let outcome = try scene.shell("secretprefs import plain --dry-run --format \(format)")
      #expect([0, 1, 65].contains(outcome.exit), "\(length): \(outcome.exit) \(outcome.errorText)")
    }
    for _ in 0..<10 {
      try scene.write((0..<300).map { _ in UInt8.random(in: 0...255) }, to: "plain")
      #expect([1, 65].contains(try scene.shell("secretprefs import plain --dry-run --format \(format)").exit))
    }
  }

  @Test func `a value above the limit is refused with its line, and nothing is imported`() throws {
    let scene = try ExchangeScene()
    let before = try scene.file
    let outcome = try scene.shell(
      "(echo A=1; printf B=; head -c 16777217 /dev/zero | tr '\\0' x) > .env; secretprefs import .env")
    #expect(outcome.errorText.contains(".env: line 2, B: a value of more than 16777216 bytes"))
    #expect(outcome.exit == 65)
    #expect(try scene.file == before)
  }

  @Test func `a file above the limit is refused`() throws {
    let scene = try ExchangeScene()
    let outcome = try scene.shell("truncate -s 300M .env; secretprefs import .env")
    #expect(outcome.exit == 65)
    #expect(outcome.errorText.contains("more than 268435456 bytes"))
    let list = try scene.shell("truncate -s 17M list; echo A=1 > .env; secretprefs import .env --skip @list")
    #expect(list.exit == 65 && list.errorText.contains("more than 16777216 bytes"), "\(list.errorText)")
  }

  @Test func `values above the limit are each named, also in one line`() throws {
    let scene = try ExchangeScene()
    let outcome = try scene.shell(
      """
      big() { head -c 16777217 /dev/zero | tr '\\0' x; }
      (printf '{"a":"'; big; printf '","b":"'; big; printf '","c":1}') > big.json; secretprefs import big.json --skip
      """)
    for key in ["a", "b"] {
      #expect(outcome.text.contains("line 1, \(key): a value of more than 16777216 bytes"), "\(outcome.errorText)")
    }
    #expect(try scene.values(service: "default").keys.sorted() == ["c"])
  }

  @Test(arguments: [
    ("x.json", [UInt8]([0x1F, 0x8B, 8, 0]), "this is a gzip file"), (".env", [0x50, 0x4B, 3, 4], "this is a zip file"),
    ("x.json", [], "the file is empty"), ("x.json", [0x0A], "the file is empty"),
  ])
  func `a file that is packed or empty is called so`(_ name: String, _ bytes: [UInt8], _ reason: String) throws {
    let scene = try ExchangeScene()
    try scene.write(bytes, to: name)
    let outcome = try scene.shell("secretprefs import \(name)")
    #expect(outcome.exit == 65 && outcome.errorText.contains("\(name): \(reason)"), "\(outcome.errorText)")
  }
}
