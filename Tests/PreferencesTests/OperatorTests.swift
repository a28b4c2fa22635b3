import Preferences
import Testing

struct OperatorTests {
  private let store = DictionaryPreferences(["a": 1, "b": 2])

  // MARK: 39

  @Test func `item 39: a dictionary, pairs and another store are stored over what is there`() throws {
    try store += ["a": 10, "c": 3]
    try store += [("b", 20), ("b", 21)]
    try store += FixedPreferences(content: ["d": 4, "a": 11])
    #expect(try store.dictionary() == ["a": 11, "b": 21, "c": 3, "d": 4])
  }

  @Test func `item 39: gaps are filled, and only those are computed`() throws {
    try store ?= ["a": 10, "c": 3]
    var computed: [String] = []
    try store ?= [
      "b": {
        computed.append("b")
        return 0
      },
      "d": {
        computed.append("d")
        return 4
      },
    ]
    #expect(computed == ["d"])
    #expect(try store.dictionary() == ["a": 1, "b": 2, "c": 3, "d": 4])
  }

  @Test func `item 39: names are removed`() throws {
    try store -= "a"
    #expect(store.keys() == ["b"])
    try store -= ["b", "none"]
    #expect(store.keys().isEmpty)
  }

  @Test func `a merge that may not be stored stores nothing`() {
    let sealed = FixedSealed()
    let composite = CompositePreferences([sealed, FixedPreferences(content: ["c": 3])])
    #expect(preferencesError { try store += composite }?.code == .noStore)
    #expect(store.keys() == ["a", "b"])
  }

  // MARK: 66

  @Test func `item 66: an absent integer counts as zero`() throws {
    let n: Preference<Int> = store <| "n"
    try n += 5
    try n -= 2
    try n *= 4
    try n /= 5
    #expect(try n.get() == 2)
    try n += 9
    try n %= 4
    #expect(try n.get() == 3)
    let m: Preference<Int> = store <| "m"
    try m *= 7
    #expect(try m.get() == 0)
  }

  @Test func `item 66: an absent floating-point number counts as zero`() throws {
    let x: Preference<Double> = store <| "x"
    try x += 1.5
    try x -= 0.5
    try x *= 8
    try x /= 2
    #expect(try x.get() == 4)
  }

  @Test func `item 66: a key's default counts, not zero`() throws {
    try (store <| PreferenceKey("port", default: 8080)) += 1
    #expect(try store.integer(forKey: "port") == 8081)
  }

  @Test func `item 66: overflow and division by zero are thrown and change nothing`() throws {
    let n: Preference<Int8> = store <| "n"
    try n.set(.min)
    for change in [
      { try n += -1 }, { try n -= 1 }, { try n *= 2 }, { try n /= -1 }, { try n /= 0 }, { try n %= 0 },
    ] as [() throws -> Void] {
      let error = preferencesError(change)
      #expect(error?.code == .outOfRange)
      #expect(error?.message.hasPrefix("key \"n\": ") == true)
      #expect(try n.get() == .min)
    }
    try n %= -1
    #expect(try n.get() == 0)
    let u: Preference<UInt> = store <| "u"
    #expect(preferencesError { try u -= 1 }?.code == .outOfRange)
    #expect(try u.isEmpty)
    let x: Preference<Double> = store <| "x"
    try x.set(.greatestFiniteMagnitude)
    #expect(preferencesError { try x *= 2 }?.code == .outOfRange)
    #expect(preferencesError { try x += .greatestFiniteMagnitude }?.code == .outOfRange)
    #expect(preferencesError { try x /= 0 }?.code == .outOfRange)
    #expect(try x.get() == .greatestFiniteMagnitude)
  }

  // MARK: 67

  @Test func `item 66: numbers are counted up and down, from zero, and never past their type`() throws {
    let visits: Preference<Int8> = store <| "visits"
    try visits++
    try visits++
    #expect(try visits.get() == 2)
    try visits--
    #expect(try visits.get() == 1)
    try visits.set(.max)
    #expect(preferencesError { try visits++ }?.code == .outOfRange)
    try visits.set(.min)
    #expect(preferencesError { try visits-- }?.code == .outOfRange)
    #expect(try visits.get() == .min)
  }

  @Test func `item 67: truth values are combined with & and |, too`() throws {
    let flag: Preference<Bool> = store <| "flag"
    try flag |= false
    #expect(try flag.get() == false)
    try flag |= true
    #expect(try flag.get() == true)
    try flag &= true
    #expect(try flag.get() == true)
    try flag &= false
    #expect(try flag.get() == false)
  }

  @Test func `item 67: bits are combined and turned over`() throws {
    let bits: Preference<UInt8> = store <| "bits"
    try bits |= 0b1100
    try bits &= 0b0110
    try bits ^= 0b0001
    #expect(try bits.get() == 0b0101)
    try bits.invertBits()
    #expect(try bits.get() == 0b1111_1010)
  }

  @Test func `item 67: truth values are combined, and the right side is computed when it matters`() throws {
    let flag: Preference<Bool> = store <| "flag"
    var calls = 0
    let yes = {
      calls += 1
      return true
    }
    try flag &&= yes()
    #expect(try flag.get() == false)
    #expect(calls == 0)
    try flag ||= yes()
    #expect(try flag.get() == true)
    #expect(calls == 1)
    try flag ||= yes()
    #expect(calls == 1)
    try flag.toggle()
    #expect(try flag.get() == false)
    let other: Preference<Bool> = store <| "other"
    try other.set(true)
    #expect(try flag || other)
    #expect(try !(flag && other))
  }

  @Test func `item 67: strings and arrays grow, and an absent one is empty`() throws {
    let text: Preference<String> = store <| "text"
    try text += "a"
    try text += "b"
    #expect(try text.get() == "ab")
    let list: Preference<[Int]> = store <| "list"
    try list += [1]
    try list += [2, 3]
    #expect(try list.get() == [1, 2, 3])
    #expect(try list + list == [1, 2, 3, 1, 2, 3])
    #expect(try text + text == "abab")
  }

  @Test func `item 67: of two integers an absent one is left out`() throws {
    let a: Preference<Int> = store <| "p"
    let b: Preference<Int> = store <| "q"
    #expect(try a + b == nil)
    try a.set(7)
    #expect(try a + b == 7)
    #expect(try b - a == 7)
    try b.set(2)
    #expect(try [a + b, a - b, a * b, a / b, a % b, a & b, a | b, a ^ b] == [9, 5, 14, 3, 1, 2, 7, 5])
    #expect(try a.combined(with: b, by: max) == 7)
    try b.set(0)
    #expect(preferencesError { _ = try a / b }?.code == .outOfRange)
    #expect(preferencesError { _ = try a % b }?.code == .outOfRange)
    try b.set(.max)
    #expect(preferencesError { _ = try a + b }?.code == .outOfRange)
    #expect(preferencesError { _ = try a * b }?.code == .outOfRange)
  }

  @Test func `item 67: floating-point handles follow the same rule`() throws {
    let x: Preference<Double> = store <| "x"
    let y: Preference<Double> = store <| "y"
    try x.set(3)
    #expect(try x * y == 3)
    try y.set(2)
    #expect(try [x + y, x - y, x * y, x / y] == [5, 1, 6, 1.5])
    try y.set(0)
    #expect(preferencesError { _ = try x / y }?.code == .outOfRange)
  }

  // MARK: 68

  @Test func `item 68: ordering is strict and weak, with absent first`() throws {
    let handles: [Preference<Int>] = ["none", "none2", "a", "a", "b"].map { store <| $0 }
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
    #expect(try handles[2] != nil && handles[2] > nil && handles[2] >= 1 && handles[2] <= 1)
  }

  @Test func `item 68: comparing changes nothing`() throws {
    let flag: Preference<Bool> = store <| "flag"
    _ = try (flag != true, flag == true)
    #expect(try flag.isEmpty)
  }

  @Test(arguments: [("a", "one"), ("b", "few"), ("none", "other")])
  func `item 68: a switch matches values and ranges, and never what is absent`(name: String, expected: String) {
    let preference: Preference<Int> = store <| name
    let found =
      switch preference {
      case 1: "one"
      case 2...10: "few"
      case (...0): "negative"
      default: "other"
      }
    #expect(found == expected)
  }

  // MARK: 69

  @Test func `item 69: what is assigned if missing is computed only then`() throws {
    var calls = 0
    let compute = {
      calls += 1
      return 5
    }
    let present: Preference<Int> = store <| "a"
    try present ?= compute()
    #expect(calls == 0)
    let absent = store <| PreferenceKey("n", default: 8080)
    try absent ?= compute()
    #expect(try store.integer(forKey: "n") == 5)
    try absent ?= compute()
    #expect(calls == 1)
  }

  // MARK: 70

  @Test func `item 70: increments from eight tasks lose none`() async throws {
    let counter: Preference<Int> = store <| "counter"
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<200 { do { try counter += 1 } catch { Issue.record(error) } }
        }
      }
    }
    #expect(try counter.get() == 1600)
  }

  @Test func `a store without an exchange of its own loses none either`() async throws {
    let plain = Borrowing(base: store)
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<200 { do { try (plain <| "n" as Preference<Int>) += 1 } catch { Issue.record(error) } }
        }
      }
    }
    #expect(try store.integer(forKey: "n") == 1600)
  }

  @Test func `increments through views of one store lose none`() async throws {
    let renamed = try store.renaming(["visits": "x.n"])
    await withTaskGroup { [store] group in
      for task in 0..<9 {
        group.addTask {
          for _ in 0..<100 {
            do {
              switch task % 3 {
              case 0: try (store <| "x.n" as Preference<Int>) += 1
              case 1: try (store.below("x.") <| "n" as Preference<Int>) += 1
              default: try (renamed <| "visits" as Preference<Int>) += 1
              }
            } catch { Issue.record(error) }
          }
        }
      }
    }
    #expect(try store.integer(forKey: "x.n") == 900)
  }

  @Test func `a failing store fails every operator`() {
    let failing: Preference<Int> = FailingPreferences() <| "n"
    for use in [
      { try failing += 1 }, { _ = try failing + failing }, { _ = try failing == 1 }, { _ = try failing < 1 },
      { try failing ?= 1 }, { _ = try failing.isEmpty },
    ] as [() throws -> Void] {
      #expect(throws: FailingPreferences.Locked.self, performing: use)
    }
  }
}

private struct FixedSealed: PreferencesReader {
  let name = "sealed"
  let isSealed = true
  func value(forKey key: String) -> PreferenceValue? { key == "token" ? "s" : nil }
  func keys() -> [String] { ["token"] }
}

/// A store of somebody else's, which has the rule of all stores for exchanges.
private struct Borrowing: PreferencesStore {
  let base: DictionaryPreferences
  let name = "borrowing"

  func value(forKey key: String) throws -> PreferenceValue? { try base.value(forKey: key) }
  func keys() -> [String] { base.keys() }
  func set(_ value: PreferenceValue, forKey key: String) throws -> WriteOutcome { try base.set(value, forKey: key) }
  func removeValue(forKey key: String) throws -> WriteOutcome { try base.removeValue(forKey: key) }
  func removeAll() { base.removeAll() }
}
