import PreferencesOperators
import Preferences
import Testing

struct OperatorTests {
  private let store = DictionaryPreferences(["a": 1, "b": 2])

  @Test func `a merge that may not be stored stores nothing`() {
    let sealed = FixedSealed()
    let composite = CompositePreferences([sealed.unclaimed, FixedPreferences(content: ["c": 3])])
    #expect(preferencesError { try store += composite }?.code == .noStore)
    #expect(store.keys() == ["a", "b"])
  }

  @Test func `item 66: a key's default counts, not zero`() throws {
    try (store <| PreferenceKey("port", default: 8080)) += 1
    #expect(try store.integer(forKey: "port") == 8081)
  }

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

  @Test func `a store without its own compare-and-set loses none either`() async throws {
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
  let custody = Custody.sealed
  func value(for query: PreferenceQuery) -> PreferenceValue? { query.name.text == "token" ? "s" : nil }
  func names(of secrecy: Secrecy) -> [PreferenceName] { PreferenceName.valid(["token"]) }
}

/// A store of another package, which says which storage it means.
private struct Borrowing: PreferencesStore, Identifiable {
  let base: DictionaryPreferences
  let name = "borrowing"

  var id: StoreIdentity { base.identity }
  func value(for query: PreferenceQuery) -> PreferenceValue? { base.value(for: query) }
  func names(of secrecy: Secrecy) -> [PreferenceName] { base.names(of: secrecy) }
  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome { try base.apply(edits) }
}
