import Testing
import VaultSealing

struct SealRoundTripTests {
  static let counts = [
    0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097, 1 << 20,
  ]

  @Test(arguments: counts) func `a sealed message opens again`(_ count: Int) throws {
    let sealer = try Sealer()
    let key = try SealingKey(from: .system)
    let message = RandomSource.system.bytes(count)

    let sealed = sealer.sealed(message, with: key) { $0.add("value") }

    #expect(sealed.count == count + 72)
    // Outside #expect, which would look for the difference of long arrays for hours.
    let isSame = sealer.opened(sealed, with: key) { $0.add("value") } == message
    #expect(isSame)
  }

  @Test func `another sealer with a copy of the key opens`() throws {
    let key = try SealingKey(from: .system)
    let sealed = try Sealer().sealed([1, 2, 3], with: key) { $0.add("value") }

    #expect(try Sealer().opened(sealed, with: .of(key.copy)) { $0.add("value") } == [1, 2, 3])
  }

  @Test func `one sealer serves many keys and places in turn`() throws {
    let sealer = try Sealer()
    let keys = try (0..<8).map { _ in try SealingKey(from: .system) }
    let sealed = keys.enumerated().map { index, key in
      sealer.sealed(run(index * 50), with: key) { $0.add(UInt32(index)) }
    }

    for (index, key) in keys.enumerated().reversed() {
      #expect(sealer.opened(sealed[index], with: key) { $0.add(UInt32(index)) } == run(index * 50))
    }
  }

  @Test func `a sealer opens after it refused`() throws {
    let sealer = try Sealer()
    let key = try SealingKey(from: .system)
    let sealed = sealer.sealed([7], with: key)

    let refused = sealer.opened(sealed, with: try SealingKey(from: .system))

    #expect(refused == nil)
    #expect(sealer.opened(sealed, with: key) == [7])
  }

  @Test func `more room than the message needs is left alone`() throws {
    let sealer = try Sealer()
    let key = try SealingKey(from: .system)
    let sealed = sealer.sealed([1, 2, 3], with: key)
    var out = repeated(0x55, 8)

    let isOpen = sealed.withUnsafeBytes { sealed in
      out.withUnsafeMutableBytes { sealer.open(sealed, with: key, into: $0) { _ in } }
    }

    #expect(isOpen)
    #expect(out == [1, 2, 3, 0x55, 0x55, 0x55, 0x55, 0x55])
  }

  @Test func `nothing of the message occurs in the sealed bytes`() throws {
    let message = Array("a sentinel of some length that would be noticed".utf8)

    let sealed = try Sealer().sealed(message, with: SealingKey(from: .system))

    #expect(!sealed.indices.contains { sealed[$0...].starts(with: message.prefix(4)) })
  }
}
