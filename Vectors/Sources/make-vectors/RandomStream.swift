/// The random source of annex A: BLAKE2b of a seed and a counter, consumed in order of use.
struct RandomStream {
  private let seed: Bytes
  private var counter: UInt64 = 0
  private var block: Bytes = []

  init(seed: String) { self.seed = Bytes(seed) }

  mutating func draw(_ count: Int) -> Bytes {
    while block.count < count {
      block += Sealing.hash(64, seed + .integer(counter))
      counter += 1
    }
    defer { block.removeFirst(count) }
    return Bytes(block[..<count])
  }
}
