internal import Preferences
import PreferencesOperators
internal import Testing

extension ConformanceRule {
  /// Secret keys in composites that have the store as their plain or as their sealed layer.
  static let secrecy =
    secretWrites.flatMap { path in
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
    } + [
      ConformanceRule(
        33, "a store that is not sealed takes no secret key, through no path", requires: [.holdsNo(.secret)]
      ) { fixture in
        let store = try fixture.makeStore()
        let sealed = FailingPreferences(["password": "SENTINEL-5f3a"] as DictionaryPreferences, isSealed: true)
        #expect(!store.custody.takes(.secret))
        for write in [
          { try store.set("s", for: .secret("password")) },
          { try store.edit(PreferenceEdits([.init(PreferenceName("password"), to: .value("s"), secrecy: .secret)])) },
          { try store.update(.secret("password") as PreferenceKey<String?>) { $0 = "s" } },
          { try add(sealed, to: store) }, { try CompositePreferences([store]).set("s", for: .secret("password")) },
          {
            let vault = FailingPreferences(isSealed: true).readOnly.claiming(.names(["password"]))
            try CompositePreferences([store, vault]).set(["password": "s"])
          },
          { try PreferenceSync(sealed, with: store).add(.secret("password") as PreferenceKey<String?>) },
          { try PreferenceSync(sealed, with: store).add(.key("password") as PreferenceKey<String?>) },
        ] as [() throws -> Void] {
          #expect(code(of: write) == .noStore)
        }
        #expect(try store.keys() == [])
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

  private static let secretWrites: [SecretWrite] = [
    SecretWrite("a typed set") { try $0.set("SENTINEL-5f3a", for: .secret("password")) },
    SecretWrite("a set by name") { try $0.set("SENTINEL-5f3a", forKey: "password") },
    SecretWrite("a merge") { try $0.set(["password": "SENTINEL-5f3a", "port": 80]) },
    SecretWrite("+= of a dictionary") { try $0 += ["password": "SENTINEL-5f3a"] },
    SecretWrite("+= of pairs") { try $0 += [("password", "SENTINEL-5f3a")] },
    SecretWrite("+= of a sealed store") {
      try $0 += FailingPreferences(["password": "SENTINEL-5f3a"] as DictionaryPreferences, isSealed: true)
    },
    SecretWrite("+= of a buffer") { composite in
      let source: CompositePreferences = [sealedLayer(claiming: "password")]
      let buffer = BufferedPreferences(source)
      try buffer.set("SENTINEL-5f3a", forKey: "password")
      try composite += buffer
    },
    SecretWrite("?= of values") { try $0 ?= ["password": "SENTINEL-5f3a"] },
    SecretWrite("?= of closures") { try $0 ?= ["password": { "SENTINEL-5f3a" }] },
    SecretWrite("a subscript by name") { $0["password"] = "SENTINEL-5f3a" },
    SecretWrite("a subscript by key") { $0[.secret("password")] = "SENTINEL-5f3a" },
    SecretWrite("a member") { $0.members.password = "SENTINEL-5f3a" },
    SecretWrite("an update") { try $0.update(.secret("password") as PreferenceKey<String?>) { $0 = "SENTINEL-5f3a" } },
    SecretWrite("a handle") { try $0.preference(for: .secret("password")).set("SENTINEL-5f3a") },
    SecretWrite("a handle by name") { try ($0 <| "password") ?= "SENTINEL-5f3a" },
    SecretWrite("a wrapper") { composite in
      @StoredPreference(.secret("password"), in: composite) var password: String?
      password = "SENTINEL-5f3a"
    },
    SecretWrite("a prefix view") { try $0.below("pass").set("SENTINEL-5f3a", forKey: "word") },
    SecretWrite("a view under another name") { try $0.renaming(["p": "password"]).set("SENTINEL-5f3a", forKey: "p") },
    SecretWrite("a composite around it") { try CompositePreferences([$0]).set("SENTINEL-5f3a", forKey: "password") },
    SecretWrite("a buffer's commit") { composite in
      let buffer = BufferedPreferences(composite)
      try buffer.set("SENTINEL-5f3a", for: .secret("password"))
      try buffer.commit()
    },
    SecretWrite("a buffer's commit by name") { composite in
      let buffer = BufferedPreferences(composite)
      try buffer.set(["password": "SENTINEL-5f3a"])
      try buffer.commit()
    },
    SecretWrite("a sync") { composite in
      let other = FailingPreferences(["password": "SENTINEL-5f3a"] as DictionaryPreferences, isSealed: true)
      try PreferenceSync(composite, with: other).add(.secret("password") as PreferenceKey<String?>)
    },
    SecretWrite("a sync of a key that any layer may hold") { composite in
      let other = FailingPreferences(["password": "SENTINEL-5f3a"] as DictionaryPreferences, isSealed: true)
      try PreferenceSync(composite, with: other).add(.key("password") as PreferenceKey<String?>)
    },
  ]
}

/// One way to write `SENTINEL-5f3a` under `password`, which a layer of the composite claims.
private struct SecretWrite: Sendable {
  let name: String
  let write: @Sendable (CompositePreferences) throws -> Void

  init(_ name: String, _ write: @escaping @Sendable (CompositePreferences) throws -> Void) {
    (self.name, self.write) = (name, write)
  }
}

extension PreferencesReader {
  /// The plain values that the reader holds.
  fileprivate var plainValues: [String: PreferenceValue] {
    get throws { custody.holds(.plain) ? try dictionary().filter { $0.value != .redacted } : [:] }
  }
}

func add(_ other: some PreferencesReader, to store: some PreferencesStore) throws { try store += other }
