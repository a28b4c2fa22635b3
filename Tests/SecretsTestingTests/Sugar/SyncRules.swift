import FoundationEssentials
import Preferences
@testable import SecretsTesting
import Testing

/// A store, a second store that it is synced with, and keys that both accept.
private struct Pair {
  let here: any PreferencesStore
  let there: any PreferencesStore
  let keys: [PreferenceKey<Int?>]

  /// Two stores of the kind; for plain keys also a store of the kind with a dictionary.
  static func all(_ fixture: StoreFixture) throws -> [Pair] {
    let (one, other) = (try fixture.makeStore(), try fixture.makeStore())
    let (plain, secret) = (PreferenceKey<Int?>("server.port"), PreferenceKey<Int?>.secret("server.pin"))
    let keys = [plain] + (one.custody.takes(.secret) ? [secret] : [])
    var pairs = [Pair(here: one, there: other, keys: keys)]
    if !one.custody.isSealedByName {
      pairs.append(Pair(here: try fixture.makeStore(), there: DictionaryPreferences(), keys: [plain]))
      pairs.append(Pair(here: DictionaryPreferences(), there: try fixture.makeStore(), keys: [plain]))
    }
    return pairs
  }

  func sync(_ now: Double = 1_000) -> PreferenceSync {
    PreferenceSync(here, with: there) { Date(timeIntervalSince1970: now) }
  }

  func holdSame(_ key: PreferenceKey<Int?>, _ value: Int?) throws {
    #expect(try here.value(for: key) == value)
    #expect(try there.value(for: key) == value)
    #expect(try time(here, key) == time(there, key))
  }

  private func time(_ store: any PreferencesReader, _ key: PreferenceKey<Int?>) throws -> Int? {
    try store.value(for: key.timeKey)
  }
}

extension PreferenceKey<Int?> {
  /// The key of the time of the last write, with the same secrecy as this key.
  fileprivate var timeKey: Self {
    let name = PreferenceSync.timeKey(for: name)
    return secrecy == .secret ? .secret(name) : PreferenceKey(name)
  }
}

extension ConformanceRule {
  /// Two stores that are kept in sync.
  static let syncing = [
    ConformanceRule(83, "a write on either side reaches the other, with its time, and so does a removal") { fixture in
      for pair in try Pair.all(fixture) {
        for key in pair.keys {
          let sync = pair.sync()
          try await sync.add(key)
          try await pair.here.set(81, for: key)
          try pair.holdSame(key, 81)
          try await pair.there.set(82, for: key)
          try pair.holdSame(key, 82)
          try await pair.here.reset(key)
          try pair.holdSame(key, nil)
          try await pair.there.set(83, for: key)
          try await pair.there.reset(key)
          try pair.holdSame(key, nil)
          try await sync.waitForCompletion()
          #expect(try pair.here.value(for: key.timeKey) != nil, "also for a removal")
        }
      }
    },
    ConformanceRule(83, "of two values the newer wins, and the other store takes its time") { fixture in
      for pair in try Pair.all(fixture) {
        for key in pair.keys {
          for (ours, theirs, winner) in [(1, 2, 82), (4, 3, 81)] {
            try pair.here.set(81, for: key)
            try pair.here.set(ours, for: key.timeKey)
            try pair.there.set(82, for: key)
            try pair.there.set(theirs, for: key.timeKey)
            try pair.sync().add(key)
            try pair.holdSame(key, winner)
          }
        }
      }
    },
    ConformanceRule(83, "a newer removal wins over an older value, and an older one does not") { fixture in
      for pair in try Pair.all(fixture) {
        for key in pair.keys {
          try pair.here.set(81, for: key)
          try pair.here.set(8, for: key.timeKey)
          try pair.there.set(9, for: key.timeKey)
          try pair.sync().add(key)
          try pair.holdSame(key, nil)
          try pair.there.set(82, for: key)
          try pair.there.set(10, for: key.timeKey)
          try pair.sync().add(key)
          try pair.holdSame(key, 82)
        }
      }
    },
    ConformanceRule(83, "a key that is not set, or holds its default, only pulls; set on purpose it is pushed") {
      fixture in
      for pair in try Pair.all(fixture) {
        let key = PreferenceKey("port", default: 80)
        try pair.here.set(80, for: key)
        do { try pair.sync().add(key) }
        #expect(try pair.there.keys().isEmpty)
        try pair.there.set(82, for: key)
        let sync = pair.sync()
        try sync.add(key)
        #expect(try pair.here.value(for: key) == 82)
        try pair.here.set(80, for: key)
        #expect(try pair.there.storedValue(for: key) == 80)
      }
    },
    ConformanceRule(83, "only keys that are added are synced, and none after it is removed") { fixture in
      for pair in try Pair.all(fixture) {
        for key in pair.keys {
          let sync = pair.sync()
          try pair.here.set(81, for: key)
          #expect(try pair.there.value(for: key) == nil)
          try sync.add(key)
          try pair.holdSame(key, 81)
          #expect(sync.keys == [key.name])
          sync.remove(key)
          try pair.here.set(82, for: key)
          #expect(try pair.there.value(for: key) == 81)
        }
      }
    },
    ConformanceRule(83, "waiting for completion returns when both stores hold the same") { fixture in
      for pair in try Pair.all(fixture) {
        for key in pair.keys {
          let sync = pair.sync()
          try await sync.add(key)
          try await withThrowingTaskGroup { group in
            for task in 1...4 {
              group.addTask {
                let store = task.isMultiple(of: 2) ? pair.here : pair.there
                for number in 1...10 { try store.set(task * 1_000 + number, for: key) }
              }
            }
            try await group.waitForAll()
          }
          try await sync.waitForCompletion()
          let value = try pair.here.value(for: key)
          #expect(value.map { $0 % 1_000 } == 10, "the last write of some task")
          try pair.holdSame(key, value)
        }
      }
    },
    ConformanceRule(83, "a suppressed write is synced on request") { fixture in
      for pair in try Pair.all(fixture) {
        for key in pair.keys {
          let sync = pair.sync()
          try await sync.add(key)
          try withoutObservation { try pair.here.set(81, for: key) }
          #expect(try pair.there.value(for: key) == nil)
          await sync.sync()
          try await sync.waitForCompletion()
          try pair.holdSame(key, 81)
        }
      }
    },
    ConformanceRule(83, "a secret key is synced between stores that seal, and refused by others") { fixture in
      let (one, other) = (try fixture.makeStore(), try fixture.makeStore())
      for remote in [other, DictionaryPreferences()] as [any PreferencesStore] {
        let sync = PreferenceSync(one, with: remote)
        let key = PreferenceKey<Int?>.secret("server.pin")
        guard !one.custody.holds(.secret) || !remote.custody.holds(.secret) else {
          try sync.add(key)
          continue
        }
        let error = #expect(throws: PreferencesError.self) { try sync.add(key) }
        #expect(error?.code == .noStore)
        #expect(sync.keys.isEmpty)
        #expect(try remote.keys().isEmpty)
      }
    },
  ]
}
