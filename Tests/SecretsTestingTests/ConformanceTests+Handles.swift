import SecretsTesting
import Testing

extension ConformanceTests {
  @Test(arguments: stores)
  func `item 64: a handle reads, sets, changes and clears`(store: StoreUnderTest) async {
    await check(64, store)
  }

  @Test(arguments: stores)
  func `item 65: substitutes are read and never stored`(store: StoreUnderTest) async {
    await check(65, store)
  }

  @Test(arguments: stores)
  func `item 66: arithmetic takes absent for zero and reports what does not fit`(store: StoreUnderTest) async {
    await check(66, store)
  }

  @Test(arguments: stores)
  func `item 67: operators of bits, truth values, strings and arrays`(store: StoreUnderTest) async {
    await check(67, store)
  }

  @Test(arguments: stores)
  func `item 68: ordering is strict and weak, and comparing changes nothing`(store: StoreUnderTest) async {
    await check(68, store)
  }

  @Test(arguments: stores)
  func `item 69: what is assigned if missing is computed only then`(store: StoreUnderTest) async {
    await check(69, store)
  }

  @Test(arguments: stores)
  func `item 70: increments from eight tasks lose none`(store: StoreUnderTest) async {
    await check(70, store)
  }

  @Test(arguments: stores)
  func `item 71: wrappers take every store, and the projected one resets and updates`(store: StoreUnderTest) async {
    await check(71, store)
  }
}
