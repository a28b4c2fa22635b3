internal import Preferences
internal import Testing

extension ConformanceRule {
  /// Secret keys in composites that have the store as their plain or as their sealed layer.
  static let secrecy =
    secretWrites(by: waysToWrite) + [
      secretsRefused("a store that is not sealed takes no secret key, through no path") { store in
        [
          { try store.set("s", for: .secret("password")) },
          { try store.edit(PreferenceEdits([.init(PreferenceName("password"), to: .value("s"), secrecy: .secret)])) },
          { try store.update(.secret("password") as PreferenceKey<String?>) { $0 = "s" } },
          { try CompositePreferences([store]).set("s", for: .secret("password")) },
          {
            let vault = FailingPreferences(isSealed: true).readOnly.claiming(.names(["password"]))
            try CompositePreferences([store, vault]).set(["password": "s"])
          },
        ]
      },
      ConformanceRule(
        33, "a store that is not sealed never returns a value for a secret key", requires: [.holdsNo(.secret)]
      ) { fixture in
        let store = try fixture.makeStore()
        try store.set("plain", forKey: "password")
        #expect(try store.value(for: .secret("password")) as String? == nil)
        #expect(try CompositePreferences([store, sealedLayer()]).value(for: .secret("password")) as String? == nil)
        let composite: CompositePreferences = [store, sealedLayer(claiming: "password")]
        #expect(try composite.value(forKey: "password") == nil)
        #expect(try composite.value(for: PreferenceKey("password", default: "default")) == "default")
        #expect(try composite.keys() == [])
      },
      ConformanceRule(
        33, "in a composite a sealed store neither returns nor stores values of plain keys",
        requires: [.holdsNo(.plain)]
      ) { fixture in
        let store = try fixture.makeStore()
        try store.set("sealed", forKey: "port")
        let plain = DictionaryPreferences()
        let composite: CompositePreferences = [claiming("password", in: store), plain]
        let port: PreferenceKey<String?> = PreferenceKey("port")
        #expect(try composite.value(for: port) == nil)
        #expect(try composite.set("plain", for: port) == .visible)
        #expect(try composite.value(for: port) == "plain")
        #expect(try store.value(forKey: "port") == "sealed")
      },
      ConformanceRule(
        33, "a secret key that was written is read back, also after reopening", requires: [.takes(.secret)]
      ) { fixture in
        let store = try fixture.makeStore()
        try store.set("SENTINEL-5f3a", for: .secret("password"))
        for reader in [store, try fixture.reopened(store)] {
          #expect(try reader.value(for: .secret("password")) == "SENTINEL-5f3a")
          #expect(try CompositePreferences([layer(reader)]).value(for: .secret("password")) == "SENTINEL-5f3a")
        }
        try store.reset(.secret("password") as PreferenceKey<String?>)
        #expect(try fixture.reopened(store).value(for: .secret("password")) as String? == nil)
      },
    ]

  /// Two rules for each of the ways to write a secret.
  static func secretWrites(by ways: [WayToWriteSecret]) -> [ConformanceRule] {
    ways.flatMap { path in
      // MARK: 33
      [
        ConformanceRule(
          33, "a secret key is kept out of this store when it is plain: \(path.name)", requires: [.holdsNo(.secret)]
        ) { fixture in
          for mode in [CompositePreferences.WriteMode.firstStore, .allStores] {
            for isFirst in [true, false] {
              let store = try fixture.makeStore()
              let sealed = sealedLayer(claiming: "password")
              let layers: [any PreferencesReader] = isFirst ? [store, sealed] : [sealed, store]
              try path.write(CompositePreferences(layers, writeMode: mode))
              #expect(try sealed.value(forKey: "password") == "SENTINEL-5f3a")
              #expect(try store.value(forKey: "password") == nil)
              #expect(try !store.keys().contains("password"))
            }
          }
        },
        ConformanceRule(
          33, "a secret key is kept in this store when it is sealed: \(path.name)", requires: [.holds(.secret)]
        ) { fixture in
          for mode in [CompositePreferences.WriteMode.firstStore, .allStores] {
            for isFirst in [true, false] {
              let store = claiming("password", in: try fixture.makeStore())
              let plain = DictionaryPreferences()
              let layers: [any PreferencesReader] = isFirst ? [store, plain] : [plain, store]
              try path.write(CompositePreferences(layers, writeMode: mode))
              #expect(try store.value(for: PreferenceQuery("password", secrecy: .secret)) == "SENTINEL-5f3a")
              #expect(try store.plainValues["password"] == nil)
              #expect(!plain.keys().contains("password"))
            }
          }
        },
      ]
    }
  }

  /// A rule that a store of plain values refuses a secret in each of the ways that `writes` returns for it.
  static func secretsRefused(
    _ title: String, writes: @escaping @Sendable (any PreferencesStore) -> [() throws -> Void]
  ) -> ConformanceRule {
    ConformanceRule(33, title, requires: [.holdsNo(.secret)]) { fixture in
      let store = try fixture.makeStore()
      #expect(!store.custody.takes(.secret))
      for write in writes(store) { #expect(code(of: write) == .noStore) }
      #expect(try store.keys() == [])
    }
  }

  private static let waysToWrite: [WayToWriteSecret] = [
    WayToWriteSecret("a typed set") { try $0.set("SENTINEL-5f3a", for: .secret("password")) },
    WayToWriteSecret("a set by name") { try $0.set("SENTINEL-5f3a", forKey: "password") },
    WayToWriteSecret("a merge") { try $0.set(["password": "SENTINEL-5f3a", "port": 80]) },
    WayToWriteSecret("a subscript by name") { $0["password"] = "SENTINEL-5f3a" },
    WayToWriteSecret("a subscript by key") { $0[.secret("password")] = "SENTINEL-5f3a" },
    WayToWriteSecret("an update") {
      try $0.update(.secret("password") as PreferenceKey<String?>) { $0 = "SENTINEL-5f3a" }
    },
    WayToWriteSecret("a prefix view") { try $0.below("pass").set("SENTINEL-5f3a", forKey: "word") },
    WayToWriteSecret("a view under another name") {
      try $0.renaming(["p": "password"]).set("SENTINEL-5f3a", forKey: "p")
    },
    WayToWriteSecret("a composite around it") {
      try CompositePreferences([$0]).set("SENTINEL-5f3a", forKey: "password")
    },
  ]
}

/// One way to write `SENTINEL-5f3a` under `password`, which a layer of the composite claims.
struct WayToWriteSecret: Sendable {
  let name: String
  let write: @Sendable (CompositePreferences) throws -> Void

  init(_ name: String, _ write: @escaping @Sendable (CompositePreferences) throws -> Void) {
    self.name = name
    self.write = write
  }
}

extension PreferencesReader {
  /// The plain values that the reader holds.
  fileprivate var plainValues: [String: PreferenceValue] {
    get throws { custody.holds(.plain) ? try dictionary().filter { $0.value != .redacted } : [:] }
  }
}
