import FoundationEssentials
import Glibc
import Preferences
import Testing

struct EnvironmentPreferencesTests {
  @Test(arguments: [
    ("timeout", "TIMEOUT"), ("server.port", "SERVER_PORT"), ("http.serverTimeout", "HTTP_SERVER_TIMEOUT"),
    ("pollIntervalSeconds", "POLL_INTERVAL_SECONDS"), ("http.user-agent", "HTTP_USER_AGENT"),
    ("serverURL", "SERVER_URL"), ("URLPath", "URLPATH"), ("sha256Sum", "SHA256SUM"), ("a b", "A_B"),
  ])
  func `a key names a variable`(key: String, variable: String) throws {
    #expect(try EnvironmentPreferences(environment: [variable: "x"]).string(forKey: key) == "x")
    let prefixed = EnvironmentPreferences(
      prefix: "SHOP", environment: ["SHOP_" + variable: "y", variable: "x"])
    #expect(try prefixed.string(forKey: key) == "y")
  }

  @Test func `a missing variable is nil, an empty one is the empty string`() throws {
    let layer = EnvironmentPreferences(prefix: "SHOP", environment: ["PORT": "1", "SHOP_EMPTY": ""])
    #expect(try layer.value(forKey: "port") == nil)
    #expect(try layer.integer(forKey: "port") == nil)
    #expect(try layer.string(forKey: "empty") == "")
  }

  @Test func `the untyped value is the text`() throws {
    #expect(try EnvironmentPreferences(environment: ["A": "1"]).value(forKey: "a") == .string("1"))
  }

  static let parsed: [(PreferenceValue.Kind, String, PreferenceValue)] = [
    (.string, " 1 ", " 1 "),
    (.bool, "true", true), (.bool, "YES", true), (.bool, "On", true), (.bool, "1", true),
    (.bool, "false", false), (.bool, "no", false), (.bool, "OFF", false), (.bool, "0", false),
    (.integer, "8080", 8080), (.integer, "-5", -5), (.integer, "+5", 5),
    (.integer, "9223372036854775807", .integer(.max)), (.integer, "-9223372036854775808", .integer(.min)),
    (.integer, "18446744073709551615", .unsignedInteger(.max)),
    (.unsignedInteger, "5", .unsignedInteger(5)), (.unsignedInteger, "-5", -5),
    (.double, "3", 3.0), (.double, "-2.5e3", -2500.0), (.double, "inf", .double(.infinity)),
    (.url, "https://example.com/?q=1", .url(URL(string: "https://example.com/?q=1")!)),
    (.date, "2024-01-02T03:04:05Z", .date(Date(timeIntervalSince1970: 1_704_164_645))),
    (.date, "2024-01-02T03:04:05.250+02:00", .date(Date(timeIntervalSince1970: 1_704_157_445.25))),
    (.date, "0001-01-01T00:00:00Z", .date(Date(timeIntervalSince1970: -62_135_596_800))),
    (.date, "2000-02-29T23:59:59-00:30", .date(Date(timeIntervalSince1970: 951_870_599))),
    (.data, "AQID", .data(Data([1, 2, 3]))), (.data, "", .data(Data())),
  ]

  @Test(arguments: parsed)
  func `text is parsed as the kind that is requested`(
    kind: PreferenceValue.Kind, text: String, value: PreferenceValue
  ) throws {
    #expect(try EnvironmentPreferences(environment: ["K": text]).value(for: PreferenceQuery("k", as: kind)) == value)
  }

  @Test(
    arguments: [
      (.bool, ""), (.bool, "y"), (.bool, "2"), (.bool, " true"),
      (.integer, ""), (.integer, "1.0"), (.integer, "1e3"), (.integer, " 1"), (.integer, "0x10"),
      (.integer, "18446744073709551616"), (.unsignedInteger, "one"),
      (.double, ""), (.double, "1,5"), (.double, "1e999"),
      (.url, ""), (.url, "http://a b"),
      (.date, "2024-01-02"), (.date, "2024-01-02T03:04:05"), (.date, "2024-02-30T00:00:00Z"),
      (.date, "2023-02-29T00:00:00Z"), (.date, "1900-02-29T00:00:00Z"), (.date, "2024-01-02T24:00:00Z"),
      (.date, "2024-01-02T03:04:05Zx"), (.date, "2024-1-2T3:4:5Z"), (.date, "2024-01-02T03:04:05.Z"),
      (.date, "2024-00-01T00:00:00Z"), (.date, "2024-01-02T03:04:05+2"),
      (.data, "AQ"), (.data, "A Q="), (.dictionary, "a=1"), (.dictionary, "[1]"),
    ] as [(PreferenceValue.Kind, String)])
  func `text that does not parse is a mismatch without the text`(kind: PreferenceValue.Kind, text: String) {
    let layer = EnvironmentPreferences(prefix: "SHOP", environment: ["SHOP_SERVER_PORT": text])
    let error = preferencesError { _ = try layer.value(for: PreferenceQuery("server.port", as: kind)) }
    #expect(error?.code == .typeMismatch)
    #expect(
      error?.message == "key \"server.port\": the text of SHOP_SERVER_PORT does not parse as \(kind)")
  }

  @Test func `a number beyond the type is out of range`() {
    let layer = EnvironmentPreferences(environment: ["BIG": "18446744073709551615", "LOW": "-1"])
    #expect(preferencesError { _ = try layer.integer(forKey: "big") }?.code == .outOfRange)
    let key = PreferenceKey<UInt8>("low", default: 0)
    #expect(preferencesError { _ = try layer.value(for: key) }?.code == .outOfRange)
  }

  @Test func `every listed key has a value`() throws {
    let layer = EnvironmentPreferences(
      prefix: "SHOP",
      environment: ["SHOP_SERVER_PORT": "1", "SHOP__": "2", "SHOP_lower": "3", "OTHER": "4", "SHOP_": "5"])
    #expect(try layer.keys() == [".", "lower", "server.port"])
    for key in try layer.keys() { #expect(try layer.contains(key)) }
  }

  // In processes of their own: changing the environment while another test reads it is a race.

  @Test func `the process environment is copied at creation`() async {
    await #expect(processExitsWith: .success) { () throws in
      setenv("PREFERENCES_TEST_COPIED", "before", 1)
      let layer = EnvironmentPreferences(prefix: "PREFERENCES_TEST")
      setenv("PREFERENCES_TEST_COPIED", "after", 1)
      #expect(try layer.string(forKey: "copied") == "before")
      #expect(try layer.keys() == ["copied"])
    }
  }

  @Test func `a variable that is not UTF-8 is an error, not a repaired text`() async {
    await #expect(processExitsWith: .success) { () throws in
      setenv("PREFERENCES_BROKEN_TEXT", [97, -1, 98, 0], 1)
      setenv("PREFERENCES_BROKEN_NOT", "\u{FFFD}", 1)
      let layer = EnvironmentPreferences(prefix: "PREFERENCES_BROKEN")
      #expect(preferencesError { _ = try layer.string(forKey: "text") }?.code == .malformed)
      #expect(try layer.string(forKey: "not") == "\u{FFFD}")
    }
  }

  @Test func `the name includes the prefix`() {
    #expect(EnvironmentPreferences(prefix: "SHOP", environment: [:]).name == "environment SHOP_*")
    #expect(
      EnvironmentPreferences(prefix: "SHOP_", environment: ["SHOP_A": "1"]).names(of: .plain).map(\.text) == ["a"])
    #expect(EnvironmentPreferences(prefix: "", environment: [:]).name == "environment")
  }

  @Test func `neither description, dump nor error shows a variable's text`() {
    let layer = EnvironmentPreferences(environment: ["TOKEN": sentinel])
    #expect(!"\(layer)".contains(sentinel))
    #expect(!dumped(layer).contains(sentinel))
    let error = preferencesError { _ = try layer.integer(forKey: "token") }
    #expect(error != nil)
    #expect(!dumped(error as Any).contains(sentinel))
  }
}
