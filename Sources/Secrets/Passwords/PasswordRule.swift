import DurableFiles
public import Preferences
public import VaultSealing

/// The length and the characters of random passwords, which have at least one character of each kind.
///
/// ```swift
/// let password = try PasswordRule(length: 32).secret()
/// try secrets.set(password, for: .databasePassword)
/// try password.withValue { try database.changePassword(to: $0) }
/// ```
///
/// All passwords of a rule are equally probable.
public struct PasswordRule: Sendable {
  /// Lower-case letters.
  public static let lowercase = "abcdefghijklmnopqrstuvwxyz"
  /// Upper-case letters.
  public static let uppercase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
  /// Digits.
  public static let digits = "0123456789"
  /// Symbols without a special meaning inside quotes in a shell, in JSON or in XML.
  public static let symbols = "*+,-./:=?@^_~"
  /// Characters that look like others.
  public static let similar = "0O1Ilo"

  private static let lengths = 1...1024
  private static let maximumKinds = 8

  /// The number of characters.
  public let length: Int
  /// The strength: the binary logarithm of the number of passwords.
  public let bits: Double
  let kinds: [[UInt8]]
  private let alphabet: [UInt8]

  /// Creates a rule.
  ///
  /// - Parameters:
  ///   - length: the number of characters, from 1 to 1024.
  ///   - kinds: from one to 8 groups of visible ASCII characters, all different. A password has a character of each.
  /// - Throws: ``PreferencesError/Code/outOfRange`` for anything else, and if fewer than one in a thousand random texts
  ///   of the length would have all kinds.
  public init(
    length: Int = 24, kinds: [String] = [lowercase, uppercase, digits, symbols]
  ) throws(PreferencesError) {
    guard Self.lengths.contains(length) else { throw Self.refusal("a password has from 1 to 1024 characters") }
    self.length = length
    self.kinds = kinds.map { Array($0.utf8) }
    alphabet = self.kinds.flatMap(\.self)
    guard (1...Self.maximumKinds).contains(kinds.count), self.kinds.allSatisfy({ !$0.isEmpty }) else {
      throw Self.refusal("a password has from 1 to \(Self.maximumKinds) kinds of characters, none of them empty")
    }
    guard alphabet.allSatisfy({ (0x21...0x7E).contains($0) }), Set(alphabet).count == alphabet.count else {
      throw Self.refusal("the characters of a password are visible, in ASCII, and each in one kind only")
    }
    let share = Self.share(of: self.kinds, length)
    guard share > 0.001 else { throw Self.refusal("the password is too short for its kinds of characters") }
    bits = Double(length) * log2(Double(alphabet.count)) + log2(share)
  }

  private static func refusal(_ message: String) -> PreferencesError { PreferencesError(.outOfRange, message) }

  /// The fraction of all texts over the alphabet in which no kind is missing, by inclusion and exclusion.
  private static func share(of kinds: [[UInt8]], _ length: Int) -> Double {
    let all = kinds.reduce(0) { $0 + $1.count }
    return (0..<1 << kinds.count).reduce(0.0) { sum, missing in
      let left = kinds.indices.reduce(0) { $0 + (missing >> $1 & 1 == 0 ? kinds[$1].count : 0) }
      let term = pow(Double(left) / Double(all), Double(length))
      return sum + (missing.nonzeroBitCount % 2 == 0 ? term : -term)
    }
  }

  /// Returns a new password in guarded memory.
  ///
  /// - Parameter random: the source of randomness; any other than the system's is for tests.
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory or no random bytes.
  public func secret(from random: RandomSource = .system) throws(VaultError) -> Secret<String> {
    try password(from: random).withSpan { (bytes) throws(VaultError) in try Secret(copying: bytes) }
  }

  /// Draws whole passwords until one has all kinds, so that each such password is equally probable.
  package func password(from random: RandomSource) throws(VaultError) -> SecretBytes {
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
