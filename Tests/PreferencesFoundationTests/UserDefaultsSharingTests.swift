import Foundation
import PreferencesOperators
import Preferences
import PreferencesFoundation
import Synchronization
import Testing

/// A suite with several users in one process: objects, threads, Foundation's own objects.
struct UserDefaultsSharingTests {
  // MARK: Foundation's own objects

  /// What Foundation's object can store, and what it is read as.
  static let natural: [String: (any Sendable, PreferenceValue)] = [
    "yes": (true, true), "one": (1, 1), "real": (1.0, 1.0), "half": (0.1, 0.1), "minimum": (Int.min, .integer(.min)),
    "unsigned": (UInt64.max, .unsignedInteger(.max)), "infinity": (Double.infinity, .double(.infinity)),
    "float": (Float(0.5), 0.5), "text": ("<é🦊>", "<é🦊>"), "data": (Data([1, 2]), .data(Data([1, 2]))),
    "date": (Date(timeIntervalSinceReferenceDate: 5), .date(Date(timeIntervalSinceReferenceDate: 5))),
    "list": ([1, true, 1.5, "x", ["a": Data([1])]] as [any Sendable], [1, true, 1.5, "x", ["a": .data(Data([1]))]]),
    "dotted.key": (["b": ["c": [1, 2]]], ["b": ["c": [1, 2]]]),
  ]

  @Test func `item 18: what Foundation's object has stored is read as what it is, nested collections too`() throws {
    try withTemporaryFolder { folder in
      let foundation = try #require(UserDefaults(suiteName: folder + "/a"))
      for (key, (value, _)) in Self.natural { foundation.set(value, forKey: key) }
      foundation.set(Double.nan, forKey: "nan")
      // No call of synchronize().
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      for (key, (_, value)) in Self.natural { #expect(try store.value(forKey: key) == value, "\(key)") }
      #expect(try store.double(forKey: "nan")?.isNaN == true)
      #expect(try store.keys() == (Self.natural.keys + ["nan"]).sorted())
    }
  }

  @Test func `item 18: dates of any year, and text with control characters, that Foundation has written are read`()
    throws
  {
    try withTemporaryFolder { folder in
      let foundation = try #require(UserDefaults(suiteName: folder + "/a"))
      let seconds: [Double] = [
        -63_114_076_800, -63_113_904_001, -63_113_904_000, -63_145_526_400, -63_200_000_000, -1e13, 0, -1,
        63_113_904_000,
        252_423_993_599, 252_423_993_600, 1e13,
      ]
      for seconds in seconds { foundation.set(Date(timeIntervalSinceReferenceDate: seconds), forKey: "\(seconds)") }
      foundation.set("a\0\u{1B}\u{FFFE}\r\n]]>", forKey: "text")
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      func expectAll() throws {
        for seconds in seconds {
          #expect(try store.date(forKey: "\(seconds)")?.timeIntervalSinceReferenceDate == seconds, "\(seconds)")
        }
        #expect(try store.string(forKey: "text") == "a\0\u{1B}\u{FFFE}\r\n]]>")
      }
      try expectAll()
      try store.set(1, forKey: "ours")
      try store.reload()
      try expectAll()
    }
  }

  @Test func `item 18: what is stored here Foundation's object reads, at once and without asking`() throws {
    try withTemporaryFolder { folder in
      let foundation = try #require(UserDefaults(suiteName: folder + "/a"))
      #expect(foundation.object(forKey: "text") == nil)
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      try store.set([
        "yes": true, "one": 1, "real": 1.5, "text": "<é🦊>\r\n", "data": .data(Data([1])), "list": [1, 2],
        "date": .date(Date(timeIntervalSinceReferenceDate: 5)), "infinity": .double(-.infinity), "nan": .double(.nan),
        "unsigned": .unsignedInteger(.max), "nested": ["a": ["b"]],
      ])
      #expect(foundation.object(forKey: "yes") as? Bool == true)
      #expect(foundation.object(forKey: "one") as? Int == 1)
      #expect(foundation.object(forKey: "real") as? Double == 1.5)
      #expect(foundation.string(forKey: "text") == "<é🦊>\r\n")
      #expect(foundation.data(forKey: "data") == Data([1]))
      #expect(foundation.object(forKey: "list") as? [Int] == [1, 2])
      #expect(foundation.object(forKey: "date") as? Date == Date(timeIntervalSinceReferenceDate: 5))
      #expect(foundation.double(forKey: "infinity") == -.infinity)
      #expect(foundation.double(forKey: "nan").isNaN)
      #expect(foundation.object(forKey: "unsigned") as? UInt64 == .max)
      #expect(foundation.dictionary(forKey: "nested") as? [String: [String]] == ["a": ["b"]])
      try store.removeValue(forKey: "one")
      #expect(foundation.object(forKey: "one") == nil)
    }
  }

  @Test func `item 18: beside a reader, Foundation's object reads a write after synchronize() at the latest`() throws {
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      let end = Flag()
      DispatchQueue.concurrentPerform(iterations: 2) { part in
        #expect(throws: Never.self) {
          let foundation = try #require(UserDefaults(suiteName: folder + "/a"))
          // The first part runs on this thread, so the second one ends even if it gets no other.
          guard part == 0 else {
            while !end.isSet { _ = foundation.object(forKey: "k") }
            return
          }
          defer { end.set() }
          for round in 0..<10 {
            try store.set(round, forKey: "k")
            // The other one may have begun to read the file before the write, and keep what it has read after it.
            if foundation.integer(forKey: "k") != round { foundation.synchronize() }
            #expect(foundation.integer(forKey: "k") == round)
          }
        }
      }
    }
  }

  @Test func `item 18: a value keeps its kind when Foundation's object writes another beside it`() throws {
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      try store.set(UserDefaultsPreferencesTests.values)
      let foundation = try #require(UserDefaults(suiteName: folder + "/a"))
      foundation.set("theirs", forKey: "beside")
      #expect(foundation.synchronize())
      try store.reload()
      #expect(try store.string(forKey: "beside") == "theirs")
      for (key, value) in UserDefaultsPreferencesTests.values {
        #expect(try store.value(forKey: key) == value, "\(key)")
      }
      // The one thing that it changes.
      #expect(try store.double(forKey: "minusZero")?.sign == .plus)
    }
  }

  @Test func `item 18: a value that Foundation's object has waiting is not written over a later one`() throws {
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      let foundation = try #require(UserDefaults(suiteName: folder + "/a"))
      foundation.set("first", forKey: "k")
      foundation.set("waiting", forKey: "beside")
      try store.set("second", forKey: "k")
      #expect(foundation.synchronize())
      try store.reload()
      #expect(try store.string(forKey: "k") == "second")
      #expect(try store.string(forKey: "beside") == "waiting")
      #expect(foundation.string(forKey: "k") == "second")
    }
  }

  @Test func `item 18: neither registered defaults nor other suites are read`() throws {
    try withTemporaryFolder { folder in
      // The registration domain is the whole process's.
      let registered = "registered \(UUID().uuidString)"
      let foundation = try #require(UserDefaults(suiteName: folder + "/a"))
      foundation.register(defaults: [registered: 1])
      foundation.setVolatileDomain(["volatile": 1], forName: UserDefaults.argumentDomain)
      try UserDefaultsPreferences(suiteName: folder + "/b").set(1, forKey: "other")
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      for key in [registered, "volatile", "other"] { #expect(try store.value(forKey: key) == nil) }
      #expect(try store.keys() == [])
      try store.set(2, forKey: registered)
      try store.removeAll()
      #expect(foundation.integer(forKey: registered) == 1)
    }
  }

  // MARK: Objects and threads

  @Test func `item 18: two objects of a suite are one store, which sees a write at once`() throws {
    try withTemporaryFolder { folder in
      let one = try UserDefaultsPreferences(suiteName: folder + "/a")
      let two = try UserDefaultsPreferences(suiteName: folder + "/a")
      let other = try UserDefaultsPreferences(suiteName: folder + "/b")
      #expect(one.identity == two.identity)
      #expect(one.identity != other.identity)
      try one.set(1, forKey: "k")
      #expect(try two.integer(forKey: "k") == 1)
      #expect(try other.value(forKey: "k") == nil)
    }
  }

  @Test func `item 73: every object of the suite reports a change, dotted keys too`() throws {
    try withTemporaryFolder { folder in
      let one = try UserDefaultsPreferences(suiteName: folder + "/a")
      let two = try UserDefaultsPreferences(suiteName: folder + "/a")
      let received = Mutex<[Set<String>?]>([])
      let observation = one.observe { change in received.withLock { $0.append(change.keys) } }
      try two.set(1, forKey: "server.port")
      try one.set(1, forKey: "server.port")
      try one.set(1.0, forKey: "server.port")
      try one.set(["z": 0.0])
      try one.set(["z": -0.0])
      try two.set(["x": 1, "y": 2])
      try two.removeValue(forKey: "x")
      try two.removeValue(forKey: "never")
      try two.removeAll()
      observation.invalidate()
      try two.set(5, forKey: "late")
      // A write that changes nothing notifies no observer.
      #expect(
        received.withLock(\.self) == [
          ["server.port"], ["server.port"], ["z"], ["z"], ["x", "y"], ["x"], ["server.port", "y", "z"],
        ])
    }
  }

  @Test func `a write without observation, and a reload, hide no change of Foundation's object`() throws {
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      try store.set(["a": 1, "b": 1])
      let received = Mutex<[Set<String>?]>([])
      let observation = store.observe { change in received.withLock { $0.append(change.keys) } }
      let foundation = try #require(UserDefaults(suiteName: folder + "/a"))
      foundation.set(2, forKey: "a")
      foundation.synchronize()
      try withoutObservation { try store.set(2, forKey: "own") }
      foundation.set(2, forKey: "b")
      foundation.synchronize()
      try withoutObservation { try store.reload() }
      observation.invalidate()
      #expect(received.withLock(\.self) == [["a"], ["b"]])
    }
  }

  @Test func `item 82: what Foundation's object has changed is reported on reload`() throws {
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      try store.set(["k": 1, "same": 2])
      let received = Mutex<[Set<String>?]>([])
      let observation = store.observe { change in received.withLock { $0.append(change.keys) } }
      let foundation = try #require(UserDefaults(suiteName: folder + "/a"))
      foundation.set(3, forKey: "k")
      foundation.set(2, forKey: "same")
      try store.reload()
      try store.reload()
      observation.invalidate()
      #expect(received.withLock(\.self) == [["k"]])
      #expect(try store.integer(forKey: "k") == 3)
    }
  }

  @Test func `item 70: of eight threads that count, none is lost, in this object or another`() async throws {
    try await withTemporaryFolder { folder in
      let key = PreferenceKey<Int>("count", default: 0)
      try await withThrowingTaskGroup { group in
        for _ in 0..<8 {
          group.addTask {
            let store = try UserDefaultsPreferences(suiteName: folder + "/a")
            for _ in 0..<10 { try store.update(key) { $0 += 1 } }
          }
        }
        try await group.waitForAll()
      }
      #expect(try UserDefaultsPreferences(suiteName: folder + "/a").value(for: key) == 80)
    }
  }

  @Test func `item 25: eight threads write, read, list, remove and reload, and nothing is lost`() async throws {
    try await withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      let consumer = Task { for await _ in store.updates(for: PreferenceKey<Int>("0", default: 0)) {} }
      try await withThrowingTaskGroup { group in
        for task in 0..<8 {
          group.addTask {
            for round in 0..<6 {
              try store.set(round, forKey: "\(task)")
              try store.set(round, forKey: "\(task).\(round)")
              #expect(try store.integer(forKey: "\(task)") == round)
              _ = try store.keys()
              try store.removeValue(forKey: "\(task)")
              if round.isMultiple(of: 3) { try store.reload() }
              // Foundation's objects are in use, too.
              _ = UserDefaults(suiteName: folder + "/a")?.object(forKey: "\(task).0")
            }
          }
        }
        try await group.waitForAll()
      }
      consumer.cancel()
      await consumer.value
      let expected = (0..<8).flatMap { task in (0..<6).map { "\(task).\($0)" } }
      #expect(try store.keys() == expected.sorted())
      #expect(try UserDefaultsPreferences(suiteName: folder + "/a").keys() == expected.sorted())
    }
  }

  @Test func `a compare-and-set with a value that is no longer stored changes nothing, and NaN is itself`() throws {
    try withTemporaryFolder { folder in
      let store = try UserDefaultsPreferences(suiteName: folder + "/a")
      func compareAndSet(_ old: PreferenceValue?, _ new: PreferenceValue?) throws -> WriteOutcome {
        try store.compareAndSet(old, to: new, forKey: "k")
      }
      #expect(try compareAndSet(1, 2) == .conflict)
      #expect(try compareAndSet(nil, 1) == .visible)
      #expect(try compareAndSet(1.0, 2) == .conflict)
      #expect(try compareAndSet(1, .double(.nan)) == .visible)
      #expect(try compareAndSet(.double(.nan), nil) == .visible)
      #expect(try store.contains("k") == false)
      let error = preferencesError {
        try store.compareAndSet(nil, to: nil, for: PreferenceQuery("k", secrecy: .secret))
      }
      #expect(error?.code == .noStore)
    }
  }
}
