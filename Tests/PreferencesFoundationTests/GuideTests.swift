import Foundation
import FoundationNetworking
import PreferenceAdapters
import PreferenceOperators
import PreferenceFiles
import Preferences
import PreferencesFoundation
import Testing

/// A line for each value: `name = text`.
struct LineFormat: PreferenceFileFormat {
  static let name = "list of lines"

  func values(from bytes: [UInt8]) throws(PreferencesError) -> [String: PreferenceValue] {
    var values: [String: PreferenceValue] = [:]
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let parts = line.components(separatedBy: " = ")
      guard parts.count == 2 else { throw PreferencesError(.malformed, "a line is no pair") }
      values[parts[0]] = .string(parts[1])
    }
    return values
  }

  func bytes(
    of values: [String: PreferenceValue], replacing old: [UInt8]?
  ) throws(PreferencesError) -> [UInt8] {
    var text = ""
    for (name, value) in values { text += "\(name) = \(try String(preferenceValue: value))\n" }
    return Array(text.utf8)
  }
}

/// The code of PreferencesFoundation.docc, and of Preferences.docc that needs Foundation, word for word: Scripts/guide compares
/// them.
struct GuideTests {
  private let settings = DictionaryPreferences()

  @Test func `user defaults and the bundle are layers`() throws {
    try withTemporaryFolder { folder in
      let suite = folder + "/shop"

      let preferences = CompositePreferences([
        EnvironmentPreferences(prefix: "SHOP"),
        try UserDefaultsPreferences(suiteName: suite),
        BundlePreferences.main,
      ])

      try preferences.set(8080, forKey: "server.port")
      #expect(try UserDefaultsPreferences(suiteName: suite).integer(forKey: "server.port") == 8080)
      #expect(try preferences.integer(forKey: "server.port") == 8080)
    }
  }

  @Test func `user defaults: a suite is read, written and wrapped`() throws {
    try withTemporaryFolder { folder in
      let suite = folder + "/shop"

      let defaults = try UserDefaultsPreferences(suiteName: suite)
      let flag = try defaults.bool(forKey: "flag")
      try defaults.set("myvalue", forKey: "mykey")
      @StoredPreference("my.string.pref", in: defaults) var text: String?
      let isUnicorn = defaults[PreferenceKey("isUnicorn", default: true)]

      text = "stored"
      #expect(flag == nil && isUnicorn)
      #expect(try defaults.dictionary() == ["mykey": "myvalue", "my.string.pref": "stored"])
    }
  }

  @Test func `archives: what an older program has archived is read`() throws {
    let defaults = DictionaryPreferences()
    let data = try NSKeyedArchiver.archivedData(withRootObject: ["a", "b"] as NSArray, requiringSecureCoding: true)
    try defaults.set(data, forKey: "recent")

    let old = PreferenceKey<Data?>("recent").read(through: KeyedArchiveTransformation<[String]>())
    let recent = try defaults.value(for: old)

    #expect(recent == ["a", "b"])
  }

  @Test func `coder: values are encoded and decoded under their keys`() throws {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    try archiver.encodePreferences { try $0.set(8080, forKey: "port") }

    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    let port = try unarchiver.decodePreferences { try $0.integer(forKey: "port") } ?? 0

    #expect(port == 8080)
  }

  @Test func `bundle: its name is read`() throws {
    try withTemporaryFolder { path in
      try FileManager.default.createDirectory(atPath: path + "/Contents", withIntermediateDirectories: true)
      let info: DictionaryPreferences = ["CFBundleName": "Shop"]
      try info.write(to: path + "/Contents/Info.plist", format: PropertyListFormat())

      let bundle = try BundlePreferences(at: path)
      let applicationName = bundle[.CFBundleName]?.as(String.self)

      #expect(applicationName == "Shop")
    }
  }

  @Test func `cookies: one is found by its name`() throws {
    let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
    let properties: [HTTPCookiePropertyKey: Any] = [
      .name: "session", .value: "abc", .domain: "example.com", .path: "/",
    ]
    storage.setCookie(try #require(HTTPCookie(properties: properties)))

    let cookies = CookiePreferences(storage, domain: "example.com")
    let session = try cookies.string(forKey: "session")

    #expect(session == "abc")
  }

  // MARK: Remote

  @Test func `remote: a property list is loaded into a store`() async throws {
    let bytes = try PropertyListFormat().bytes(of: ["port": 8080], replacing: nil)
    let server = try LoopbackServer(LoopbackServer.response(200, [], String(decoding: bytes, as: UTF8.self)))
    let url = server.url()

    let remote = try RemotePropertyListPreferences(at: url)
    try await remote.load(into: settings)

    #expect(settings["port"] == 8080)
  }

  @Test func `remote: JSON is loaded with header fields and is a layer`() async throws {
    let server = try LoopbackServer(LoopbackServer.response(200, [], #"{"port": 8080}"#))
    let url = server.url()

    let remote = try RemoteJSONPreferences(at: url) { ["Accept": "application/json"] }
    try await remote.load()
    let preferences = CompositePreferences([settings, remote])

    #expect(try preferences.integer(forKey: "port") == 8080)
  }

  @Test func `remote: a format of one's own is loaded`() async throws {
    let server = try LoopbackServer(LoopbackServer.response(200, [], "motd = hello\n"))
    let url = server.url()

    let remote = try RemotePreferences(at: url, format: LineFormat())
    try await remote.load()

    #expect(try remote.string(forKey: "motd") == "hello")
  }

  @Test func `remote: a failure is thrown and changes nothing`() async throws {
    let server = try LoopbackServer(LoopbackServer.response(404, [], ""))
    try await settings.set(1, forKey: "port")
    let remote = try RemoteJSONPreferences(at: server.url())

    await #expect(throws: PreferencesError.self) { try await remote.load(into: settings) }
    #expect(settings["port"] == 1)
  }
}
