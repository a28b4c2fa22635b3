/// Numbers that are the same each time.
struct Dice: RandomNumberGenerator {
  var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  /// Returns the file as a disk, a copying program or an attacker may change it.
  mutating func mutated(_ original: [UInt8]) -> [UInt8] {
    var file = original
    for _ in 0..<Int.random(in: 1...3, using: &self) {
      let start = Int.random(in: 0..<file.count, using: &self)
      let end = min(file.count, start + Int.random(in: 1...1500, using: &self))
      switch Int.random(in: 0..<8, using: &self) {
      case 0, 1, 2: for _ in 0..<Int.random(in: 1...8, using: &self) { flip(&file) }
      case 3: for index in start..<end { file[index] = 0 }
      case 4: for index in start..<end { file[index] = UInt8.random(in: 0...255, using: &self) }
      case 5: file.removeSubrange(start..<end)
      case 6: file.insert(contentsOf: file[start..<end], at: Int.random(in: 0...file.count, using: &self))
      default: file.removeSubrange(max(300, start)...)
      }
      if file.count < 300 { file = original }
    }
    return file
  }

  mutating func flip(_ file: inout [UInt8]) {
    file[Int.random(in: 0..<file.count, using: &self)] ^= 1 << UInt8.random(in: 0..<8, using: &self)
  }
}
