import Foundation
import Testing

@testable import secretprefs

/// Files that are short, and whose parts would take much memory if all of them were kept.
struct ImportLimitTests {
  struct Sample: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let format: String
    let error: String
    /// Made when it is written: a test's name has its arguments.
    let text: @Sendable () -> String
  }

  private static let name = String(repeating: "n", count: 1 << 20)
  private static let shorter = String(repeating: "n", count: 900)

  private static func many(_ count: Int, _ part: (Int) -> String, separator: String = "") -> String {
    (0..<count).map(part).joined(separator: separator)
  }

  private static func sample(
    _ description: String, _ format: String, _ error: String, _ text: @escaping @Sendable () -> String
  ) -> Sample { Sample(testDescription: description, format: format, error: error, text: text) }

  private static let tooLong = "line 1: a name of more than 1024 bytes"
  private static let notAKey =
    "line 1, \(String(repeating: "n", count: 40))…: not a key: a key has 1 to 1024 bytes and no control characters"
  private static let allBad = "20000 parts are bad; nothing was imported"
  private static let tooMany = "line 1: more than 100000 values"

  private static let samples = [
    sample("a long name around many values", "json", tooLong) {
      "{\"\(name)\":{\(many(20_000, { "\"k\($0)\":1" }, separator: ","))}}"
    },
    sample("names that are long together", "json", "line 1, \(shorter): nested names of more than 1024 bytes") {
      "{\"\(shorter)\":{\"\(shorter)\":{\(many(20_000, { "\"k\($0)\":1" }, separator: ","))}}}"
    },
    sample("a name around many values", "json", "line 1: the names have more than 16777216 bytes") {
      "{\"\(shorter)\":{\(many(20_000, { "\"k\($0)\":1" }, separator: ","))}}"
    },
    sample("an array of zeros", "json", tooMany) { "{\"a\":[\(many(2_000_000, { _ in "0" }, separator: ","))]}" },
    sample("a deep array of zeros", "json", tooMany) {
      "{\"a\":\(many(60) { _ in "[" })\(many(2_000_000, { _ in "0" }, separator: ","))\(many(60) { _ in "]" })}"
    },
    sample("a long registry", "docker", "line 1, auths: a name of more than 1024 bytes") {
      "{\"auths\":{\"\(name)\":{\(many(20_000, { "\"k\($0)\":\"v\"" }, separator: ","))}}}"
    },
    sample("a long item", "bitwarden", notAKey) {
      "{\"encrypted\":false,\"items\":[{\"name\":\"\(name)\",\"fields\":["
        + many(20_000, { "{\"name\":\"k\($0)\",\"value\":\"v\"}" }, separator: ",") + "]}]}"
    },
    sample("a long folder", "bitwarden", allBad) {
      "{\"encrypted\":false,\"folders\":[{\"id\":\"f\",\"name\":\"\(name)\"}],\"items\":["
        + many(20_000, { "{\"name\":\"k\($0)\",\"folderId\":\"f\",\"notes\":\"v\"}" }, separator: ",") + "]}"
    },
    sample("a long group", "keepass", allBad) { keepass(groups: [name], many(20_000) { entry("t\($0)") }) },
    sample("groups that are long together", "keepass", allBad) {
      keepass(groups: [shorter, shorter], many(20_000) { entry("t\($0)") })
    },
    sample("a long title", "keepass", notAKey) { keepass(groups: [], entry(name)) },
    sample("many entries", "keepass", "line 1: more than 100000 entries") {
      keepass(groups: [], many(500_000) { _ in "<Entry/>" })
    },
    sample("many fields", "keepass", "line 1: more than 100000 fields") {
      keepass(groups: [], "<Entry>\(many(500_000) { _ in "<String/>" })</Entry>")
    },
    sample("many columns", "csv", "line 1: more than 1000 columns") { "name,password" + many(2_000_000) { _ in "," } },
    sample("a long group of one row", "csv", "line 2: a name of more than 1024 bytes") {
      "group,name,password\n" + many(2_000_000) { _ in "/" } + ",a,b\n"
    },
    sample("many rows", "csv", "line 100002: more than 100000 values") {
      "name,password\n" + many(500_000) { _ in "a,b\n" }
    },
    sample("many logins of one machine", "netrc", tooMany) { "machine a" + many(500_000) { _ in " login x" } },
    sample("a long machine", "netrc", tooLong) { "machine \(name)" + many(20_000) { _ in " login x" } },
    sample("many lines of git", "git-credentials", "line 100001: more than 100000 values") {
      many(200_000) { "a://b:c@\($0)\n" }
    },
    sample("many assignments", "dotenv", "line 100001: more than 100000 values") { many(500_000) { _ in "a=\n" } },
    sample("a long name", "dotenv", tooLong) { "\(name)=1\n" },
  ]

  private static func keepass(groups: [String], _ entries: String) -> String {
    "<KeePassFile><Root><Group>" + groups.map { "<Group><Name>\($0)</Name>" }.joined() + entries
      + groups.map { _ in "</Group>" }.joined() + "</Group></Root></KeePassFile>"
  }

  private static func entry(_ title: String) -> String {
    "<Entry><String><Key>Title</Key><Value>\(title)</Value></String>"
      + "<String><Key>Password</Key><Value>v</Value></String></Entry>"
  }

  @Test(arguments: samples)
  func `a limit is an error with a line before memory is taken`(_ sample: Sample) throws {
    let scene = try ExchangeScene()
    try scene.home.write(sample.text(), to: "plain")
    let before = try scene.file
    // A debug build alone takes half of it.
    let outcome = try scene.shell("ulimit -v 400000; secretprefs import plain --format \(sample.format)")
    #expect(outcome.exit == 65)
    #expect(outcome.errorText.split(separator: "\n").first == "secretprefs: error: plain: \(sample.error)")
    #expect(try scene.file == before)
  }

  @Test func `as many values as the limit allows are imported`() throws {
    let scene = try ExchangeScene()
    try scene.home.write("{\(Self.many(100_000, { "\"k\($0)\":1" }, separator: ","))}", to: "plain.json")
    let outcome = try scene.shell("secretprefs import plain.json")
    #expect(outcome.text.hasPrefix("100000 keys imported\n"), "\(outcome.errorText)")
  }

  @Test func `the logins of docker with tokens are found in linear time`() throws {
    let scene = try ExchangeScene()
    let logins = Self.many(
      30_000, { "\"r\($0)\":{\"auth\":\"dTpw\",\"identitytoken\":\"t\($0)\"}" }, separator: ",")
    try scene.home.write("{\"auths\":{\(logins)}}", to: "config.json")
    let outcome = try scene.shell("secretprefs import config.json --dry-run | grep -c 'new '")
    #expect(outcome.text == "30000\n", "\(outcome.errorText)")
  }
  private static let slow = [
    sample("texts in a list that begin alike", "json", "") {
      "{\"a\":[\(many(20_000, { "\"vault:\($0 + 1_000_000)\(shorter.prefix(90))\"" }, separator: ","))]}"
    },
    sample("references to the last field of an entry", "keepass", "") {
      let (id, digits) = ("AAECAwQFBgcICQoLDA0ODw==", "000102030405060708090A0B0C0D0E0F")
      let field = { (name: String, value: String) in "<String><Key>\(name)</Key><Value>\(value)</Value></String>" }
      return keepass(
        groups: [],
        "<Entry><UUID>\(id)</UUID>\(many(20_000) { _ in field("x", "y") })\(field("Password", "p"))</Entry>"
          + "<Entry>\(many(20_000) { _ in field("x", "{REF:P@I:\(digits)}") })</Entry>")
    },
    sample("fields with the names of an entry's keys", "bitwarden", "") {
      let field = { (name: String) in "{\"name\":\"\(name)\",\"value\":\"v\"}" }
      let taken = many(9, { field($0 == 0 ? "b/z" : "b (\($0 + 1))/z") }, separator: ",")
      let fields = many(40_000, { field("y\($0)") }, separator: ",")
      return "{\"encrypted\":false,\"items\":[{\"name\":\"a\",\"fields\":[\(taken)]},"
        + "{\"name\":\"a/b\",\"fields\":[\(fields),\(field("z"))]}]}"
    },
    sample("fields that show other fields", "bitwarden", "") {
      "{\"encrypted\":false,\"items\":[{\"name\":\"a\",\"fields\":["
        + many(20_000, { _ in "{\"linkedId\":1}" }, separator: ",") + ","
        + many(20_000, { _ in "{\"value\":\"v\"}" }, separator: ",") + "]}]}"
    },
  ]

  @Test(arguments: slow)
  func `the parts of a file are found in linear time`(_ sample: Sample) throws {
    let scene = try ExchangeScene()
    try scene.home.write(sample.text(), to: "plain")
    let outcome = try scene.shell("timeout 120 secretprefs import plain --format \(sample.format) --dry-run")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
  }
}
