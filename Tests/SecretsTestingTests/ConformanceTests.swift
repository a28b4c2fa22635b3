import Preferences
import Secrets
import SecretsTesting
import Testing

/// Every kind of store that there is.
private let stores = [
  StoreUnderTest("dictionary") { _ in DictionaryPreferences() },
  StoreUnderTest("vault") { fixture in
    let throwaway = try ThrowawayVault()
    fixture.keep(throwaway)
    return try throwaway.preferences()
  },
]

@Suite struct ConformanceTests {
  private func check(_ item: Int, _ store: StoreUnderTest) async throws {
    for rule in ConformanceRule.of(item: item) { try await rule.check(store) }
  }

  @Test(arguments: stores)
  func `item 4: true, 1 and 1.0 come back as what they are`(store: StoreUnderTest) async throws {
    try await check(4, store)
  }
}
