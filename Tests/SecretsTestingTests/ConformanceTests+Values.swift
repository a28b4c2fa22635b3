import SecretsTesting
import Testing

extension ConformanceTests {
  @Test(arguments: stores)
  func `item 52: every type comes back in every shape`(store: StoreUnderTest) async {
    await check(52, store)
  }

  @Test(arguments: stores)
  func `item 53: a failing element is an error, and no shorter collection`(store: StoreUnderTest) async {
    await check(53, store)
  }

  @Test(arguments: stores)
  func `item 54: the stored form is the documented one`(store: StoreUnderTest) async {
    await check(54, store)
  }

  @Test(arguments: stores)
  func `item 55: custom collections and set algebras come back`(store: StoreUnderTest) async {
    await check(55, store)
  }

  @Test(arguments: stores)
  func `item 56: a value of any type comes back as what it is`(store: StoreUnderTest) async {
    await check(56, store)
  }

  @Test(arguments: stores)
  func `item 57: transformations work both ways, by key, subscript and handle`(store: StoreUnderTest) async {
    await check(57, store)
  }

  @Test(arguments: stores)
  func `item 58: a failing transformation throws and keeps the old value`(store: StoreUnderTest) async {
    await check(58, store)
  }

  @Test(arguments: stores)
  func `item 59: closures and named transformations read and write, one-way ones only read`(store: StoreUnderTest) async
  {
    await check(59, store)
  }

  @Test(arguments: stores)
  func `item 60: archives of anything Codable come back`(store: StoreUnderTest) async {
    await check(60, store)
  }

  @Test(arguments: stores)
  func `item 61: damaged archives never end the process`(store: StoreUnderTest) async {
    await check(61, store)
  }

  @Test(arguments: stores)
  func `item 62: Codable values: absent, malformed, and failing to encode`(store: StoreUnderTest) async {
    await check(62, store)
  }

  @Test(arguments: stores)
  func `item 63: raw values are stored, and unknown ones are errors`(store: StoreUnderTest) async {
    await check(63, store)
  }
}
