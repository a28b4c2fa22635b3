internal import FoundationEssentials
internal import Preferences
internal import Testing

extension ConformanceRule {
  /// Lookups through composites that have the store as a layer.
  static let composition = [
    // MARK: 26
    ConformanceRule(reading: 26, "the first layer that holds a key wins, wherever this one is among them") { fixture in
      let reader = layer(try await fixture.makeReader(["both": "here", "own": "here"]))
      let other = neighbour(of: reader, ["both": "other", "rest": "other"])
      let empty = DictionaryPreferences()
      let wins: [CompositePreferences] = [[reader, other], [empty, reader, other], [empty, empty, reader, other]]
      let loses: [CompositePreferences] = [[other, reader], [empty, other, reader], [other, reader, empty]]
      for composite in wins + loses {
        #expect(try composite.value(forKey: "own") == "here")
        #expect(try composite.value(forKey: "rest") == "other")
        #expect(try composite.value(forKey: "none") == nil)
      }
      for composite in wins { #expect(try composite.value(forKey: "both") == "here") }
      for composite in loses { #expect(try composite.value(forKey: "both") == "other") }
    },
    ConformanceRule(reading: 26, "composites of composites return what their layers in a row would return") { fixture in
      let reader = layer(try await fixture.makeReader(["both": "here", "own": "here"]))
      let other = neighbour(of: reader, ["both": "other", "rest": "other"])
      let inner: CompositePreferences = [DictionaryPreferences(), reader]
      for nested in [[inner, other], [[inner] as CompositePreferences, other]] as [CompositePreferences] {
        #expect(try nested.value(forKey: "both") == "here")
        #expect(try nested.value(forKey: "rest") == "other")
      }
      let lower: CompositePreferences = [[other] as CompositePreferences, inner]
      #expect(try lower.value(forKey: "both") == "other")
      #expect(try lower.value(forKey: "own") == "here")
    },
    ConformanceRule(reading: 26, "a failing layer stops the lookup, and layers above it still return their values") {
      fixture in
      let reader = layer(try await fixture.makeReader(["own": "here"]))
      let broken = FailingPreferences(isSealed: reader.custody.isSealedByName)
      broken.become(.failing())
      let failing = layer(broken) as any PreferencesReader
      #expect(try CompositePreferences([reader, failing]).value(forKey: "own") == "here")
      for composite in [[failing, reader], [[failing] as CompositePreferences, reader]] as [CompositePreferences] {
        #expect(code { _ = try composite.value(forKey: "own") } == .unavailable)
      }
      #expect(code { _ = try CompositePreferences([reader, failing]).value(forKey: "none") } == .unavailable)
    },

    // MARK: 27
    ConformanceRule(reading: 27, "the merged dictionary agrees with looking up each key") { fixture in
      let reader = layer(try await fixture.makeReader(["both": "here", "own": "here"]))
      let other = neighbour(of: reader, ["both": "other", "rest": "other"])
      for composite in [[reader, other], [other, reader], [other, [reader] as CompositePreferences]]
        as [CompositePreferences]
      {
        let merged = try composite.dictionary(revealingSecrets: true)
        #expect(merged.keys.sorted() == ["both", "own", "rest"])
        #expect(try composite.keys().sorted() == ["both", "own", "rest"])
        for (key, value) in merged { #expect(try composite.value(forKey: key) == value, "\(key)") }
      }
    },
    ConformanceRule(27, "the merged dictionary agrees with looking up each key, after changes of every kind") {
      fixture in
      let store = layer(try fixture.makeStore())
      let composite: CompositePreferences = [store, neighbour(of: store, ["both": "other", "rest": "other"])]
      try store.set(["both": "here", "gone": "here"])
      try store.removeValue(forKey: "gone")
      try composite.set("new", forKey: "both")
      try composite.set(["list": [1, "two"]])
      for (key, value) in try composite.dictionary(revealingSecrets: true) {
        #expect(try composite.value(forKey: key) == value, "\(key)")
      }
      #expect(try composite.dictionary(revealingSecrets: true)["gone"] == nil)
    },

    // MARK: 28
    ConformanceRule(reading: 28, "a composite's typed getters return the value of the layer that wins") { fixture in
      let reader = layer(try await fixture.makeReader(["text": "word", "count": 443, "flag": true]))
      let other = neighbour(of: reader, ["text": "other", "count": 80, "flag": false, "share": 0.5])
      for composite in [[reader, other], [[reader, other] as CompositePreferences]] as [CompositePreferences] {
        #expect(try composite.string(forKey: "text") == "word")
        #expect(try composite.integer(forKey: "count") == 443)
        #expect(try composite.bool(forKey: "flag") == true)
        #expect(try composite.double(forKey: "share") == 0.5)
        #expect(try composite.value(for: .key("count")) as UInt16? == 443)
      }
    },
    ConformanceRule(reading: 28, "a mismatch in the layer that wins is thrown, without use of lower layers") {
      fixture in
      let reader = layer(try await fixture.makeReader(["count": "wörd?"]))
      let composite: CompositePreferences = [reader, neighbour(of: reader, ["count": 80])]
      #expect(code { _ = try composite.integer(forKey: "count") } == .typeMismatch)
    },

    // MARK: 31
    ConformanceRule(reading: 31, "a write that this layer hides is reported as shadowed by it") { fixture in
      let reader = layer(try await fixture.makeReader(["text": "word"]))
      let composite: CompositePreferences = [reader.readOnly, neighbour(of: reader)]
      #expect(try await composite.set("new", forKey: "text") == .shadowed(by: reader.name))
      #expect(try await composite.set("new", forKey: "other") == .visible)
      #expect(try await composite.removeValue(forKey: "text") == .shadowed(by: reader.name))
      #expect(try composite.value(forKey: "text") == "word")
    },
    ConformanceRule(31, "a write into this layer that another hides is reported as shadowed") { fixture in
      let store = layer(try fixture.makeStore()) as any PreferencesStore
      let upper = neighbour(of: store, ["text": "upper"])
      let composite: CompositePreferences = [upper.readOnly, store]
      #expect(try composite.set("new", forKey: "text") == .shadowed(by: upper.name))
      #expect(try store.value(forKey: "text") == "new")
      #expect(try composite.value(forKey: "text") == "upper")
      #expect(
        try composite.update(.key("text") as PreferenceKey<String?>) { $0 = "newer" } == .shadowed(by: upper.name))
      #expect(try store.value(forKey: "text") == "newer")
      #expect(try composite.set("new", forKey: "other") == .visible)
    },
    ConformanceRule(reading: 31, "without a layer that can be written to a write throws") { fixture in
      let composite: CompositePreferences = [layer(try await fixture.makeReader(["text": "word"])).readOnly]
      #expect(code { _ = try composite.set("new", forKey: "text") } == .noStore)
      #expect(code { _ = try composite.removeValue(forKey: "text") } == .noStore)
      #expect(code { try composite.set(["text": "new"]) } == .noStore)
      #expect(code { try composite.removeAll() } == .noStore)
      #expect(code { try composite.update(.key("text") as PreferenceKey<String?>) { $0 = "new" } } == .noStore)
      #expect(try composite.value(forKey: "text") == "word")
    },

    // MARK: 32
    ConformanceRule(32, "a composite lists layers and stores, and returns the one that holds a key") { fixture in
      let store = layer(try fixture.makeStore()) as any PreferencesStore
      let (upper, lower) = (neighbour(of: store, ["both": 1], name: "upper"), neighbour(of: store, name: "lower"))
      let composite: CompositePreferences = [upper.readOnly, store, lower]
      try store.set(["both": 2, "own": 2])
      try lower.set(3, forKey: "rest")
      #expect(composite.layers.map(\.identity) == [upper.identity, store.identity, lower.identity])
      #expect(composite.stores.map(\.identity) == [store.identity, lower.identity])
      #expect(composite.readOnlyLayers.map(\.identity) == [upper.identity])
      #expect(try composite.layer(holding: "both")?.identity == upper.identity)
      #expect(try composite.store(holding: "both")?.identity == store.identity)
      #expect(try composite.layer(holding: "own")?.identity == store.identity)
      #expect(try composite.store(holding: "rest")?.identity == lower.identity)
      #expect(try composite.layer(holding: "none") == nil)
      #expect(try composite.store(holding: "none") == nil)
    },
    ConformanceRule(32, "a store is itself and no other") { fixture in
      let (store, other) = (try fixture.makeStore(), try fixture.makeStore())
      #expect(store.identity == store.identity)
      #expect(store.identity != other.identity)
      #expect(below("a.", store).identity == below("a.", store).identity)
      #expect(below("a.", store).identity != below("b.", store).identity)
    },
    ConformanceRule(reading: 32, "an explanation names the layer that answers, and agrees with a lookup") {
      fixture in
      let reader = layer(try await fixture.makeReader(["both": "here", "own": "here"]))
      let other = neighbour(of: reader, ["both": "other"])
      let sealed = sealedLayer(["both": "sealed"], claiming: "both", "own")
      for composite in [[reader, other], [other, reader], [other, reader, sealed]] as [CompositePreferences] {
        for key in ["both", "own", "none"] {
          let answering = try composite.explain(key).layers.filter {
            if case .answered = $0.answer { true } else { false }
          }
          #expect(answering.map(\.name) == (try composite.layer(holding: key).map { [$0.name] } ?? []), "\(key)")
        }
      }
    },
  ]
}
