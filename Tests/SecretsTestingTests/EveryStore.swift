import FoundationEssentials
import Preferences
import PreferencesOperators
import Secrets
import SecretsTesting
import Synchronization

extension StoreUnderTest {
  /// Every kind of store that there is.
  static let everyStore: [StoreUnderTest] = {
    let all = memories + files + vaults + sealedViews + views + composites + buffers + foundation + [shared]
    return all.map { store in
      var store = store
      // All tests run at once.
      store.noticeLimit = .seconds(600)
      return store
    }
  }()

  // MARK: In memory

  private static let memories = [
    StoreUnderTest("dictionary") { _ in DictionaryPreferences() },
    StoreUnderTest("record") { _ in record(isSealed: false) },
    StoreUnderTest("sealed record") { _ in record(isSealed: true) },
    StoreUnderTest("failing store that does not fail") { _ in FailingPreferences() },
    StoreUnderTest("sealed store in memory") { _ in FailingPreferences(isSealed: true) },
  ]

  private static func record(isSealed: Bool) -> RecordPreferences {
    let row = DictionaryPreferences()
    return RecordPreferences(
      isSealed: isSealed, keys: { row.keys() }, get: { try row.value(forKey: $0) },
      set: { value, key in
        if let value { try row.set(value, forKey: key) } else { try row.removeValue(forKey: key) }
      })
  }

  // MARK: Files

  /// Keeps the type of every value, as the rules require.
  private static let exactJSON = JSONFormat(keepingTypes: true)

  private static let files = [
    file("JSON file", exactJSON), file("XML property list", PropertyListFormat(.xml, keepingTypes: true)),
    file("binary property list", PropertyListFormat(.binary, keepingTypes: true)),
    file("JSON file, private", exactJSON, [.creating, .private]),
    file("JSON file, saved explicitly", exactJSON, [.creating, .savingExplicitly]),
    file(
      "binary property list, saved explicitly", PropertyListFormat(.binary, keepingTypes: true),
      [.creating, .savingExplicitly]),
  ]

  private static func file<Format: PreferenceFileFormat>(
    _ name: String, _ format: Format, _ options: PreferenceFileOptions = .creating
  ) -> StoreUnderTest {
    StoreUnderTest(
      name,
      reopening: { store, _ in
        guard let file = store as? FilePreferences<Format> else { throw WrongStore() }
        try file.save()
        return try FilePreferences(at: file.path, format: format, options: options)
      },
      damaging: { store, _ in
        guard let file = store as? FilePreferences<Format> else { throw WrongStore() }
        try spoil(file.path)
      },
      make: { try FilePreferences(at: $0.folder + "/" + $0.uniqueName(), format: format, options: options) })
  }

  /// Turns over every bit of a file. It is the same file, with its permissions.
  static func spoil(_ path: String) throws {
    let url = URL(filePath: path)
    try Data(try Data(contentsOf: url).map(~)).write(to: url)
  }

  // MARK: Vaults

  private static let vaults = [
    vault("vault", accessGroup: "default"), vault("vault, another access group", accessGroup: "billing"),
  ]

  /// The services of one check are in one vault.
  private static func vault(_ name: String, accessGroup: String) -> StoreUnderTest {
    StoreUnderTest(
      name, reopening: { try reopened($0, $1) }, damaging: { _, fixture in try spoil(throwaway(fixture).path) },
      make: { try throwaway($0).preferences(service: $0.uniqueName(), accessGroup: accessGroup) })
  }

  private static func throwaway(_ fixture: StoreFixture) throws -> ThrowawayVault {
    try fixture.kept(orKeep: try ThrowawayVault(groups: ["default", "billing"], in: fixture.folder))
  }

  private static func secrets(_ fixture: StoreFixture) throws -> SecretPreferences {
    try throwaway(fixture).preferences(service: fixture.uniqueName())
  }

  // MARK: Sealed values

  private static let sealedViews = [
    StoreUnderTest("sealed values in a dictionary") { try sealed(DictionaryPreferences(), $0) },
    StoreUnderTest(
      "sealed values in a JSON file", reopening: { try reopened($0, $1) },
      damaging: { store, _ in
        guard let sealed = store as? SealedPreferences<JSONPreferences> else { throw WrongStore() }
        try spoil(sealed.base.path)
      }, make: { try sealed(json($0), $0) }),
  ]

  /// The sealing keys of one check are in one vault.
  private static func sealed<Base: PreferencesStore>(
    _ base: Base, _ fixture: StoreFixture, in vault: Vault? = nil
  ) throws -> SealedPreferences<Base> {
    let vault = try vault ?? throwaway(fixture).vault
    let sealer = ValueSealer(key: "key", in: try SecretPreferences(service: "sealed", in: vault))
    try sealer.createSealingKey()
    return try base.sealed(by: sealer, as: "conformance")
  }

  // MARK: Views

  private static let views = [
    StoreUnderTest("view below a prefix", longestName: 1000) { fixture in
      // Short, and several in one dictionary.
      fixture.kept(orKeep: DictionaryPreferences()).below(fixture.uniqueName().prefix(20) + ".")
    },
    StoreUnderTest("view below a prefix of a vault", longestName: 1000) { fixture in
      try secrets(fixture).below("in.")
    },
    StoreUnderTest("view under other names") { _ in
      try DictionaryPreferences().renaming(["text": "renamed", "a": "text underneath", "other": "another"])
    },
    StoreUnderTest("view under other names of a view below a prefix", longestName: 1000) { _ in
      try DictionaryPreferences().below("in.").below("below.").renaming(["text": "renamed", "b": "b underneath"])
    },
  ]

  // MARK: Composites

  private static let composites = CompositePreferences.WriteMode.both.flatMap { mode in
    [
      composite("composite of dictionaries", mode) { _ in [DictionaryPreferences(), DictionaryPreferences()] },
      composite("composite of a file and a dictionary", mode) { fixture in
        [FixedPreferences(), try json(fixture), DictionaryPreferences()]
      },
      composite("composite of composites", mode) { fixture in
        [
          [FixedPreferences()] as CompositePreferences,
          CompositePreferences(
            [[try json(fixture)] as CompositePreferences, DictionaryPreferences()], writeMode: mode),
        ]
      },
      composite("composite, vault first", mode) { [try secrets($0).unclaimed, DictionaryPreferences()] },
      composite("composite, vault last", mode) {
        [FixedPreferences(), try json($0), try secrets($0).claiming(.names(["password", "token"]))]
      },
      composite("composite of composites with vaults", mode) { fixture in
        [
          CompositePreferences([FixedPreferences(), try secrets(fixture).claiming(.prefix("pass"))], writeMode: mode),
          CompositePreferences([DictionaryPreferences(), try secrets(fixture).unclaimed], writeMode: mode),
        ]
      },
      composite("composite whose only store is a vault", mode) {
        [FixedPreferences(), try secrets($0).claiming(.everything)]
      },
    ]
  }

  private static func composite(
    _ name: String, _ mode: CompositePreferences.WriteMode,
    layers: @escaping @Sendable (StoreFixture) throws -> [any PreferencesReader]
  ) -> StoreUnderTest {
    StoreUnderTest("\(name), \(mode)", reopening: { try reopened($0, $1) }) { fixture in
      CompositePreferences(try layers(fixture), writeMode: mode)
    }
  }

  private static func json(_ fixture: StoreFixture) throws -> JSONPreferences {
    try JSONPreferences(at: fixture.folder + "/" + fixture.uniqueName(), format: exactJSON, options: .creating)
  }

  // MARK: Others

  private static let buffers = [
    StoreUnderTest("buffer of a dictionary", reopening: { try reopened($0, $1) }) { _ in
      BufferedPreferences(DictionaryPreferences())
    },
    StoreUnderTest("buffer of a file", reopening: { try reopened($0, $1) }) { BufferedPreferences(try json($0)) },
    StoreUnderTest("buffer of a vault", reopening: { try reopened($0, $1) }) { BufferedPreferences(try secrets($0)) },
    StoreUnderTest("buffer of a composite with a vault", reopening: { try reopened($0, $1) }) { fixture in
      BufferedPreferences([try secrets(fixture).unclaimed, try json(fixture)] as CompositePreferences)
    },
    StoreUnderTest("composite of buffers", reopening: { try reopened($0, $1) }) { fixture in
      CompositePreferences([
        BufferedPreferences(try json(fixture)), BufferedPreferences(try secrets(fixture)).claiming(.names(["token"])),
      ])
    },
  ]

  /// Within a registry of the check's own; only the first store of a check is the shared one.
  private static let shared = StoreUnderTest("shared store") { fixture in
    let store = fixture.kept(orKeep: FirstShared())
    guard store.isFirst() else { return DictionaryPreferences() }
    PreferencesRegistry.current.share(DictionaryPreferences())
    return SharedPreferences()
  }

  /// The store, over what it is made of opened once more.
  private static func reopened(_ store: any PreferencesReader, _ fixture: StoreFixture) throws -> any PreferencesStore {
    guard let store = try reopenedLayer(store, fixture) as? any PreferencesStore else { throw WrongStore() }
    return store
  }

  private static func reopenedLayer(
    _ layer: any PreferencesReader, _ fixture: StoreFixture
  ) throws -> any PreferencesReader {
    switch layer {
    case let composite as CompositePreferences:
      let layers = try composite.layers.map { try reopenedLayer($0, fixture) }
      return CompositePreferences(layers, writeMode: composite.writeMode)
    case let buffer as BufferedPreferences:
      do { try buffer.commit() } catch {
        buffer.rollback()
        throw error
      }
      return BufferedPreferences(try reopened(buffer.base, fixture))
    case let store as SealedPreferences<JSONPreferences>:
      let file = try JSONPreferences(at: store.base.path, format: exactJSON, options: store.base.options)
      return try sealed(file, fixture, in: throwaway(fixture).reopened())
    case let file as JSONPreferences:
      return try JSONPreferences(at: file.path, format: exactJSON, options: file.options)
    case let secrets as SecretPreferences:
      let vault = try throwaway(fixture).reopened()
      return try SecretPreferences(service: secrets.service, accessGroup: secrets.accessGroup, in: vault)
    default: return layer
    }
  }
}

struct WrongStore: Error {}

/// Distinguishes the first call from later ones.
private final class FirstShared: Sendable {
  private let isAsked = Atomic(false)
  func isFirst() -> Bool { !isAsked.exchange(true, ordering: .relaxed) }
}

/// A layer without values that cannot be written to.
private struct FixedPreferences: PreferencesReader {
  let name = "fixed"
  func value(for query: PreferenceQuery) -> PreferenceValue? { nil }
  func names(of secrecy: Secrecy) -> [PreferenceName] { [] }
}

extension CompositePreferences.WriteMode {
  static let both: [Self] = [.firstStore, .allStores]
}
