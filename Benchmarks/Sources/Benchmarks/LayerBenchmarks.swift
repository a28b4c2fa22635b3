import Foundation
import Preferences
import PreferencesFoundation
import Synchronization

/// What a layer costs: beside a bare dictionary under a lock, and beside `UserDefaults`, with the same keys and values.
final class LayerBenchmarks {
  private static let keys = (0..<1_000).map { "server.setting.\($0)" }
  private static let port = PreferenceKey<Int>("server.setting.7", default: 80)
  private static let domain = "com.example.secretprefs-benchmark"

  private let bare: BareDictionary
  private let defaults = UserDefaults(suiteName: domain)!
  private let dictionary: DictionaryPreferences
  private let composite: CompositePreferences
  private var turn = 0

  init() {
    let values = Dictionary(
      uniqueKeysWithValues: Self.keys.enumerated().map { ($1, PreferenceValue.integer(Int64($0))) })
    bare = BareDictionary(values)
    dictionary = DictionaryPreferences(values)
    // The first three do not have the key, so each of the four is asked.
    let above = (0..<3).map { layer in
      DictionaryPreferences(Dictionary(uniqueKeysWithValues: (0..<10).map { ("layer\(layer).\($0)", true) }))
    }
    composite = CompositePreferences(above + [dictionary])
    for (index, key) in Self.keys.enumerated() { defaults.set(index, forKey: key) }
  }

  deinit { defaults.removePersistentDomain(forName: Self.domain) }

  private var nextKey: String {
    turn = (turn + 7) % Self.keys.count
    return Self.keys[turn]
  }

  private static func medians(_ bodies: [() throws -> Void]) throws -> [Double] {
    try Timing.medians(rounds: 41, calls: 2_000, bodies)
  }

  private func add(
    _ name: String, _ table: inout Table, limit: Double, defaults: Double?, _ time: Double, target: Double? = nil
  ) {
    table.add("\(name) / bare dictionary under a lock", Self.keys.count, time, limit: limit, target: target)
    if let defaults { table.add("\(name) / UserDefaults", Self.keys.count, time, limit: defaults, target: nil) }
  }

  func lookups(_ table: inout Table) throws {
    let times = try Self.medians([
      { _ = self.bare[self.nextKey] },
      { _ = self.defaults.object(forKey: self.nextKey) },
      { _ = try self.dictionary.value(forKey: self.nextKey) },
      { _ = try self.composite.value(forKey: self.nextKey) },
    ])
    add("lookup, one layer", &table, limit: times[0], defaults: times[1], times[2])
    add("lookup through 4 layers", &table, limit: times[0], defaults: times[1], times[3], target: 2.5)
  }

  func typedReads(_ table: inout Table) throws {
    let times = try Self.medians([
      { if case .integer(let port)? = self.bare[Self.port.name] { precondition(port == 7) } },
      { precondition(self.defaults.integer(forKey: Self.port.name) == 7) },
      {
        let port = try self.dictionary.value(for: Self.port); precondition(port == 7)
      },
      {
        let port = try self.composite.value(for: Self.port); precondition(port == 7)
      },
    ])
    add("typed read, one layer", &table, limit: times[0], defaults: times[1], times[2])
    add("typed read through 4 layers", &table, limit: times[0], defaults: times[1], times[3], target: 3)
  }

  func writes(_ table: inout Table) throws {
    let times = try Self.medians([
      { self.bare[self.nextKey] = .integer(Int64(self.turn)) },
      { self.defaults.set(self.turn, forKey: self.nextKey) },
      { try self.dictionary.set(.integer(Int64(self.turn)), forKey: self.nextKey) },
      { try self.composite.set(.integer(Int64(self.turn)), forKey: self.nextKey) },
    ])
    add("write, one layer", &table, limit: times[0], defaults: times[1], times[2])
    add("write to the first of 4 layers", &table, limit: times[0], defaults: times[1], times[3], target: 2.5)
  }

  /// Our user defaults beside Foundation's, both on disk when they return, in suites of a folder of their own.
  func userDefaults(_ table: inout Table) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "benchmark-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { do { try FileManager.default.removeItem(at: folder) } catch {} }
    let theirs = UserDefaults(suiteName: folder.path + "/theirs")!
    let ours = try UserDefaultsPreferences(suiteName: folder.path + "/ours")
    for index in 0..<20 { theirs.set(index, forKey: Self.keys[index]) }
    try ours.set(Dictionary(uniqueKeysWithValues: (0..<20).map { (Self.keys[$0], .integer(Int64($0))) }))
    let reads = try Self.medians([
      { _ = theirs.integer(forKey: Self.keys[7]) }, { _ = try ours.integer(forKey: Self.keys[7]) },
    ])
    table.add("user defaults, typed read / UserDefaults", 20, reads[1], limit: reads[0], target: nil)
    var turn = 0
    let writes = try Timing.medians(
      rounds: 21, calls: 5,
      [
        {
          turn += 1
          theirs.set(turn, forKey: Self.keys[7])
          theirs.synchronize()
        },
        {
          turn += 1
          try ours.set(turn, forKey: Self.keys[7])
        },
      ])
    table.add("user defaults, write / UserDefaults and synchronize", 20, writes[1], limit: writes[0], target: nil)
  }

  func notifications(_ table: inout Table) throws {
    let count = Counter()
    bare.observe { count.add() }
    let observation = dictionary.observe(Self.port) { _ in count.add() }
    defer { observation.invalidate() }
    var port = 0
    // UserDefaults has no notifications on Linux.
    let times = try Self.medians([
      {
        port += 1
        self.bare[Self.port.name] = .integer(Int64(port))
      },
      {
        port += 1
        try self.dictionary.set(port, for: Self.port)
      },
    ])
    add("write that notifies one observer", &table, limit: times[0], defaults: nil, times[1], target: 5)
  }
}

/// The simplest store: a dictionary under a lock, with one closure that is called for each write.
private final class BareDictionary: Sendable {
  private struct State {
    var values: [String: PreferenceValue]
    var observer: (@Sendable () -> Void)?
  }

  private let state: Mutex<State>

  init(_ values: [String: PreferenceValue]) { state = Mutex(State(values: values)) }

  func observe(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.observer = observer } }

  subscript(key: String) -> PreferenceValue? {
    get { state.withLock { $0.values[key] } }
    set {
      let observer = state.withLock { state in
        state.values[key] = newValue
        return state.observer
      }
      observer?()
    }
  }
}

private final class Counter: Sendable {
  private let count = Atomic(0)
  func add() { count.add(1, ordering: .relaxed) }
}
