/// Preferences from the arguments that the program was started with, read-only.
///
/// The key `server.port` is given as `--server.port=8080`, `--server.port 8080`, or either with one dash. An argument
/// after an option is its value unless it begins with a dash itself; a number below zero is a value all the same. An option
/// without a value reads as `true`, so write `--verbose=true` before an argument that is no option. Of a repeated option
/// the last counts. Other arguments are skipped, and nothing after `--` is looked at. Names are used as they are written.
///
/// Arguments can be read by every user of the machine: no secret belongs there.
public struct LaunchArgumentPreferences: PreferencesReader {
  public let name: String
  private let texts: [String: String]
  private let undecodable: Set<String>

  /// Creates a layer over `arguments`, without the program's own name; nil means those of this process.
  public init(_ arguments: [String]? = nil, name: String = "launch arguments") {
    self.name = name
    let own = Array(CommandLine.arguments.dropFirst())
    (texts, undecodable) = Self.options(in: arguments ?? own, isRepaired: arguments == nil)
  }

  /// The option's text, read as the query's kind by the rules of ``EnvironmentPreferences``; as a string where no kind is
  /// wanted.
  ///
  /// Nil when there is no such option.
  /// - Throws: ``PreferencesError/Code/malformed`` when the text is not UTF-8, ``PreferencesError/Code/typeMismatch`` when it
  ///   does not parse.
  public func value(for query: PreferenceQuery) throws(PreferencesError) -> PreferenceValue? {
    let key = query.name.text
    guard !undecodable.contains(key) else {
      throw PreferencesError(.malformed, "the argument is not UTF-8").about(key: key)
    }
    guard let text = texts[key] else { return nil }
    guard let kind = query.kind else { return .string(text) }
    return try PreferenceText.parse(text, as: kind, of: key, calling: "the argument")
  }

  /// The names of the options, in ascending order.
  public func names(of secrecy: Secrecy) -> [PreferenceName] { PreferenceName.valid(texts.keys.sorted()) }

  /// - Parameter isRepaired: whether U+FFFD stands for bytes that are not UTF-8: a password with another character in it is
  ///   worse than an error.
  private static func options(in arguments: [String], isRepaired: Bool) -> ([String: String], Set<String>) {
    var texts: [String: String] = [:]
    var undecodable: Set<String> = []
    var rest = arguments.prefix { $0 != "--" }
    while let argument = rest.popFirst() {
      guard isOption(argument) else { continue }
      let option = argument.drop { $0 == "-" }
      let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      var text = parts.count == 2 ? String(parts[1]) : "true"
      if parts.count == 1, let next = rest.first, !isOption(next) { text = rest.removeFirst() }
      let name = String(parts[0])
      texts[name] = text
      undecodable.remove(name)
      if isRepaired, text.unicodeScalars.contains("\u{FFFD}") { undecodable.insert(name) }
    }
    return (texts, undecodable)
  }

  private static func isOption(_ argument: String) -> Bool {
    let name = argument.drop { $0 == "-" }
    let dashes = argument.count - name.count
    guard dashes == 1 || dashes == 2, let first = name.first else { return false }
    // `-5` and `-.5` are numbers.
    return dashes == 2 || !(first.isNumber || first == ".") || Double(argument) == nil
  }
}

extension LaunchArgumentPreferences: CustomStringConvertible, CustomReflectable {}
