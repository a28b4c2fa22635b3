internal import ArgumentParser
internal import Secrets

/// What a generated password consists of.
struct GenerationOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The number of characters, from 8 to 1024; 24 by default.", valueName: "number"))
  var length: Int?

  @Flag(help: "Leave out upper-case letters.")
  var noUppercase = false

  @Flag(help: "Leave out digits.")
  var noDigits = false

  @Flag(help: "Leave out symbols.")
  var noSymbols = false

  @Flag(help: "Leave out \(PasswordRule.similar), which look like other characters.")
  var noSimilar = false

  @Option(
    help: ArgumentHelp(
      "Make a passphrase of this number of words, from 3 to 100.",
      discussion: "They are from the large word list of the Electronic Frontier Foundation.", valueName: "number"))
  var words: Int?

  @Option(help: ArgumentHelp("The separator between words; - by default.", valueName: "text"))
  var separator: String?

  /// Whether no option is given.
  var isEmpty: Bool {
    length == nil && words == nil && separator == nil && !noUppercase && !noDigits && !noSymbols && !noSimilar
  }

  func rule() throws(ToolError) -> any GenerationRule {
    guard let words else {
      guard separator == nil else { throw .usage("--separator has no effect without --words") }
      return try PasswordRule(
        length: length ?? 24, noUppercase: noUppercase, noDigits: noDigits, noSymbols: noSymbols, noSimilar: noSimilar)
    }
    guard length == nil, !noUppercase, !noDigits, !noSymbols, !noSimilar else {
      throw .usage("the characters of a passphrase cannot be chosen", hint: "use --words with --separator alone")
    }
    return try WordRule(count: words, separator: separator ?? "-")
  }
}
