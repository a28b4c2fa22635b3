import Testing
import VaultSealing

struct SealingKeyTests {
  @Test func `a new key has 32 bytes of the random source`() throws {
    #expect(try SealingKey(from: .fixed(run(32, step: 5))).copy == run(32, step: 5))
  }

  @Test func `new keys differ`() throws {
    #expect(try SealingKey(from: .system).copy != SealingKey(from: .system).copy)
  }

  @Test func `thousands of keys share pages, each its own, and a released place is zero`() throws {
    var keys = try (0..<1000).map { index in try SealingKey.of(repeated(UInt8(index % 251), 32)) }
    for (index, key) in keys.enumerated() { #expect(key.copy == repeated(UInt8(index % 251), 32)) }

    // The places are taken again before anybody has written to them: each must have been wiped.
    keys.removeAll { _ in true }
    for _ in 0..<1000 {
      let isZero = Claimed()
      keys.append(
        try #require(
          try SealingKey(fillingIf: {
            isZero.note($0.allSatisfy { $0 == 0 }); return true
          })))
      #expect(isZero.value)
    }
  }

  @Test func `a key that is not filled is none`() throws {
    #expect(try SealingKey(fillingIf: { _ in false }) == nil)
  }

  @Test func `keys are equal by their bytes`() throws {
    let key = try SealingKey.of(run(32))
    #expect(key.isEqual(to: key))
    #expect(key.isEqual(to: try SealingKey.of(run(32))))
    #expect(!key.isEqual(to: try SealingKey.of(run(32, step: 3))))
  }

  @Test func `a copied key does not follow its source`() throws {
    var source = run(32)
    let key = try source.withUnsafeBytes { try SealingKey(copying: $0) }

    source[0] = 0xff

    #expect(key.copy == run(32))
  }
}

struct WipingTests {
  @Test(arguments: [0, 1, 33, 5000]) func `wiped memory is zero`(_ count: Int) {
    var bytes = repeated(0xaa, count)

    bytes.withUnsafeMutableBytes { VaultSealing.wipe($0) }

    #expect(bytes == repeated(0, count))
  }

  @Test func `a wiped part leaves the rest`() {
    var bytes = repeated(0xaa, 6)

    bytes.withUnsafeMutableBytes { VaultSealing.wipe(UnsafeMutableRawBufferPointer(rebasing: $0[2..<4])) }

    #expect(bytes == [0xaa, 0xaa, 0, 0, 0xaa, 0xaa])
  }

  @Test func `a wiped array is empty and copies are not reached`() {
    var bytes = repeated(0xaa, 6)
    let copy = bytes

    bytes.wipe()

    #expect(bytes.isEmpty)
    #expect(copy == repeated(0xaa, 6))
  }

  @Test(arguments: [1, 63, 64, 65, 100_000]) func `a wiped buffer is aligned and as long as requested`(
    _ count: Int
  ) {
    let buffer = WipedBuffer(count: count)

    #expect(buffer.bytes.count == count)
    #expect(UInt(bitPattern: buffer.bytes.baseAddress).isMultiple(of: 64))
  }
}

/// What a closure saw.
private final class Claimed {
  private(set) var value = false
  func note(_ seen: Bool) { value = seen }
}
