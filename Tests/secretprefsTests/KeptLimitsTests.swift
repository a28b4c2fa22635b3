import Testing
import VaultCore
import VaultMemorySearching

@testable import secretprefs

struct KeptLimitsTests {
  private static let begin = KeptLimits.Clocks(boot: 5_000_000, system: 1_700_000_000_000)

  /// The clocks after a time, by which the system's clock is ahead in addition.
  private static func after(_ seconds: Int64, ahead: Int64 = 0) -> KeptLimits.Clocks {
    KeptLimits.Clocks(boot: begin.boot + seconds * 1000, system: begin.system + (seconds + ahead) * 1000)
  }

  private static func limits() throws -> KeptLimits { try KeptLimits(hard: "15m", idle: "5m", now: begin) }

  @Test(arguments: [(0, 300), (1, 300), (599, 300), (600, 300), (601, 299), (899, 1)] as [(Int64, UInt32)])
  func `each use begins the idle time again, up to the hard limit`(_ seconds: Int64, _ rest: UInt32) throws {
    #expect(try Self.limits().seconds(at: Self.after(seconds)) == rest)
  }

  @Test(arguments: [900, 901, 100_000] as [Int64])
  func `after the hard limit the key is not used, also if the machine slept`(_ seconds: Int64) throws {
    #expect(try Self.limits().seconds(at: Self.after(seconds)) == nil)
  }

  @Test(arguments: [-11, -600, 11, 86_400] as [Int64])
  func `a clock that was set ends the key`(_ ahead: Int64) throws {
    #expect(try Self.limits().seconds(at: Self.after(60, ahead: ahead)) == nil)
  }

  @Test(arguments: [-10, -1, 1, 10] as [Int64]) func `a corrected clock does not`(_ ahead: Int64) throws {
    #expect(try Self.limits().seconds(at: Self.after(60, ahead: ahead)) == 300)
  }

  @Test func `a machine that was started since then has no key`() throws {
    let now = KeptLimits.Clocks(boot: 1000, system: Self.begin.system + 60_000)
    #expect(try Self.limits().seconds(at: now) == nil)
  }

  @Test(arguments: [("15m", "5m", "5m"), ("90s", "5m", "90s"), ("1d", "8h", "8h"), ("1s", "24h", "1s")])
  func `the idle time is at most the hard limit`(_ hard: String, _ idle: String, _ text: String) throws {
    #expect(try KeptLimits(hard: hard, idle: idle, now: Self.begin).idleText == text)
  }

  @Test(arguments: ["0s", "25h", "2d", "86401s", "", "5", "-1m", "1.5h", "forever", "2027-01-31T12:00:00Z"])
  func `another limit is refused`(_ text: String) {
    #expect(throws: ToolError.self) { try KeptLimits(hard: text, idle: "5m", now: Self.begin) }
    #expect(throws: ToolError.self) { try KeptLimits(hard: "1h", idle: text, now: Self.begin) }
  }

  @Test func `limits are read as they are written`() throws {
    try withUnsafeTemporaryAllocation(byteCount: KeptLimits.count, alignment: 8) { bytes in
      try Self.limits().write(to: bytes)
      let read = KeptLimits(UnsafeRawBufferPointer(bytes).bytes)
      #expect(read.seconds(at: Self.after(601)) == 299)
      #expect(read.systemEnd == Self.after(900).system)
      bytes.initializeMemory(as: UInt8.self, repeating: 0)
      #expect(KeptLimits(UnsafeRawBufferPointer(bytes).bytes).seconds(at: Self.begin) == nil)
      bytes.initializeMemory(as: UInt8.self, repeating: 0x7F)
      #expect(KeptLimits(UnsafeRawBufferPointer(bytes).bytes).seconds(at: Self.begin) == nil)
    }
  }

  @Test(Keyring.isNeeded) func `the key on its way to the kernel and back is in guarded memory alone`() throws {
    let path = "/" + String((0..<16).map { _ in "abcdefghijklmnop".randomElement()! })
    let place = VaultLocation(argument: path)
    let search = MemorySearch()
    nonisolated(unsafe) var kept: KeptKey?
    try search.note { search in
      try withUnsafeTemporaryAllocation(byteCount: SlotKey.leastCount, alignment: 8) { letters in
        for index in letters.indices { letters[index] = .random(in: 0x61...0x7A) }
        // The id of the vault, the number of slots, and the id of the slot are before it, a public key is behind it.
        letters[16] = 1
        search.add("key", UnsafeRawBufferPointer(rebasing: letters[33..<33 + SealingKey.count]))
        let key = try #require(try SlotKey(UnsafeRawBufferPointer(letters).bytes))
        let limits = try KeptLimits(hard: "60s", idle: "60s", now: .now)
        try KeptKey(key: key, limits: limits, keyring: .session).keep(for: place)
      }
      kept = try KeptKey.find(place, for: .open)
    }
    #expect(kept != nil)
    let finds = try search.finds()
    withExtendedLifetime(kept) {}
    #expect(!finds.isEmpty)
    for find in finds { #expect(Mapping.flags(at: find.address).contains("dd"), "\(find)") }
    #expect(try KeptKey.remove(place).isRemoved)
    #expect(try KeptKey.find(place, for: .open) == nil)
  }
}
