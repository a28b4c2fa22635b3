import SecretsTesting
import Testing

extension ConformanceTests {
  @Test(arguments: stores)
  func `item 42: a static key with a default, a free-standing key, and a change in place`(store: StoreUnderTest) async {
    await check(42, store)
  }

  @Test(arguments: stores)
  func `item 43: an optional key starts as nil, is set and cleared`(store: StoreUnderTest) async {
    await check(43, store)
  }

  @Test(arguments: stores)
  func `item 44: a computed default is computed at each miss and never stored`(store: StoreUnderTest) async {
    await check(44, store)
  }

  @Test(arguments: stores)
  func `item 45: one key in two stores is two values`(store: StoreUnderTest) async {
    await check(45, store)
  }

  @Test(arguments: stores)
  func `item 46: keys are reset in every way, and observers are notified`(store: StoreUnderTest) async {
    await check(46, store)
  }

  @Test(arguments: stores)
  func `item 47: keys are equal by name, handles by name and store`(store: StoreUnderTest) async {
    await check(47, store)
  }

  @Test(arguments: stores)
  func `item 48: what does not decode reads as the default, is reported, and stays`(store: StoreUnderTest) async {
    await check(48, store)
  }

  @Test(arguments: stores)
  func `item 49: migrations run once, in order, and leave all as it was when they fail`(store: StoreUnderTest) async {
    await check(49, store)
  }

  @Test(arguments: stores)
  func `item 50: keys that are static lets are used by several tasks`(store: StoreUnderTest) async {
    await check(50, store)
  }

  @Test(arguments: stores)
  func `item 51: the same keys over several stores do not see each other`(store: StoreUnderTest) async {
    await check(51, store)
  }
}
