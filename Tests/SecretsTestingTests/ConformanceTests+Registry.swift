import SecretsTesting
import Testing

extension ConformanceTests {
  @Test(arguments: stores)
  func `item 107: stores are registered by any key`(store: StoreUnderTest) async {
    await check(107, store)
  }

  @Test(arguments: stores)
  func `item 108: the registry is safe in several tasks and can be reset`(store: StoreUnderTest) async {
    await check(108, store)
  }
}
