import Foundation
import FoundationNetworking
import Preferences
import PreferencesFoundation
import SecretsTesting

extension StoreUnderTest {
  /// Stores over Foundation's objects.
  static let foundation = [
    StoreUnderTest(
      "user defaults",
      reopening: { store, _ in try UserDefaultsPreferences(suiteName: suiteName(of: store)) },
      damaging: { store, _ in try spoil(suiteName(of: store) + ".plist") },
      make: { try UserDefaultsPreferences(suiteName: $0.folder + "/" + $0.uniqueName()) }),
    StoreUnderTest("cache without a limit") { _ in CachePreferences() },
    StoreUnderTest("composite of user defaults and a vault") { fixture in
      let vault = try fixture.kept(orKeep: try ThrowawayVault(in: fixture.folder))
      return [
        try vault.preferences(service: fixture.uniqueName()).unclaimed,
        try UserDefaultsPreferences(suiteName: fixture.folder + "/" + fixture.uniqueName()),
      ] as CompositePreferences
    },
  ]

  private static func suiteName(of store: any PreferencesStore) throws -> String {
    guard let defaults = store as? UserDefaultsPreferences else { throw WrongStore() }
    return String(defaults.path.dropLast(".plist".count))
  }

  /// Readers over Foundation's objects.
  static let foundationReaders = [
    StoreUnderTest(
      "bundle",
      reading: { fixture, values in
        let folder = fixture.folder + "/" + fixture.uniqueName()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let format = PropertyListFormat(.xml, keepingTypes: true)
        try DictionaryPreferences(values).write(to: folder + "/Info.plist", format: format)
        return try BundlePreferences(at: folder)
      }),
    StoreUnderTest(
      "cookies", isText: true,
      reading: { _, values in
        guard let storage = URLSessionConfiguration.ephemeral.httpCookieStorage else { throw WrongStore() }
        for (key, value) in values {
          let cookie = HTTPCookie(properties: [
            .name: key, .value: text(of: value), .domain: "shop.example.com", .path: "/",
          ])
          guard let cookie else { throw WrongStore() }
          storage.setCookie(cookie)
        }
        return CookiePreferences(storage)
      }),
    StoreUnderTest(
      "user defaults, read-only",
      reading: { fixture, values in
        let defaults = try UserDefaultsPreferences(suiteName: fixture.folder + "/" + fixture.uniqueName())
        try await defaults.set(values)
        return defaults.readOnly
      }),
    StoreUnderTest(
      "coder",
      reading: { _, values in
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        try archiver.encodePreferences { try $0.set(values) }
        return DecodedPreferences(archive: archiver.encodedData, listed: Array(values.keys))
      }),
  ]
}

/// The reader that a coder lends to a closure, for each call.
private struct DecodedPreferences: PreferencesReader {
  let name = "coder"
  let archive: Data
  let listed: [String]

  func value(for query: PreferenceQuery) throws -> PreferenceValue? { try decoded { try $0.value(for: query) } }
  func names(of secrecy: Secrecy) throws -> [PreferenceName] { try decoded { try $0.names(of: secrecy) } }

  private func decoded<R>(_ body: (CoderPreferences) throws -> R) throws -> R {
    try NSKeyedUnarchiver(forReadingFrom: archive).decodePreferences(listing: listed, body)
  }
}
