import Synchronization
import Testing
import VaultSealing

struct NonceTests {
  @Test func `different messages have different nonces although the random bytes repeat`() throws {
    let sealer = try Sealer(random: .zero)
    let key = try SealingKey.annex()

    #expect(sealer.sealed([1], with: key).prefix(24) != sealer.sealed([2], with: key).prefix(24))
  }

  @Test func `different keys have different nonces although random bytes and message repeat`() throws {
    let sealer = try Sealer(random: .zero)
    let first = sealer.sealed([1], with: try .annex())
    let second = sealer.sealed([1], with: try .of(repeated(9, 32)))

    #expect(first.prefix(24) != second.prefix(24))
  }

  @Test func `different random bytes give different nonces although the message repeats`() throws {
    let key = try SealingKey.annex()
    let first = try Sealer(random: .fixed(repeated(1, 24))).sealed([1], with: key)
    let second = try Sealer(random: .fixed(repeated(1, 23) + [2])).sealed([1], with: key)

    #expect(first.prefix(24) != second.prefix(24))
  }

  @Test func `item 112: sealing twice gives different bytes throughout`() throws {
    let sealer = try Sealer()
    let key = try SealingKey.annex()

    let first = sealer.sealed(repeated(0, 64), with: key)
    let second = sealer.sealed(repeated(0, 64), with: key)

    #expect(first[0..<24] != second[0..<24])
    #expect(first[24..<56] != second[24..<56])
    #expect(first[56...] != second[56...])
  }

  @Test func `a seal draws 24 random bytes at once`() throws {
    let draws = Draws()
    let sealer = try Sealer(random: RandomSource { draws.note($0.count) })

    _ = sealer.sealed([1, 2, 3], with: try .annex())

    #expect(draws.counts == [24])
  }

  @Test func `the system's generator does not repeat itself`() {
    let drawn = Set((0..<100_000).map { _ in RandomSource.system.bytes(24) })

    #expect(drawn.count == 100_000)
  }

  @Test(arguments: [0, 1, 16, 4097]) func `a random source returns as many bytes as requested`(_ count: Int) {
    #expect(RandomSource.system.bytes(count).count == count)
  }
}

/// Records how many bytes were requested.
private final class Draws: Sendable {
  private let counted = Mutex<[Int]>([])
  var counts: [Int] { counted.withLock { $0 } }
  func note(_ count: Int) { counted.withLock { $0.append(count) } }
}
