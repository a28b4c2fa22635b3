import Foundation
import FoundationNetworking
import Preferences
import PreferencesOperators
import PreferencesFoundation
import Testing

/// The code of PreferencesFoundation.docc, and of Preferences.docc that needs Foundation, word for word:
/// Scripts/documents guide compares them.
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

  @Test func `coder: strings that other code has encoded are read from the archive`() throws {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    archiver.encode("Ann" as NSString, forKey: "name")
    let data = archiver.encodedData

    let archive = try KeyedArchive(data)
    let old = KeysPreferences(name: "archive", keys: { archive.keys }, value: archive.value(forKey:))
    let name = try old.string(forKey: "name")

    #expect(name == "Ann")
  }

  @Test func `bundle: its name is read`() throws {
    try withTemporaryFolder { path in
      try FileManager.default.createDirectory(atPath: path + "/Contents", withIntermediateDirectories: true)
      let info: DictionaryPreferences = ["CFBundleName": "Shop"]
      try info.write(to: path + "/Contents/Info.plist", format: PropertyListFormat())

      let bundle = try BundlePreferences(at: path)
      let applicationName: String? = bundle[.CFBundleName]

      #expect(applicationName == "Shop")
    }
  }

  @Test func `bundle: a resource is a store`() throws {
    try withTemporaryFolder { path in
      try DictionaryPreferences(["a": 1]).write(to: path + "/prefs.plist", format: PropertyListFormat())
      let bundle = try #require(Bundle(path: path))

      let fromResource = try DictionaryPreferences(resource: "prefs", in: bundle)

      #expect(try fromResource.integer(forKey: "a") == 1)
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
}
