import Foundation
import PreferencesOperators
import Preferences
import PreferencesFoundation
import Synchronization
import Testing

struct CachePreferencesTests {
  @Test func `items 4 to 7 and 20: values of every kind come back with their type while they are cached`() throws {
    let cache = CachePreferences()
    for (key, value) in UserDefaultsPreferencesTests.values { try cache.set(value, forKey: key) }
    for (key, value) in UserDefaultsPreferencesTests.values {
      #expect(try cache.value(forKey: key)?.isIdentical(to: value) == true, "\(key)")
    }
    #expect(cache.keys() == UserDefaultsPreferencesTests.values.keys.sorted())
  }

  @Test func `item 20: names that are equal strings are one key, and bad names are refused`() throws {
    let cache = CachePreferences()
    try cache.set(1, forKey: "e\u{301}")
    #expect(try cache.integer(forKey: "\u{e9}") == 1)
    try cache.removeValue(forKey: "\u{e9}")
    #expect(cache.keys() == [])
    for key in ["", "a\0", String(repeating: "x", count: 1_025)] {
      #expect(preferencesError { try cache.set(1, forKey: key) }?.code == .invalidKey)
      #expect(preferencesError { _ = try cache.value(forKey: key) }?.code == .invalidKey)
      #expect(preferencesError { try cache.removeValue(forKey: key) }?.code == .invalidKey)
    }
  }

  @Test func `items 8 and 24: values are removed, one or all, and setting a dictionary merges`() throws {
    let cache = CachePreferences()
    try cache.set(["a": 1, "b": 2, "c": 3])
    try cache.set(["b": 4])
    try cache.set(nil, for: PreferenceKey<Int?>("a"))
    try cache.removeValue(forKey: "never")
    #expect(cache.keys() == ["b", "c"])
    #expect(try cache.integer(forKey: "b") == 4)
    try cache.removeAll()
    #expect(cache.keys() == [])
    #expect(try cache.value(forKey: "c") == nil)
    let error = preferencesError { try cache.set(["a": 1, "": 2]) }
    #expect(error?.code == .invalidKey)
    #expect(cache.keys() == [])
  }

  @Test func `item 20: beyond the count limit values are removed, and only the rest are listed`() throws {
    let cache = CachePreferences(countLimit: 3)
    for number in 0..<20 { try cache.set(number, forKey: "\(number)") }
    #expect(cache.keys().count == 3)
    for number in 0..<20 {
      let value = try cache.integer(forKey: "\(number)")
      #expect((value == number) == cache.keys().contains("\(number)"))
    }
    try cache.set(-1, forKey: cache.keys()[0])
    #expect(cache.keys().count == 3)
  }

  @Test func `item 20: values cost what the closure says, and with a rising cost earlier ones are removed`() throws {
    let cache = CachePreferences(costLimit: 100) { value in
      if case .data(let data) = value { data.count } else { -5 }
    }
    for count in [30, 40, 50] { try cache.set(Data(repeating: 0, count: count), forKey: "\(count)") }
    #expect(cache.keys() == ["40", "50"])
    try cache.set(Data(repeating: 0, count: 101), forKey: "too much")
    #expect(!cache.keys().contains("too much"))
    try cache.set("costs nothing", forKey: "text")
    #expect(try cache.string(forKey: "text") == "costs nothing")
  }

  @Test(arguments: [Int.max, .min])
  func `item 20: the highest and the lowest cost do not end the process`(cost: Int) throws {
    for limit in [0, 2, Int.max, Int.min] {
      let cache = CachePreferences(countLimit: limit, costLimit: limit == 2 ? 0 : limit) { _ in cost }
      for number in 0..<5 { try cache.set(number, forKey: "\(number)") }
      #expect(cache.keys().count == (limit == 2 ? 2 : 5))
    }
  }

  @Test func `item 20: a removal by the cache notifies observers after the removal`() throws {
    let cache = CachePreferences(costLimit: 100) { if case .integer(let number) = $0 { Int(number) } else { 0 } }
    try cache.set(["cheap": 30, "dear": 60])
    let received = Mutex<[Set<String>?]>([])
    let observation = cache.observe { change in
      #expect(!cache.keys().contains("cheap"))
      received.withLock { $0.append(change.keys) }
    }
    try cache.set(40, forKey: "new")
    try cache.set(101, forKey: "too much")
    try cache.set(101, forKey: "new")
    observation.invalidate()
    #expect(received.withLock(\.self) == [["new", "cheap"], ["new"]])
    #expect(cache.keys() == ["dear"])
  }

  @Test func `item 70: of eight tasks that count none is lost`() async throws {
    let cache = CachePreferences()
    let key = PreferenceKey<Int>("count", default: 0)
    try await withThrowingTaskGroup { group in
      for _ in 0..<8 { group.addTask { for _ in 0..<200 { try cache.update(key) { $0 += 1 } } } }
      try await group.waitForAll()
    }
    #expect(try cache.value(for: key) == 1_600)
    #expect(
      preferencesError { try cache.compareAndSet(nil, to: nil, for: PreferenceQuery("x", secrecy: .secret)) }?.code
        == .noStore)
  }

  @Test func `item 25: a full cache can be used by many tasks`() async throws {
    let cache = CachePreferences(countLimit: 10)
    await withTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          #expect(throws: Never.self) {
            for round in 0..<300 {
              try cache.set(task, forKey: "\(round % 20)")
              _ = try cache.value(forKey: "\(round % 7)")
              if round % 50 == task { try cache.removeAll() }
              #expect(cache.keys().count <= 10)
            }
          }
        }
      }
    }
    for key in cache.keys() { #expect(try (0..<8).contains(cache.integer(forKey: key) ?? -1)) }
  }

  @Test func `what a cache has kept ends with it`() throws {
    let freed = Atomic(0)
    try withExtendedLifetime(freed) {
      let cache = CachePreferences()
      for key in ["a", "b", "c"] {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: 100, alignment: 1)
        bytes.initializeMemory(as: UInt8.self, repeating: 1, count: 100)
        let data = Data(
          bytesNoCopy: bytes, count: 100,
          deallocator: .custom { bytes, _ in
            bytes.deallocate()
            freed.add(1, ordering: .relaxed)
          })
        try cache.set(data, forKey: key)
      }
      #expect(freed.load(ordering: .relaxed) == 0)
    }
    #expect(freed.load(ordering: .relaxed) == 3)
  }

  @Test func `neither description nor dump shows a value`() throws {
    let cache = CachePreferences(name: "thumbnails")
    try cache.set(sentinel, forKey: "k")
    #expect(cache.description == "thumbnails")
    #expect(!dumped(cache).contains(sentinel))
  }
}
