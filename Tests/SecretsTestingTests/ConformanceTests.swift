import PreferencesOperators
import Preferences
import SecretsTesting
import Testing

/// Every rule of the conformance suite and of the package, on every store that it is for.
struct ConformanceTests {
  static let stores = StoreUnderTest.everyStore
  static let readers = StoreUnderTest.everyReader

  func check(_ item: Int, _ store: StoreUnderTest) async {
    var isChecked = false
    for rule in ConformanceRule.of(item: item) {
      // The shared store is a registry's.
      await PreferencesRegistry.with(PreferencesRegistry()) {
        guard rule.applies(to: store) else { return }
        isChecked = true
        await rule.check(store)
      }
    }
    #expect(isChecked, "no rule of item \(item) applies to \(store.name)")
  }

  @Test func `every rule applies to a store`() {
    PreferencesRegistry.with(PreferencesRegistry()) {
      for rule in ConformanceRule.everyRule { #expect(Self.stores.contains { rule.applies(to: $0) }, "\(rule.title)") }
    }
  }

  @Test func `rules that write do not apply to a reader, nor rules of lists to a reader of texts`() throws {
    let reader = try #require(Self.readers.first { $0.name == "read-only dictionary" })
    let applying = ConformanceRule.all.filter { $0.applies(to: reader) }
    #expect(Set(applying.map(\.item)) == [1, 2, 3, 26, 27, 28, 31, 32, 36, 37])
    let titles = applying.map(\.title)
    #expect(!titles.contains("keys and dictionary follow what is set, replaced and removed"))
    let environment = try #require(Self.readers.first { $0.name == "environment" })
    let remaining = applying.filter { !$0.applies(to: environment) }.map(\.title)
    #expect(remaining == ["lists and dictionaries are returned by name"])
  }

  /// The output shows this test as cancelled.
  @Test func `a check of a rule that does not apply cancels its test`() async throws {
    let reader = try #require(Self.readers.first)
    let rule = try #require(ConformanceRule.all.first { !$0.applies(to: reader) })
    await rule.check(reader)
    #expect(Task.isCancelled)
  }

  @Test(arguments: stores + readers)
  func `item 1: every reader gets typed getters, presence, subscripts and members`(store: StoreUnderTest) async {
    await check(1, store)
  }

  @Test(arguments: stores + readers)
  func `item 2: keys and their values give the dictionary`(store: StoreUnderTest) async { await check(2, store) }

  @Test(arguments: stores + readers)
  func `item 3: absent, of another type and unreadable are three results`(store: StoreUnderTest) async {
    await check(3, store)
  }

  @Test(arguments: stores)
  func `item 4: true, 1 and 1.0 come back as what they are`(store: StoreUnderTest) async { await check(4, store) }

  @Test(arguments: stores)
  func `item 5: the extremes of all ten integers come back, and too small a type throws`(store: StoreUnderTest) async {
    await check(5, store)
  }

  @Test(arguments: stores)
  func `item 6: floating-point extremes come back or are refused`(store: StoreUnderTest) async { await check(6, store) }

  @Test(arguments: stores)
  func `item 7: https, file and relative URLs come back`(store: StoreUnderTest) async { await check(7, store) }

  @Test(arguments: stores)
  func `item 8: every way of writing nil removes`(store: StoreUnderTest) async { await check(8, store) }

  @Test(arguments: stores)
  func `item 9: what is not supported throws, and the old value stays`(store: StoreUnderTest) async {
    await check(9, store)
  }

  @Test(arguments: stores)
  func `item 14: two objects over one storage lose nothing of each other`(store: StoreUnderTest) async {
    await check(14, store)
  }

  @Test(arguments: stores)
  func `item 24: a merge and removing all touch exactly the receiver`(store: StoreUnderTest) async {
    await check(24, store)
  }

  @Test(arguments: stores)
  func `item 25: a hammer of tasks loses nothing`(store: StoreUnderTest) async { await check(25, store) }

  @Test(arguments: stores + readers)
  func `item 26: the first member that holds a key wins`(store: StoreUnderTest) async { await check(26, store) }

  @Test(arguments: stores + readers)
  func `item 27: the merged dictionary agrees with looking up each key`(store: StoreUnderTest) async {
    await check(27, store)
  }

  @Test(arguments: stores + readers)
  func `item 28: typed getters return the value of the winning member`(store: StoreUnderTest) async {
    await check(28, store)
  }

  @Test(arguments: stores)
  func `item 29: the documented members are written to, in both modes`(store: StoreUnderTest) async {
    await check(29, store)
  }

  @Test(arguments: stores)
  func `item 30: every way to write obeys one target rule`(store: StoreUnderTest) async { await check(30, store) }

  @Test(arguments: stores + readers)
  func `item 31: a hidden write is shadowed, and without a store it throws`(store: StoreUnderTest) async {
    await check(31, store)
  }

  @Test(arguments: stores + readers)
  func `item 32: a composite lists its members, and returns the owner of a key`(store: StoreUnderTest) async {
    await check(32, store)
  }

  @Test(arguments: stores)
  func `item 33: a secret key is written to sealed members only, through every path`(store: StoreUnderTest) async {
    await check(33, store)
  }

  @Test(arguments: stores)
  func `item 34: dictionaries, descriptions and snapshots redact what is sealed`(store: StoreUnderTest) async {
    await check(34, store)
  }

  @Test(arguments: stores)
  func `item 35: a failing sealed member takes nothing plain away and hides no failure`(store: StoreUnderTest) async {
    await check(35, store)
  }

  @Test(arguments: stores + readers)
  func `item 36: a prefix maps keys both ways`(store: StoreUnderTest) async { await check(36, store) }

  @Test(arguments: stores + readers)
  func `item 37: changes below a prefix touch the prefix only`(store: StoreUnderTest) async { await check(37, store) }

  @Test(arguments: stores)
  func `item 38: names, enum cases, members and constants reach the same value`(store: StoreUnderTest) async {
    await check(38, store)
  }

  @Test(arguments: stores)
  func `item 39: the operators add, fill gaps and remove`(store: StoreUnderTest) async { await check(39, store) }

  @Test(arguments: stores)
  func `item 40: names are taken and refused by one rule`(store: StoreUnderTest) async { await check(40, store) }

  @Test(arguments: stores)
  func `item 41: namespaces nest as their types do`(store: StoreUnderTest) async { await check(41, store) }

  @Test func `every rule has a title of its own`() {
    let titles = ConformanceRule.everyRule.map(\.title)
    #expect(Set(titles).count == titles.count)
  }

  @Test func `every item that has rules has a test here`() {
    let tested = Set(1...9).union([14]).union(24...83).union(106...108)
    #expect(Set(ConformanceRule.everyRule.map(\.item)) == tested)
  }
}
