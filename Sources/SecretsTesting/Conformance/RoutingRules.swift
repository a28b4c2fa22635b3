internal import Preferences
internal import Testing

extension ConformanceRule {
  /// Which layers of a composite are written to.
  static let routing =
    [
      // MARK: 29
      ConformanceRule(29, "the first store that takes a key is written to, wherever this one is") { fixture in
        for secrecy in [Secrecy.plain, .secret] {
          for place in 0...2 { try expectWritten(fixture, secrecy, place, .firstStore) }
        }
      },
      ConformanceRule(29, "all stores that take a key are written to, and no other") { fixture in
        for secrecy in [Secrecy.plain, .secret] {
          for place in 0...2 { try expectWritten(fixture, secrecy, place, .allStores) }
        }
      },
      ConformanceRule(29, "the only store of a composite is written to, and below it nothing is") { fixture in
        let store = layer(try fixture.makeStore()) as any PreferencesStore
        let other = neighbour(of: store, ["text": "other"])
        for mode in [CompositePreferences.WriteMode.firstStore, .allStores] {
          let composite = CompositePreferences([other.readOnly, [store] as CompositePreferences], writeMode: mode)
          try composite.set(.string("\(mode)"), forKey: "own")
          #expect(try store.value(forKey: "own") == .string("\(mode)"))
          #expect(try other.keys() == ["text"])
        }
      },
    ] + changes(by: waysToChange)

  /// A rule for each of the ways to change a composite.
  static func changes(by ways: [WayToChange]) -> [ConformanceRule] {
    ways.map { change in
      // MARK: 30
      ConformanceRule(30, "\(change.name) changes the layers that a set would") { fixture in
        for mode in [CompositePreferences.WriteMode.firstStore, .allStores] {
          for isFirst in [true, false] {
            let store = layer(try fixture.makeStore()) as any PreferencesStore
            let other = neighbour(of: store)
            for each in [store, other] { try each.set("old", forKey: "text") }
            let layers: [any PreferencesReader] = isFirst ? [store, other] : [other, store]
            try change.make(CompositePreferences(layers, writeMode: mode))
            let lower: PreferenceValue? = mode == .allStores ? change.result : "old"
            #expect(try store.value(forKey: "text") == (isFirst ? change.result : lower))
            #expect(try other.value(forKey: "text") == (isFirst ? lower : change.result))
          }
        }
      }
    }
  }

  private static let waysToChange: [WayToChange] = [
    WayToChange("a set", "new") { try $0.set("new", forKey: "text") },
    WayToChange("a merge", "new") { try $0.set(["text": "new"]) },
    WayToChange("a typed set", "new") { try $0.set("new", for: .key("text")) },
    WayToChange("an update", "new") { try $0.update(.key("text") as PreferenceKey<String?>) { $0 = "new" } },
    WayToChange("a removal", nil) { try $0.removeValue(forKey: "text") },
    WayToChange("a reset", nil) { try $0.reset(.key("text") as PreferenceKey<String?>) },
    WayToChange("an update to nil", nil) { try $0.update(.key("text") as PreferenceKey<String?>) { $0 = nil } },
    WayToChange("removing all", nil) { try $0.removeAll() },
  ]
}

/// One way to change the value under `text`.
struct WayToChange: Sendable {
  let name: String
  let result: PreferenceValue?
  let make: @Sendable (CompositePreferences) throws -> Void

  init(_ name: String, _ result: PreferenceValue?, _ make: @escaping @Sendable (CompositePreferences) throws -> Void) {
    self.name = name
    self.result = result
    self.make = make
  }
}

/// Writes to a composite that has the store between a plain and a sealed one, and expects the value where it belongs.
private func expectWritten(
  _ fixture: StoreFixture, _ secrecy: Secrecy, _ place: Int, _ mode: CompositePreferences.WriteMode
) throws {
  let fixed: DictionaryPreferences = ["text": "fixed"]
  let (store, name) = (try fixture.makeStore(), try PreferenceName("text"))
  var layers: [any PreferencesStore] = [DictionaryPreferences(), sealedLayer()]
  layers.insert(store.custody.holds(.plain) ? store : claiming("password", in: store), at: place)
  let composite = CompositePreferences(layers + [fixed.readOnly], writeMode: mode)
  // A name that the store claims is a secret for every layer.
  let meant = composite.custody.secrecy(of: name, asked: secrecy)
  try composite.edit(PreferenceEdits([.init(name, to: .value("new"), secrecy: secrecy)]))
  let taking = layers.indices.filter { layers[$0].custody.takes(meant) }
  let written = mode == .firstStore ? Array(taking.prefix(1)) : taking
  for (index, layer) in layers.enumerated() {
    let value = try layer.lookUp(PreferenceQuery(name, secrecy: meant))
    #expect(
      value == (written.contains(index) ? "new" : nil), "\(secrecy) key, \(mode), layer \(index), store at \(place)")
  }
  #expect(try fixed.value(forKey: "text") == "fixed")
}
