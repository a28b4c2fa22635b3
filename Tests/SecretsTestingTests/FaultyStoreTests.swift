import Preferences
import PreferencesOperators
import SecretsTesting
import Synchronization
import Testing

/// That the rules can fail: each finds a fault, and each fault is found.
struct FaultyStoreTests {
  @Test(arguments: FaultyStore.all)
  func `a fault is found by a rule of the item that forbids it`(faulty: FaultyStore) async throws {
    for rule in ConformanceRule.of(item: faulty.item) where try await finds(rule, faulty) { return }
    Issue.record("no rule of item \(faulty.item) finds this")
  }

  @Test(arguments: FaultyStore.all + FaultyStore.broken)
  func `a fault is found by the contract alone`(faulty: FaultyStore) async throws {
    for rule in ConformanceRule.all where try await finds(rule, faulty) { return }
    Issue.record("no rule of the contract finds this")
  }

  @Test(arguments: ConformanceRule.everyRule)
  func `a rule finds a fault`(rule: ConformanceRule) async throws {
    let related = FaultyStore.all.filter { $0.item == rule.item }
    for faulty in related + FaultyStore.all + FaultyStore.broken where try await finds(rule, faulty) { return }
    Issue.record("no fault breaks this rule")
  }

  @Test(arguments: [false, true])
  func `without a fault the same store keeps every rule`(isSealed: Bool) async throws {
    let store = StoreUnderTest("no fault") { _ in FaultyPreferences(nil, isSealed: isSealed) }
    for rule in ConformanceRule.everyRule where rule.applies(to: store) { await rule.check(store) }
  }

  @Test func `what a rule finds names the rule and the store`() async throws {
    let rule = try #require(ConformanceRule.of(item: 8).first)
    let faulty = try #require(FaultyStore.all.first { $0.item == 8 })
    let found = try #require(try await issues(of: rule, on: faulty.stores[0]).first)
    #expect(found.comments.contains { $0.rawValue == "\(rule.title), broken by: \(faulty.stores[0].name)" })
  }

  @Test func `every rule that stores a secret finds a sealed store that leaves it in a file`() async throws {
    let leaking = StoreUnderTest("a file that is said to be sealed") { fixture in
      FailingPreferences(
        try JSONPreferences(at: fixture.folder + "/" + fixture.uniqueName(), options: .creating), isSealed: true)
    }
    var found = 0
    for rule in ConformanceRule.of(item: 33) + ConformanceRule.of(item: 34) where rule.applies(to: leaking) {
      let comments = try await issues(of: rule, on: leaking).flatMap(\.comments)
      if comments.contains("a secret can be read in a file") { found += 1 }
    }
    #expect(found > 20)
  }

  @Test func `a rule applies to a store that cannot be made, and its check fails`() async throws {
    let reader = StoreUnderTest("failing", reading: { _, _ in throw FailingPreferences.Failure() })
    let reading = try #require(ConformanceRule.all.first { $0.applies(to: reader) })
    #expect(try await issues(of: reading, on: reader).count == 1)
    let store = StoreUnderTest("failing") { _ in throw FailingPreferences.Failure() }
    for rule in ConformanceRule.of(item: 33) {
      #expect(rule.applies(to: store))
      #expect(try await issues(of: rule, on: store).count == 1)
    }
  }

  private func finds(_ rule: ConformanceRule, _ faulty: FaultyStore) async throws -> Bool {
    for store in faulty.stores where rule.applies(to: store) {
      if try await !issues(of: rule, on: store).isEmpty { return true }
    }
    return false
  }

  /// What a rule finds, recorded nowhere else.
  func issues(
    of rule: ConformanceRule, on store: StoreUnderTest, cancelled isCancelled: Bool = true
  ) async throws -> [Issue] {
    let found = Mutex<[Issue]>([])
    let collecting: IssueHandlingTrait = .compactMapIssues { issue in
      found.withLock { $0.append(issue) }
      return nil
    }
    let test = try #require(Test.current)
    // A cancelled task does not wait for a change that is never reported.
    let check = Task {
      if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
      try await collecting.provideScope(for: test, testCase: Test.Case.current) {
        await PreferencesRegistry.with(PreferencesRegistry()) { await rule.check(store) }
      }
    }
    try await check.value
    return found.withLock(\.self)
  }
}
