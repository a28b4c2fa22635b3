import Preferences
import PreferencesOperators
@testable import SecretsTesting
import Testing

private struct Stopped: Error {}

extension PreferencesStore {
  /// A handle that looks up where the name alone would be found.
  fileprivate func handle<Value: PreferenceConvertible>(
    _ name: String, as type: Value.Type = Value.self
  ) -> Preference<Value> {
    preference(for: PreferenceKey<Value?>(name))
  }
}

extension ConformanceRule {
  /// Handles and operators.
  static let handles = [
    ConformanceRule(64, "a handle reads, sets, changes and clears one preference") { fixture in
      let store = try fixture.makeStore()
      let number = store.handle("number", as: Int.self)
      #expect(try number.isEmpty)
      #expect(number.value == nil)
      blocking { number.value = 1 }
      #expect(try fixture.reopened(store).value(forKey: "number") == 1)
      #expect(try number.hasValue)
      #expect(try number.apply { $0.map { $0 + 1 } } == .visible)
      #expect(try number.get() == 2)
      #expect(throws: Stopped.self) { try number.apply { _ in throw Stopped() } }
      #expect(try fixture.reopened(store).value(forKey: "number") == 2)
      try number.clear()
      #expect(try number.isEmpty)
      try number.set(3)
      try number.apply { _ in nil }
      #expect(try fixture.reopened(store).keys().isEmpty)
      try store.set("text", forKey: "number")
      #expect(try number.hasValue, "of whatever kind")
      #expect(throws: PreferencesError.self) { try number.get() }
    },
    ConformanceRule(64, "a handle of a plain name is a handle of the plain key") { fixture in
      let store = try fixture.makeStore()
      let number: Preference<Int> = store.preference("number")
      try number.set(4)
      #expect(try fixture.reopened(store).value(for: PreferenceKey("number", default: 0)) == 4)
      try number.clear()
      #expect(try store.value(for: PreferenceKey("number", default: 0)) == 0)
    },
    ConformanceRule(64, "a handle of a key with a default reads as that, and is empty") { fixture in
      let store = try fixture.makeStore()
      let port = store.preference(for: PreferenceKey("port", default: 8080))
      #expect(try port.get() == 8080)
      #expect(try port.isEmpty)
      try port += 1
      #expect(try store.value(forKey: "port") == 8081)
      try port.clear()
      #expect(try port.get() == 8080)
      #expect(try store.keys().isEmpty)
    },
    ConformanceRule(64, "onChange receives the old and the new value of each change through that handle") { fixture in
      let store = try fixture.makeStore()
      let log = Collected<[Int?]>()
      let number = store.handle("number", as: Int.self).onChange { log.append([$0, $1]) }
      try number.set(2)
      try number.set(2)
      try number += 1
      try number.clear()
      try number ?= 9
      try store.handle("number", as: Int.self).set(5)
      #expect(log.all == [[nil, 2], [2, 2], [2, 3], [3, nil], [nil, 9]])
    },
    ConformanceRule(64, "a change of type is written under the same name") { fixture in
      let store = try fixture.makeStore()
      let number = store.handle("number", as: Int.self)
      try number.set(1)
      // Not the text of a number, which a handle of a number reads.
      let text = try number.rewrite { $0.map { "n\($0)" } }
      #expect(try fixture.reopened(store).value(forKey: "number") == "n1")
      #expect(try text.get() == "n1")
      #expect(throws: PreferencesError.self) { try number.get() }
    },
    ConformanceRule(65, "whenNil and ensure substitute on reading only, in the order they were added") { fixture in
      let store = try fixture.makeStore()
      let number = store.handle("number", as: Int.self)
      let chain = number.whenNil(use: 5).ensure(when: { $0 == 5 }, use: 6).whenNil(use: 7)
      #expect(try chain.get() == 6)
      #expect(try number.ensure(when: { $0 == 5 }, use: 6).whenNil(use: 5).get() == 5)
      #expect(try chain.isEmpty)
      #expect(try store.keys().isEmpty)
      try number.set(3)
      let large = number.ensure(when: { ($0 ?? 0) < 10 }, use: 10)
      #expect(try large.get() == 10)
      #expect(try fixture.reopened(store).value(forKey: "number") == 3)
    },
    ConformanceRule(66, "arithmetic treats an absent value as zero") { fixture in
      let store = try fixture.makeStore()
      let (number, ratio) = (store.handle("number", as: Int.self), store.handle("ratio", as: Double.self))
      try number += 5
      try number -= 2
      try number *= 4
      try number /= 5
      #expect(try fixture.reopened(store).value(forKey: "number") == 2)
      try number += 9
      try number %= 4
      #expect(try number.get() == 3)
      try ratio += 1.5
      try ratio -= 0.5
      try ratio *= 8
      try ratio /= 2
      #expect(try fixture.reopened(store).value(forKey: "ratio") == 4.0)
    },
    ConformanceRule(66, "overflow and division by zero are thrown, and nothing changes") { fixture in
      let store = try fixture.makeStore()
      let (number, ratio) = (store.handle("number", as: Int8.self), store.handle("ratio", as: Double.self))
      try number.set(.min)
      try ratio.set(.greatestFiniteMagnitude)
      for change in [
        { try number += -1 }, { try number -= 1 }, { try number *= 2 }, { try number /= -1 }, { try number /= 0 },
        { try number %= 0 }, { try ratio *= 2 }, { try ratio /= 0 },
      ] as [() throws -> Void] {
        let error = #expect(throws: PreferencesError.self, performing: change)
        #expect(error?.code == .outOfRange)
      }
      #expect(try fixture.reopened(store).value(forKey: "number") == -128)
      #expect(try ratio.get() == .greatestFiniteMagnitude)
    },
    ConformanceRule(67, "bits, truth values, strings and arrays have their operators") { fixture in
      let store = try fixture.makeStore()
      let (bits, flag) = (store.handle("bits", as: UInt8.self), store.handle("flag", as: Bool.self))
      let (text, list) = (store.handle("text", as: String.self), store.handle("list", as: [Int].self))
      try bits |= 0b1100
      try bits &= 0b0110
      try bits ^= 0b0001
      try bits.invertBits()
      try flag &&= { throw Stopped() }()
      #expect(try flag.get() == false)
      try flag ||= true
      try flag.toggle()
      try flag ||= true
      try text += "a"
      try text += "b"
      try list += [1]
      try list += [2, 3]
      let expected: [String: PreferenceValue] = [
        "bits": .unsignedInteger(0b1111_1010), "flag": true, "text": "ab", "list": [1, 2, 3],
      ]
      #expect(try fixture.reopened(store).dictionary(revealingSecrets: true) == expected)
    },
    ConformanceRule(67, "of two handles an absent one is left out") { fixture in
      let store = try fixture.makeStore()
      let (a, b) = (store.handle("a", as: Int.self), store.handle("b", as: Int.self))
      #expect(try a + b == nil)
      try a.set(7)
      #expect(try (a + b, b - a) == (7, 7))
      try b.set(2)
      #expect(try [a + b, a - b, a * b, a / b, a % b, a & b, a | b, a ^ b] == [9, 5, 14, 3, 1, 2, 7, 5])
      #expect(try a.combined(with: b, by: max) == 7)
      try b.set(0)
      #expect(throws: PreferencesError.self) { _ = try a / b }
    },
    ConformanceRule(68, "ordering is strict and weak with what is absent first, and comparing changes nothing") {
      fixture in
      let store = try fixture.makeStore()
      try store.set(["one": 1, "two": 2])
      let handles = ["none", "none too", "one", "one", "two"].map { store.handle($0, as: Int.self) }
      let ranks = [0, 0, 1, 1, 2]
      for (a, rankA) in zip(handles, ranks) {
        for (b, rankB) in zip(handles, ranks) {
          #expect(try (a < b) == (rankA < rankB))
          #expect(try (a > b) == (rankA > rankB))
          #expect(try (a <= b) == (rankA <= rankB))
          #expect(try (a >= b) == (rankA >= rankB))
          #expect(try (a == b) == (rankA == rankB))
          #expect(try (a != b) == (rankA != rankB))
        }
      }
      #expect(try handles[2] == 1 && handles[2] < 2 && handles[0] < 0 && handles[0] == nil)
      #expect(try Set(store.keys()) == ["one", "two"])
    },
    ConformanceRule(68, "a switch matches values and ranges, and never what is absent") { fixture in
      let store = try fixture.makeStore()
      try store.set(["one": 1, "two": 2])
      func name(_ key: String) -> String {
        switch store.handle(key, as: Int.self) {
        case 1: "one"
        case 2...10: "few"
        case (...0): "negative"
        default: "other"
        }
      }
      #expect(["one", "two", "none"].map(name) == ["one", "few", "other"])
    },
    ConformanceRule(69, "what is assigned if missing is computed only then") { fixture in
      let store = try fixture.makeStore()
      let port = store.preference(for: PreferenceKey("port", default: 8080))
      try port ?= 5
      #expect(try fixture.reopened(store).value(forKey: "port") == 5, "a default is not stored")
      try port ?= { throw Stopped() }()
      #expect(try port.get() == 5)
    },
    ConformanceRule(70, "increments from eight tasks lose none") { fixture in
      let store = try fixture.makeStore()
      let (tasks, times) = (8, 8)
      try await withThrowingTaskGroup { group in
        for _ in 0..<tasks {
          group.addTask {
            for _ in 0..<times {
              try await store.handle("counter", as: Int.self) += 1
              await Task.yield()
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try fixture.reopened(store).value(forKey: "counter") == .integer(Int64(tasks * times)))
    },
  ]
}
