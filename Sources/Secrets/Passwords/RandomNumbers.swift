package import VaultSealing

/// Uniformly distributed random numbers.
package struct RandomNumbers: ~Copyable {
  private let random: RandomSource
  private var bytes: SecretBytes
  private var used: Int

  package init(_ random: RandomSource) throws(VaultError) {
    self.random = random
    bytes = try SecretBytes(count: 256)
    used = bytes.count
  }

  /// - Parameter bound: at most 65,536.
  package mutating func next(below bound: Int) -> Int {
    let values = bound <= 256 ? 256 : 65_536
    // Larger values would make low numbers more probable.
    let limit = values / bound * bound
    while true {
      let value = values == 256 ? nextByte() : nextByte() << 8 | nextByte()
      if value < limit { return value % bound }
    }
  }

  private mutating func nextByte() -> Int {
    if used == bytes.count {
      bytes.withUnsafeMutableBytes { random.fill($0) }
      used = 0
    }
    used += 1
    return Int(bytes.withUnsafeBytes { $0[used - 1] })
  }
}
