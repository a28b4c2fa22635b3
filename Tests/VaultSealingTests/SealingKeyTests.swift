import Testing
import VaultSealing

struct SealingKeyTests {
  @Test func `a new key has 32 bytes of the random source`() throws {
    #expect(try SealingKey(from: .fixed(run(32, step: 5))).copy == run(32, step: 5))
  }

  @Test func `new keys differ`() throws {
    #expect(try SealingKey(from: .system).copy != SealingKey(from: .system).copy)
  }

  @Test func `a key takes secret bytes over`() throws {
    #expect(SealingKey(try SecretBytes(count: 32, from: .fixed(run(32)))).copy == run(32))
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

  @Test(arguments: [1, 63, 64, 65, 100_000]) func `a wiped buffer is aligned and as long as asked`(
    _ count: Int
  ) {
    let buffer = WipedBuffer(count: count)

    #expect(buffer.bytes.count == count)
    #expect(UInt(bitPattern: buffer.bytes.baseAddress).isMultiple(of: 64))
  }
}
