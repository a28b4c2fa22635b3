import SecretsTesting
import Testing

extension FaultyStoreTests {
  /// The items whose rules find a fault, of typed keys, values, handles, observation and the registry.
  private static let found: [BrokenPreferences.Fault: [Int]] = [
    .sharesValues: [45, 51, 83, 106],
    .hasOneIdentity: [47],
    .losesValues: [42, 49, 52, 57, 60, 64, 71],
    .forgetsWrites: [42, 50, 52, 56, 60, 64, 66, 69, 70, 71, 83, 106, 107, 108],
    .forgetsRemovals: [43, 45, 46, 49, 57, 64, 83],
    .losesOneOfSeveral: [49, 56, 61, 63, 68],
    .storesIntegersAsDoubles: [42, 52, 54, 55, 56, 67],
    .dropsOddElements: [52, 53, 56, 62],
    .storesWhatIsRead: [42, 44, 64, 65, 68],
    .removesWhatIsOfAnotherKind: [48, 54],
    .exchangesBlindly: [64],
    .exchangesNoNaN: [64],
    .notifiesNone: [46, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 106],
    .notifiesTooEarly: [72, 73, 77, 80, 82],
    .notifiesDirectly: [79],
    .notifiesOne: [46, 74],
    .notifiesForEver: [75],
    .reportsNoRemovalOfAll: [46, 73],
  ]

  @Test(arguments: BrokenPreferences.Fault.allCases)
  func `a fault breaks what its items promise`(fault: BrokenPreferences.Fault) async throws {
    for item in try #require(Self.found[fault]) {
      var isFound = false
      let kind = BrokenPreferences.kind(fault)
      for rule in ConformanceRule.of(item: item) where !isFound && rule.applies(to: kind) {
        isFound = try await !issues(of: rule, on: kind).isEmpty
      }
      #expect(isFound, "item \(item)")
    }
  }

  @Test func `a rule waits no longer than the store may take to notify`() async throws {
    var kind = BrokenPreferences.kind(.notifiesNone)
    kind.noticeLimit = .milliseconds(1)
    let rule = try #require(ConformanceRule.of(item: 82).first { $0.applies(to: kind) })
    #expect(try await issues(of: rule, on: kind, cancelled: false).count == 1)
  }
}

extension FaultyStore {
  /// The same stores, for the rules that look for any fault.
  static let broken = BrokenPreferences.Fault.allCases.map { FaultyStore(0, BrokenPreferences.kind($0)) }
}
