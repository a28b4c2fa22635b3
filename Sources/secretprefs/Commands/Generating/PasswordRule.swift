internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// What a generated password consists of.
protocol GenerationRule {
  /// The strength: the binary logarithm of the number of passwords, all of which are equally probable.
  var bits: Double { get }

  /// Returns a password in guarded memory.
  func password(from random: RandomSource) throws(VaultError) -> SecretBytes
}

/// The length and the characters of a generated password, which has at least one character of each kind.
struct PasswordRule: GenerationRule {
  static let lengths = 8...1024

  /// The symbols have no special meaning inside quotes in a shell, in JSON or in XML.
  static let symbols = "*+,-./:=?@^_~"
  /// Characters that look like others.
  static let similar = "0O1Ilo"

  let length: Int
  /// The characters of each kind.
  let kinds: [[UInt8]]
  private let alphabet: [UInt8]

  init(length: Int, noUppercase: Bool, noDigits: Bool, noSymbols: Bool, noSimilar: Bool) throws(ToolError) {
    guard Self.lengths.contains(length) else {
      throw .usage("--length must be between \(Self.lengths.lowerBound) and \(Self.lengths.upperBound)")
    }
    self.length = length
    let chosen = [
      "abcdefghijklmnopqrstuvwxyz", noUppercase ? nil : "ABCDEFGHIJKLMNOPQRSTUVWXYZ", noDigits ? nil : "0123456789",
      noSymbols ? nil : Self.symbols,
    ]
    kinds = chosen.compactMap(\.self).map { $0.utf8.filter { !noSimilar || !Self.similar.utf8.contains($0) } }
    alphabet = kinds.flatMap(\.self)
  }

  var bits: Double {
    // Inclusion and exclusion: the fraction of all strings over the alphabet in which no kind is missing.
    let part = (0..<1 << kinds.count).reduce(0.0) { sum, missing in
      let left = kinds.indices.reduce(0) { $0 + (missing >> $1 & 1 == 0 ? kinds[$1].count : 0) }
      let term = pow(Double(left) / Double(alphabet.count), Double(length))
      return sum + (missing.nonzeroBitCount % 2 == 0 ? term : -term)
    }
    return Double(length) * log2(Double(alphabet.count)) + log2(part)
  }

  /// Draws whole passwords until one has all kinds, so that each such password is equally probable.
  func password(from random: RandomSource) throws(VaultError) -> SecretBytes {
    var password = try SecretBytes(count: length)
    var numbers = try RandomNumbers(random)
    repeat {
      password.withUnsafeMutableBytes { bytes in
        for index in bytes.indices { bytes[index] = alphabet[numbers.next(below: alphabet.count)] }
      }
    } while !password.withUnsafeBytes { bytes in kinds.allSatisfy { kind in bytes.contains(where: kind.contains) } }
    return password
  }
}

/// Uniformly distributed random numbers.
struct RandomNumbers: ~Copyable {
  private let random: RandomSource
  private var bytes: SecretBytes
  private var used: Int

  init(_ random: RandomSource) throws(VaultError) {
    self.random = random
    bytes = try SecretBytes(count: 256)
    used = bytes.count
  }

  /// - Parameter bound: at most 65,536.
  mutating func next(below bound: Int) -> Int {
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
