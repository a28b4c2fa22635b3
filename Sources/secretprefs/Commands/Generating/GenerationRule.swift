internal import Preferences
internal import Secrets
internal import VaultCore
internal import VaultSealing

/// What a generated password consists of.
protocol GenerationRule {
  /// The strength: the binary logarithm of the number of passwords, all of which are equally probable.
  var bits: Double { get }

  /// Returns a password in guarded memory.
  func password(from random: RandomSource) throws(VaultError) -> SecretBytes
}

extension PasswordRule: GenerationRule {
  private static let lengthsOfOption = 8...1024

  /// The rule that the options of the command describe.
  init(length: Int, noUppercase: Bool, noDigits: Bool, noSymbols: Bool, noSimilar: Bool) throws(ToolError) {
    let lengths = Self.lengthsOfOption
    guard lengths.contains(length) else {
      throw .usage("--length must be between \(lengths.lowerBound) and \(lengths.upperBound)")
    }
    let kinds = [
      Self.lowercase, noUppercase ? nil : Self.uppercase, noDigits ? nil : Self.digits, noSymbols ? nil : Self.symbols,
    ]
    let characters = kinds.compactMap(\.self).map { $0.filter { !noSimilar || !Self.similar.contains($0) } }
    do throws(PreferencesError) { try self.init(length: length, kinds: characters) } catch {
      throw ToolError(thrown: error)
    }
  }
}
