internal import DurableFiles
internal import Secrets
internal import VaultCore
internal import VaultSealing

/// The number of words of a generated passphrase, and the separator between them.
struct WordRule: GenerationRule {
  static let counts = 3...100
  static let longestSeparator = 16

  private let count: Int
  private let separator: [UInt8]

  init(count: Int, separator: String) throws(ToolError) {
    guard Self.counts.contains(count) else {
      throw .usage("--words must be between \(Self.counts.lowerBound) and \(Self.counts.upperBound)")
    }
    guard separator.utf8.count <= Self.longestSeparator, !separator.unicodeScalars.contains(where: isMisleading) else {
      throw .usage("--separator must have at most \(Self.longestSeparator) bytes and no control characters")
    }
    self.count = count
    self.separator = Array(separator.utf8)
  }

  var bits: Double { Double(count) * log2(Double(WordList.count)) }

  func password(from random: RandomSource) throws(VaultError) -> SecretBytes {
    var phrase = try SecretBytes(count: count * (WordList.longestWord + separator.count))
    var numbers = try RandomNumbers(random)
    var length = 0
    for index in 0..<count {
      phrase.withUnsafeMutableBytes { phrase in
        func append(_ bytes: some Collection<UInt8>) {
          UnsafeMutableRawBufferPointer(rebasing: phrase[length...]).copyBytes(from: bytes)
          length += bytes.count
        }
        if index > 0 { append(separator) }
        WordList.withWord(numbers.next(below: WordList.count)) { append($0) }
      }
    }
    return try phrase.prefix(length)
  }
}
