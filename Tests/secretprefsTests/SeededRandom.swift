import Foundation
import VaultCore

/// Random inputs of the tool's tests, the same in each run. `RANDOM_SEED=7` makes others.
struct SeededRandom: RandomNumberGenerator {
  /// How many inputs each test of references and settings makes: those of `Scripts/references`, or few.
  static let runs = ProcessInfo.processInfo.environment["REFERENCE_RUNS"].flatMap(Int.init) ?? 20_000

  private var state: UInt64

  private static let seed = ProcessInfo.processInfo.environment["RANDOM_SEED"].flatMap(UInt64.init) ?? 0

  init(_ test: UInt64) { state = (Self.seed << 8 &+ test) &* 0x9E37_79B9_7F4A_7C15 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
    return word ^ word >> 31
  }

  private static let scalars: [Unicode.Scalar] =
    Array("abcXYZ0189/?#%&=:@ \"'\\{}$`!*~[]<>|^.-_+,;()üé日\u{1F600}\u{301}\u{202E}".unicodeScalars)

  /// A name that a vault may have, often one that must be encoded.
  mutating func name() throws -> Vault.Name {
    var text = ""
    for _ in 0..<Int.random(in: 1...12, using: &self) {
      text.unicodeScalars.append(Self.scalars.randomElement(using: &self)!)
    }
    return try Vault.Name(text)
  }

  /// A text with up to five changes of its bytes, or parts of two texts.
  mutating func mutated(_ texts: [String]) -> [UInt8] {
    var bytes = Array(texts.randomElement(using: &self)!.utf8)
    let other = Array(texts.randomElement(using: &self)!.utf8)
    for _ in 0..<Int.random(in: 0...5, using: &self) {
      let index = Int.random(in: 0...bytes.count, using: &self)
      switch Int.random(in: 0..<5, using: &self) {
      case 0: bytes.insert(UInt8.random(in: 0...255, using: &self), at: index)
      case 1 where index < bytes.count: bytes.remove(at: index)
      case 2 where index < bytes.count:
        bytes[index] = Array("%/?#&= \"'\n\r\0\\{}$`=A0".utf8).randomElement(using: &self)!
      case 3: bytes.replaceSubrange(index..., with: other.suffix(Int.random(in: 0...other.count, using: &self)))
      default: bytes.insert(contentsOf: other.prefix(Int.random(in: 0...other.count, using: &self)), at: index)
      }
      if bytes.count > 4096 { bytes.removeLast(bytes.count - 4096) }
    }
    return bytes
  }
}
