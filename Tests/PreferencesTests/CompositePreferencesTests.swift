import Foundation
import Preferences
import PreferencesOperators
import Synchronization
import Testing

struct CompositePreferencesTests {
  let upper = DictionaryPreferences(["a": "upper"], name: "upper")
  let lower = DictionaryPreferences(["a": "lower", "b": "lower"], name: "lower")

  @Test func `the first layer that has the key wins`() throws {
    let composite: CompositePreferences = [upper, lower]
    #expect(try composite.string(forKey: "a") == "upper")
    #expect(try composite.string(forKey: "b") == "lower")
    #expect(try composite.value(forKey: "none") == nil)
    #expect(try CompositePreferences([]).value(forKey: "a") == nil)
  }

  @Test func `composites nest`() throws {
    let composite: CompositePreferences = [CompositePreferences([upper]), CompositePreferences([lower])]
    #expect(try composite.string(forKey: "a") == "upper")
    #expect(try composite.string(forKey: "b") == "lower")
  }

  @Test func `the winning layer parses its text`() throws {
    let environment = EnvironmentPreferences(prefix: "SHOP", environment: ["SHOP_SERVER_PORT": "443"])
    let composite: CompositePreferences = [
      [environment] as CompositePreferences, ["server.port": 80] as DictionaryPreferences,
    ]
    #expect(try composite.integer(forKey: "server.port") == 443)
    #expect(try composite.string(forKey: "server.port") == "443")
  }

  @Test func `keys are the union in the order of the layers, each once`() throws {
    let third = DictionaryPreferences(["0": 1, "b": 1])
    #expect(try CompositePreferences([upper, lower, third]).keys() == ["a", "b", "0"])
  }

  @Test func `a composite holds secrets when a layer does`() {
    #expect(!CompositePreferences([upper]).custody.holds(.secret))
    let sealed = CompositePreferences([FailingPreferences().unclaimed])
    #expect(CompositePreferences([upper, sealed]).custody.holds(.secret))
  }

  @Test func `a sealed layer that does not say what it claims is refused by every call`() {
    let composite: CompositePreferences = [upper, SealedPreferences()]
    for body in [
      { _ = try composite.value(forKey: "a") }, { _ = try composite.keys() }, { try composite.set(1, forKey: "a") },
      { try composite.removeAll() }, { _ = try composite.explain("a") }, { _ = try composite.layer(holding: "a") },
    ] as [() throws -> Void] {
      #expect(preferencesError(body)?.code == .unclaimed)
    }
  }

  @Test func `a failing layer stops a lookup and is never skipped`() throws {
    let composite = CompositePreferences([upper, FailingPreferences().claiming(.names(["b", "none"])), lower])
    #expect(try composite.string(forKey: "a") == "upper")
    let name = PreferenceKey<String?>("b")
    for body in [
      { _ = try composite.value(for: name) }, { _ = try composite.value(forKey: "b") },
      { _ = try composite.keys() }, { _ = try composite.contains("none") },
    ] as [() throws -> Void] {
      let error = preferencesError(body)
      #expect(error?.code == .unavailable)
      #expect(error?.message == "layer \"vault com.example.shop/default\" failed")
      #expect(error?.cause is FailingPreferences.Locked)
      #expect(error?.description.contains(sentinel) == false)
    }
  }

  @Test func `a PreferencesError of a layer is reported, and is the cause`() {
    let failing = FailingPreferences(error: PreferencesError(.unavailable, "the vault is locked"))
    let error = preferencesError {
      _ = try CompositePreferences([[failing.claiming(.everything)] as CompositePreferences]).value(forKey: "a")
    }
    #expect(error?.code == .unavailable)
    #expect(
      error?.message
        == "layer \"composite\": layer \"vault com.example.shop/default\": the vault is locked")
    #expect((error?.cause as? PreferencesError)?.cause is PreferencesError)
  }

  @Test func `a value at fault keeps its code through composites`() {
    let environment = EnvironmentPreferences(environment: ["A": sentinel])
    let composite: CompositePreferences = [[environment] as CompositePreferences, lower]
    let error = preferencesError { _ = try composite.integer(forKey: "a") }
    #expect(error?.code == .typeMismatch)
    #expect(
      error?.message
        == "layer \"composite\": layer \"environment\": key \"a\": the text of A does not parse as integer")
    let mismatch = preferencesError { _ = try CompositePreferences([upper]).integer(forKey: "a") }
    #expect(mismatch?.code == .typeMismatch)
  }

  @Test func `a write is stored in the first store`() throws {
    let composite = CompositePreferences([
      FixedPreferences(), CompositePreferences([FixedPreferences()]), upper, lower,
    ])
    #expect(try composite.set("new", forKey: "b") == .visible)
    #expect(try upper.string(forKey: "b") == "new")
    #expect(try lower.string(forKey: "b") == "lower")
    #expect(try composite.set(5, for: PreferenceKey("c", default: 0)) == .visible)
    #expect(try upper.integer(forKey: "c") == 5)
  }

  @Test func `a write that an earlier layer hides is done and says so`() throws {
    let fixed = FixedPreferences(name: "fixed", content: ["a": 1])
    let composite = CompositePreferences([fixed, upper])
    #expect(try composite.set(2, forKey: "a") == .shadowed(by: "fixed"))
    #expect(try upper.integer(forKey: "a") == 2)
    #expect(try composite.integer(forKey: "a") == 1)
    let nested = CompositePreferences([FixedPreferences(), composite])
    #expect(try nested.set(3, forKey: "a") == .shadowed(by: "fixed"))
  }

  @Test func `a failing earlier layer stops a write and nothing is written`() throws {
    struct Reader: PreferencesReader {
      let name = "reader"
      func value(for query: PreferenceQuery) throws -> PreferenceValue? { throw FailingPreferences.Locked() }
      func names(of secrecy: Secrecy) -> [PreferenceName] { [] }
    }
    let composite = CompositePreferences([Reader(), upper])
    #expect(preferencesError { _ = try composite.set(2, forKey: "a") }?.code == .unavailable)
    #expect(preferencesError { _ = try composite.removeValue(forKey: "a") }?.code == .unavailable)
    #expect(try upper.string(forKey: "a") == "upper")
  }

  @Test func `a store that fails is named`() {
    let composite = CompositePreferences([FailingPreferences().claiming(.names(["a"])), upper])
    for body in [
      { _ = try composite.set(2, forKey: "a") }, { _ = try composite.removeValue(forKey: "a") },
      { try composite.removeAll() },
    ] as [() throws -> Void] {
      let error = preferencesError(body)
      #expect(error?.code == .unavailable)
      #expect(error?.message.contains("vault com.example.shop/default") == true)
    }
  }

  @Test(arguments: [0, 1, 2]) func `a store that writes and then throws has what it had, like the others`(
    place: Int
  ) async throws {
    let stores = (0..<3).map { DictionaryPreferences(["a": .integer(Int64($0))]) }
    var layers: [any PreferencesStore] = stores
    layers[place] = FailingLate(base: stores[place])
    let composite = CompositePreferences(layers, writeMode: .allStores)
    #expect(preferencesError { try composite.set(9, forKey: "a") }?.code == .unavailable)
    #expect(await preferencesError { try await composite.set(9, forKey: "a") }?.code == .unavailable)
    #expect(stores.map { $0["a"] } == [0, 1, 2])
  }

  @Test(arguments: [false, true])
  func `a dictionary in a file has what it had after edits of it and of its entries`(isUnordered: Bool) async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).json").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(#"{"server":{"host":"a","port":1}}"#.utf8).write(to: URL(fileURLWithPath: path))
    let file = try JSONPreferences(at: path)
    let composite = CompositePreferences([file, RefusingPreferences()], writeMode: .allStores)
    var edits = PreferenceEdits()
    edits.append(.init(try PreferenceName("server"), to: .value(["host": "b", "port": 2])))
    edits.append(.init(try PreferenceName("server.port"), to: .value(3)))
    edits.append(.init(try PreferenceName("server.new"), to: .value(4)))
    edits.isUnordered = isUnordered
    let written = edits
    func error() -> PreferencesError? { preferencesError { try composite.apply(written) } }
    #expect(error()?.message.contains("could not be taken back") == false)
    let code = await preferencesError { try await composite.apply(written) }?.code
    #expect(code == .unavailable)
    #expect(try file.value(forKey: "server") == ["host": "a", "port": 1])
    #expect(file.keys() == ["server.host", "server.port"])
  }

  @Test func `entries that cannot be restored one by one are reported`() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).json").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(#"{"server":{"host":"a","port":1}}"#.utf8).write(to: URL(fileURLWithPath: path))
    let view = CompositePreferences([try JSONPreferences(at: path)])
    let composite = CompositePreferences([view, RefusingPreferences()], writeMode: .allStores)
    let error = preferencesError {
      try composite.set(["server": ["host": "b", "port": 2], "server.port": 3])
    }
    let isOld = try view.value(forKey: "server") == ["host": "a", "port": 1]
    #expect(isOld || error?.message.contains("could not be taken back") == true)
  }

  @Test func `a store that cannot be restored keeps no other from it`() throws {
    let first = DictionaryPreferences(["a": 0])
    let stuck = RefusingPreferences(writesBeforeRefusing: 1)
    let composite = CompositePreferences([first, stuck, RefusingPreferences()], writeMode: .allStores)
    let error = preferencesError { try composite.set(9, forKey: "a") }
    #expect(error?.message.contains("could not be taken back") == true)
    #expect(first["a"] == 0)
  }

  @Test func `item 30: when one of several stores refuses, those before it have what they had`() throws {
    let first = DictionaryPreferences(["kept": "old", "other": 1])
    let second = DictionaryPreferences()
    let preferences = CompositePreferences(
      [first, second, RefusingPreferences()], writeMode: .allStores)

    #expect(preferencesError { try preferences.set("new", forKey: "kept") }?.code == .unavailable)
    #expect(preferencesError { try preferences.set("new", forKey: "fresh") }?.code == .unavailable)
    #expect(preferencesError { try preferences.removeValue(forKey: "kept") }?.code == .unavailable)
    #expect(preferencesError { try preferences.set(["kept": "new", "other": 2, "fresh": 3]) }?.code == .unavailable)
    #expect(
      preferencesError { try preferences.update(PreferenceKey("other", default: 0)) { $0 += 1 } }?.code == .unavailable)

    #expect(try first.dictionary() == ["kept": "old", "other": 1])
    #expect(second.keys() == [])
  }

  @Test func `item 30: stores that cannot be restored are reported`() throws {
    let first = RefusingPreferences(writesBeforeRefusing: 1)
    let preferences = CompositePreferences([first, RefusingPreferences()], writeMode: .allStores)

    let error = preferencesError { try preferences.set("new", forKey: "key") }

    #expect(error?.message.contains("could not be taken back") == true)
  }

  @Test func `without a store every write throws`() {
    let composite = CompositePreferences([FixedPreferences()], name: "read-only")
    #expect(preferencesError { _ = try composite.set(1, forKey: "a") }?.code == .noStore)
    #expect(preferencesError { _ = try composite.removeValue(forKey: "a") }?.code == .noStore)
    #expect(
      preferencesError { try composite.removeAll() }?.message == "no layer of \"read-only\" can be written to"
    )
  }

  @Test func `removing takes the value from where it would be written, and uncovers a lower layer's`()
    throws
  {
    let composite = CompositePreferences([upper, lower])
    #expect(try composite.removeValue(forKey: "a") == .visible)
    #expect(try composite.string(forKey: "a") == "lower")
    #expect(try composite.removeValue(forKey: "a") == .visible)
    #expect(try composite.string(forKey: "a") == "lower")
  }

  @Test func `item 31: what returns no outcome stores a hidden value, and reports the layer that hides it`() throws {
    let composite: CompositePreferences = [FixedPreferences(name: "fixed", content: ["a": 1]), upper]
    let key = PreferenceKey("a", default: 0)
    let writes: [(Int) -> Void] = [
      { composite["a"] = .integer(Int64($0)) }, { composite["a"] = $0 }, { composite[key] = $0 },
      { composite.members.a = $0 }, { (composite <| key).value = $0 },
      { StoredPreference(key, in: composite).wrappedValue = $0 },
      { StoredPreference(key, in: composite).value = $0 },
      { composite["a", TwoWayTransformation<Int, Int>(reading: { $0 }, writing: { $0 })] = $0 },
    ]
    for (number, write) in writes.enumerated() {
      let reported = failures {
        write(number + 10)
        #expect(upper["a"] == number + 10)
        #expect(composite[key] == 1)
      }
      let error = try #require(reported.first?.error as? PreferencesError)
      #expect(reported.count == 1 && error.code == .shadowed && error.message.contains("\"fixed\""), "\(number)")
    }
    let changes: [() -> Void] = [{ composite[key] += 1 }, { composite.members.a = nil as Int? }]
    for change in changes { #expect(failures(change).map(\.key) == ["a"]) }
    #expect(upper["a"] == nil)
    #expect(failures { composite["b"] = 1 }.isEmpty)
    #expect(try composite.set(5, for: key) == .shadowed(by: "fixed"))
  }

  @Test func `item 31: an operator reports a hidden write`() throws {
    let composite: CompositePreferences = [FixedPreferences(content: ["a": 1, "on": true]), upper]
    let (key, flag) = (PreferenceKey("a", default: 0), PreferenceKey("on", default: false))
    let operators: [() throws -> Void] = [
      { try (composite <| key) += 1 }, { try (composite <| key) -= 1 }, { try (composite <| key) *= 2 },
      { try (composite <| key) /= 2 }, { try (composite <| key) %= 2 }, { try (composite <| key) &= 7 },
      { try (composite <| key) |= 8 }, { try (composite <| key) ^= 1 }, { try (composite <| key)++ },
      { try (composite <| key)-- }, { try (composite <| key).invertBits() },
      { _ = try (composite <| key).rewrite(as: Int64.self) { _ in 1 } }, { try composite -= "a" },
      { try (composite <| flag) &&= true }, { try (composite <| flag) ||= true }, { try (composite <| flag) |= true },
    ]
    for (number, write) in operators.enumerated() {
      let reported = try failures(write)
      #expect(reported.count == 1 && ["a", "on"].contains(reported[0].key), "\(number)")
      #expect((reported.first?.error as? PreferencesError)?.code == .shadowed)
    }
    let several: [() throws -> Void] = [
      { try composite += ["a": 1, "b": 2] }, { try composite += [("a", 1)] },
      { try composite += DictionaryPreferences(["a": 1]) }, { try composite -= ["a", "b"] },
    ]
    for write in several { #expect(try failures(write).map(\.key) == ["*"]) }
  }

  @Test func `removing below a layer that holds the key is shadowed`() throws {
    let composite = CompositePreferences([FixedPreferences(name: "fixed", content: ["a": 1]), upper])
    #expect(try composite.removeValue(forKey: "a") == .shadowed(by: "fixed"))
    #expect(try upper.contains("a") == false)
  }

  @Test func `removing all empties the first store only`() throws {
    try CompositePreferences([FixedPreferences(), upper, lower]).removeAll()
    #expect(upper.keys() == [])
    #expect(lower.keys() == ["a", "b"])
  }

  @Test func `neither description nor dump shows a value`() {
    let composite = CompositePreferences([DictionaryPreferences(["a": .string(sentinel)])])
    #expect("\(composite)" == "composite")
    #expect(!dumped(composite).contains(sentinel))
  }
}

/// Takes a number of writes and refuses all others.
private final class RefusingPreferences: PreferencesStore {
  struct Refusal: Error {}

  let name = "refusing"
  private let values = DictionaryPreferences()
  private let writesLeft: Mutex<Int>

  init(writesBeforeRefusing count: Int = 0) { writesLeft = Mutex(count) }

  func value(for query: PreferenceQuery) -> PreferenceValue? { values.value(for: query) }
  func names(of secrecy: Secrecy) -> [PreferenceName] { values.names(of: secrecy) }

  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    try takeTurn()
    return try values.apply(edits)
  }

  private func takeTurn() throws {
    let isTaken = writesLeft.withLock { count in
      count -= 1
      return count >= 0
    }
    if !isTaken { throw Refusal() }
  }
}
