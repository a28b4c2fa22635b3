internal import Preferences
internal import Testing

extension ConformanceRule {
  /// How sealed values are shown, and which values a failing sealed layer makes unavailable.
  static let sealing = [
    // MARK: 34
    ConformanceRule(
      34, "dictionaries redact the values of sealed layers, unless secrets are requested",
      requires: [.takes(.secret), .leavesNames]
    ) { fixture in
      let store = try fixture.makeStore()
      try store.set(sentinel, for: .secret("token"))
      let composite: CompositePreferences = [["port": 80] as DictionaryPreferences, claiming("token", in: store)]
      for reader in [store, composite, store.readOnly, [composite] as CompositePreferences] as [any PreferencesReader] {
        #expect(try reader.dictionary()["token"] == .redacted)
        #expect(try reader.dictionary(revealingSecrets: true)["token"] == .string(sentinel))
      }
      #expect(try below("tok", composite).dictionary() == ["en": .redacted])
      #expect(try composite.dictionary()["port"] == 80)
    },
    ConformanceRule(34, "dictionaries show what no sealed layer holds", requires: [.holdsNo(.secret)]) { fixture in
      let store = try fixture.makeStore()
      try store.set("word", forKey: "text")
      #expect(try store.dictionary() == ["text": "word"])
      let sealed = sealedLayer(["token": "SENTINEL-5f3a"])
      #expect(try CompositePreferences([sealed, store]).dictionary() == ["text": "word", "token": .redacted])
    },
    unshown("neither descriptions nor dumps show a sealed value") { store, composite in
      [
        store, store.readOnly, below("tok", store), composite, [composite], try composite.explain("token"),
        try composite.dictionary(), try composite.layer(holding: "token") as Any,
        try DictionaryPreferences(copying: composite), PreferenceChange(keys: ["token"]), store.identity,
      ]
    },
    ConformanceRule(
      34, "a change that observers receive does not print its values", requires: [.takes(.secret), .leavesNames]
    ) { fixture in
      let store = try fixture.makeStore()
      let found = Collected<[String]>()
      let observation = store.observe(.secret("token") as PreferenceKey<String?>, initial: true, prior: true) {
        change in
        found.append(traces(of: sentinel, in: change))
      }
      try store.set(sentinel, for: .secret("token"))
      observation.invalidate()
      #expect(found.all == [[], [], []])
    },
    ConformanceRule(34, "no error repeats a value") { fixture in
      // Not the sentinel: a plain store keeps this value in the clear.
      let value = "repeated-5f3a"
      let store = try fixture.makeStore()
      try store.set(.string(value), forKey: "token")
      let composite: CompositePreferences = [layer(store)]
      func nested(_ depth: Int) -> PreferenceValue {
        (0..<depth).reduce(PreferenceValue.string(value)) { inner, _ in [inner] }
      }
      let failures = [
        failure { _ = try store.integer(forKey: "token") }, failure { _ = try composite.date(forKey: "token") },
        failure { _ = try composite.value(for: .key("token")) as [String]? },
        failure { try store.set(.string(value), forKey: "") }, failure { try store.set(nested(1000), forKey: "deep") },
        // A store may refuse what is within the limit.
        failure { try store.set(nested(100), forKey: "nested") },
        failure { try composite.set(["token": .string(value), "": .string(value)]) },
      ].compactMap(\.self)
      #expect(failures.count >= 5)
      for failure in failures { #expect(traces(of: value, in: failure) == []) }
    },

    // MARK: 35
    ConformanceRule(
      35, "beside a failing sealed layer plain keys are read and written here",
      requires: [.takes(.plain), .leavesNames]
    ) { fixture in
      let store = try fixture.makeStore()
      let port = PreferenceKey("port", default: 80)
      try store.set(8080, for: port)
      let failing = FailingPreferences(isSealed: true)
      failing.become(.failing())
      let vault = failing.claiming(.names(["password"]))
      for composite in [[vault, store], [store, vault], [[vault] as CompositePreferences, store]]
        as [CompositePreferences]
      {
        #expect(try composite.value(for: port) == 8080)
        #expect(try composite.set(443, for: port) == .visible)
        try composite.update(port) { $0 += 1 }
        #expect(try composite.value(for: port) == 444)
        try composite.reset(port)
        #expect(try composite.value(for: port) == 80)
        try composite.set(8080, for: port)
      }
    },
    ConformanceRule(35, "a secret key is unavailable while a sealed layer above fails, whatever is stored here") {
      fixture in
      let store = try fixture.makeStore()
      try store.set("here", forKey: "password")
      let failing = FailingPreferences(isSealed: true)
      failing.become(.failing())
      let secret: PreferenceKey<String?> = .secret("password")
      let composite: CompositePreferences = [failing.claiming(.names(["password"])), layer(store)]
      for use in [
        { _ = try composite.value(for: secret) }, { _ = try composite.value(forKey: "password") },
        { _ = try composite.string(forKey: "password") }, { _ = try composite.contains("password") },
        { _ = try composite.keys() }, { _ = try composite.dictionary() }, { try composite.set("new", for: secret) },
        { try composite.set("new", forKey: "password") }, { try composite.set(["password": "new"]) },
        { try composite.reset(secret) }, { try composite.removeAll() }, { try composite.update(secret) { $0 = "new" } },
      ] as [() throws -> Void] {
        #expect(code(of: use) == .unavailable)
      }
      #expect(try store.value(forKey: "password") == "here")
      let reported = reportedFailures { #expect(composite[secret] == nil) }
      #expect(reported == 1)
    },
    ConformanceRule(35, "while this store fails, lower layers are not used in its place") { fixture in
      let store = try fixture.makeStore()
      try store.set("here", forKey: "password")
      let failing = FailingPreferences(store)
      let lower: DictionaryPreferences = ["password": "lower", "port": 80]
      let isSealed = !store.custody.holds(.plain)
      let composite: CompositePreferences = [isSealed ? claiming("password", in: failing) : failing, lower]
      failing.become(.failing())
      #expect(code { _ = try composite.value(forKey: "password") } == .unavailable)
      #expect(code { try composite.set("new", forKey: "password") } == .unavailable)
      let port = PreferenceKey("port", default: 0)
      if isSealed {
        #expect(try composite.value(for: port) == 80)
        #expect(code { _ = try composite.value(for: .secret("password")) as String? } == .unavailable)
      } else {
        #expect(code { _ = try composite.value(for: port) } == .unavailable)
      }
      failing.become(.working)
      #expect(try composite.value(forKey: "password") == "here")
    },
  ]

  /// A rule that what `shown` returns does not print a secret, which the store and a composite of it have under
  /// `token`.
  static func unshown(
    _ title: String, shown: @escaping @Sendable (any PreferencesStore, CompositePreferences) throws -> [Any]
  ) -> ConformanceRule {
    ConformanceRule(34, title, requires: [.takes(.secret), .leavesNames]) { fixture in
      let store = try fixture.makeStore()
      try store.set(sentinel, for: .secret("token"))
      let composite: CompositePreferences = [DictionaryPreferences(), claiming("token", in: store)]
      for object in try shown(store, composite) {
        #expect(traces(of: sentinel, in: object) == [], "shown by \(type(of: object))")
      }
    }
  }
}

private let sentinel = ConformanceRule.sentinel
