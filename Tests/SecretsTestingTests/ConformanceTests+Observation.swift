import SecretsTesting
import Testing

extension ConformanceTests {
  @Test(arguments: stores)
  func `item 72: a property of an observable class is tracked`(store: StoreUnderTest) async {
    await check(72, store)
  }

  @Test(arguments: stores)
  func `item 73: updates with and without the present value`(store: StoreUnderTest) async {
    await check(73, store)
  }

  @Test(arguments: stores)
  func `item 74: two consumers each get every value`(store: StoreUnderTest) async {
    await check(74, store)
  }

  @Test(arguments: stores)
  func `item 75: rapid writes keep their order, and a cancelled consumer is removed`(store: StoreUnderTest) async {
    await check(75, store)
  }

  @Test(arguments: stores)
  func `item 76: several keys give all their values, and one event at first`(store: StoreUnderTest) async {
    await check(76, store)
  }

  @Test(arguments: stores)
  func `item 77: callbacks with old and new values, tokens and owners`(store: StoreUnderTest) async {
    await check(77, store)
  }

  @Test(arguments: stores)
  func `item 78: a write of an equal value notifies no observer`(store: StoreUnderTest) async {
    await check(78, store)
  }

  @Test(arguments: stores)
  func `item 79: suppressed writes are stored and notify no observer`(store: StoreUnderTest) async {
    await check(79, store)
  }

  @Test(arguments: stores)
  func `item 80: callbacks run with no lock held`(store: StoreUnderTest) async {
    await check(80, store)
  }

  @Test(arguments: stores)
  func `item 81: a composite notifies when its effective value changes`(store: StoreUnderTest) async {
    await check(81, store)
  }

  @Test(arguments: stores)
  func `item 82: what another process writes is reported once it can be read`(store: StoreUnderTest) async {
    await check(82, store)
  }

  @Test(arguments: stores)
  func `item 83: two stores are kept the same`(store: StoreUnderTest) async {
    await check(83, store)
  }

  @Test(arguments: stores)
  func `item 106: the shared store can be replaced`(store: StoreUnderTest) async {
    await check(106, store)
  }
}
