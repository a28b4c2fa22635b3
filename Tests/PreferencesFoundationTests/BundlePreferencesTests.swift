import Foundation
import PreferencesOperators
import Preferences
import PreferencesFoundation
import Testing

private struct About {
  @ReadPreference var name: String?
  @ReadPreference var version: String?
  @ReadPreference var minimumSystem: String?
  @ReadPreference(.bundleIdentifier, in: .bundle) var ownIdentifier
  @ReadPreference("CFBundleName", in: .bundle) var ownName: String?

  init(_ bundle: BundlePreferences) {
    _name = ReadPreference(.bundleName, in: bundle)
    _version = ReadPreference(.bundleVersion, in: bundle)
    _minimumSystem = ReadPreference(PreferenceKey(LaunchServicesKeys.LSMinimumSystemVersion), in: bundle)
  }
}

struct BundlePreferencesTests {
  static let info = """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict>
      <key>CFBundleName</key><string>Shop</string>
      <key>CFBundleIdentifier</key><string>com.example.shop</string>
      <key>CFBundleVersion</key><string>42</string>
      <key>CFBundleAllowMixedLocalizations</key><true/>
      <key>CFBundleLocalizations</key><array><string>de</string><string>en</string></array>
      <key>LSMinimumSystemVersion</key><string>12.0</string>
      <key>LSBackgroundOnly</key><integer>1</integer>
      <key>LSEnvironment</key><dict><key>A</key><string>b</string></dict>
      <key>scale</key><real>1</real>
      <key>two.parts</key><integer>2</integer>
    </dict></plist>
    """

  /// A bundle whose Info.plist is in that folder of it.
  private func write(_ info: String, _ bundle: String, in place: String = "Contents") throws {
    let folder = URL(filePath: bundle).appending(path: place)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(info.utf8).write(to: folder.appending(path: "Info.plist"))
  }

  @Test(arguments: ["Contents", "Resources", "."])
  func `item 17: a bundle is read through the keys of Core Foundation and Launch Services`(place: String) throws {
    try withTemporaryFolder { folder in
      try write(Self.info, folder, in: place)
      for bundle in [try BundlePreferences(at: folder), BundlePreferences(try #require(Bundle(path: folder)))] {
        #expect(bundle[.CFBundleName] == "Shop")
        #expect(bundle[.CFBundleIdentifier] == "com.example.shop")
        #expect(bundle[.CFBundleDisplayName] == nil)
        #expect(bundle[.LSMinimumSystemVersion] == "12.0")
        #expect(bundle[.LSEnvironment] == ["A": "b"])
        #expect(try bundle.value(forKey: CoreFoundationKeys.CFBundleVersion) == "42")
        #expect(
          try bundle.value(for: PreferenceKey(CoreFoundationKeys.CFBundleLocalizations, default: [])) == ["de", "en"])
        #expect(try bundle.value(for: .bundleName) == "Shop")
        #expect(bundle[.bundleShortVersion] == nil)
      }
    }
  }

  @Test func `item 17: every value has the type of the file`() throws {
    try withTemporaryFolder { folder in
      try write(Self.info, folder)
      let bundle = try BundlePreferences(at: folder)
      #expect(bundle[.CFBundleAllowMixedLocalizations] == true)
      #expect(bundle[.LSBackgroundOnly] == 1)
      #expect(bundle["scale"] == 1.0)
      #expect(bundle["two.parts"] == 2)
      #expect(preferencesError { _ = try bundle.bool(forKey: "LSBackgroundOnly") }?.code == .typeMismatch)
      #expect(try bundle.keys().count == 10)
      #expect(try bundle.dictionary()["CFBundleName"] == "Shop")
    }
  }

  @Test func `item 17: a key has the type of its context`() throws {
    try withTemporaryFolder { folder in
      try write(Self.info, folder)
      let bundle = try BundlePreferences(at: folder)
      let name: String? = bundle[.CFBundleName]
      let languages: [String]? = bundle[.CFBundleLocalizations]
      let isBackground: Int? = bundle[.LSBackgroundOnly]
      #expect(name == "Shop" && languages == ["de", "en"] && isBackground == 1)
    }
  }

  @Test func `items 10 and 17: a resource of a bundle is read in one line`() throws {
    try withTemporaryFolder { folder in
      try DictionaryPreferences(["a": 1]).write(to: folder + "/prefs.plist", format: PropertyListFormat())
      try DictionaryPreferences(["a": 2]).write(to: folder + "/prefs.json", format: JSONFormat())
      try Data("garbage".utf8).write(to: URL(filePath: folder + "/bad.plist"))
      // Foundation lists the files of a bundle once.
      let bundle = try #require(Bundle(path: folder))
      #expect(try DictionaryPreferences(resource: "prefs", in: bundle).integer(forKey: "a") == 1)
      let json = try DictionaryPreferences(resource: "prefs", ofType: "json", in: bundle, format: JSONFormat())
      #expect(try json.integer(forKey: "a") == 2)
      let error = preferencesError { _ = try DictionaryPreferences(resource: "other", in: bundle) }
      #expect(error?.code == .notFound && error?.message.contains("other.plist") == true)
      #expect(preferencesError { _ = try DictionaryPreferences(resource: "bad", in: bundle) }?.code == .malformed)
    }
  }

  @Test func `item 17: a binary Info.plist is read`() throws {
    try withTemporaryFolder { folder in
      let values = DictionaryPreferences(["CFBundleName": "Shop"])
      try values.write(to: folder + "/Info.plist", format: PropertyListFormat(.binary))
      #expect(try BundlePreferences(at: folder).value(for: .bundleName) == "Shop")
    }
  }

  @Test func `item 17: a process without Info.plist gets nil`() throws {
    let bundle = BundlePreferences.main
    #expect(try bundle.value(forKey: CoreFoundationKeys.CFBundleIdentifier) == nil)
    #expect(try bundle.keys() == [])
    #expect(try bundle.dictionary() == [:])
  }

  @Test func `a bundle without Info.plist has no values, a folder that was named is an error`() throws {
    try withTemporaryFolder { folder in
      let bundle = BundlePreferences(try #require(Bundle(path: folder)))
      #expect(try bundle.value(for: .bundleName) == nil)
      #expect(preferencesError { _ = try BundlePreferences(at: folder) }?.code == .notFound)
      #expect(preferencesError { _ = try BundlePreferences(at: folder + "/none") }?.code == .notFound)
    }
  }

  @Test(arguments: ["", "garbage", "<plist><array/></plist>", "<plist><dict><key>a</key>", "bplist00"])
  func `a malformed Info.plist is an error and not nil`(text: String) throws {
    try withTemporaryFolder { folder in
      try write(text, folder)
      #expect(preferencesError { _ = try BundlePreferences(at: folder) }?.code == .malformed)
      let bundle = BundlePreferences(try #require(Bundle(path: folder)))
      #expect(preferencesError { _ = try bundle.value(forKey: "a") }?.code == .malformed)
      #expect(preferencesError { _ = try bundle.keys() }?.code == .malformed)
      #expect(preferencesError { _ = try bundle.value(for: .bundleName) }?.code == .malformed)
    }
  }

  @Test func `an Info.plist that is no file is an error and not nil`() throws {
    try withTemporaryFolder { folder in
      try FileManager.default.createDirectory(atPath: folder + "/Info.plist", withIntermediateDirectories: false)
      #expect(preferencesError { _ = try BundlePreferences(at: folder) }?.code == .unreadable)
    }
  }

  @Test func `a name against the rule is an error`() throws {
    try withTemporaryFolder { folder in
      try write(Self.info, folder)
      let bundle = try BundlePreferences(at: folder)
      for key in ["", "a\nb", String(repeating: "x", count: 1_025)] {
        #expect(preferencesError { _ = try bundle.value(forKey: key) }?.code == .invalidKey)
      }
      #expect(try bundle.value(forKey: String(repeating: "🦊", count: 256)) == nil)
    }
  }

  @Test func `item 71: a wrapper reads a bundle, the program's own by a short name`() throws {
    try withTemporaryFolder { folder in
      try write(Self.info, folder)
      let about = About(try BundlePreferences(at: folder))
      #expect(about.name == "Shop")
      #expect(about.version == "42")
      #expect(about.minimumSystem == "12.0")
      #expect(try about.$name.get() == "Shop")
      #expect(about.ownIdentifier == nil)
      #expect(about.ownName == nil)
    }
  }

  @Test func `the key enums have Apple's names, each once`() {
    let names = CoreFoundationKeys.allCases.map(\.rawValue) + LaunchServicesKeys.allCases.map(\.rawValue)
    #expect(Set(names).count == names.count)
    for name in names { #expect(name.hasPrefix("CF") || name.hasPrefix("DT") || name.hasPrefix("LS")) }
    #expect(CoreFoundationKeys.CFBundleIdentifier.rawValue == "CFBundleIdentifier")
  }

  @Test func `neither description nor dump shows a value`() throws {
    try withTemporaryFolder { folder in
      try write(Self.info.replacing("Shop", with: sentinel), folder)
      let bundle = try BundlePreferences(at: folder)
      #expect(bundle.name == "bundle \(folder)")
      #expect(!"\(bundle)".contains(sentinel))
      #expect(!dumped(bundle).contains(sentinel))
    }
  }
}
