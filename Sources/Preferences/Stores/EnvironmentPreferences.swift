import DurableFiles
import FoundationEssentials

/// Preferences from environment variables, read-only.
///
/// With the prefix `SHOP` the key `server.port` reads `SHOP_SERVER_PORT`. The name of the variable is the key in upper
/// case, with `_` between a lower-case and an upper-case letter (`serverPort` is `SERVER_PORT`, but `sha256Sum` is
/// `SHA256SUM`) and for every character that is neither letter nor digit, as in swift-configuration. Keys that differ
/// only there read the same variable.
///
/// The environment is copied when the reader is created. An empty variable is the empty string, not absent.
public struct EnvironmentPreferences: PreferencesReader {
  public let name: String
  private let prefix: String
  private let variables: [String: String]
  private let undecodable: Set<String>

  /// Creates a reader of the variables whose names begin with `prefix` and `_`, or of all variables.
  ///
  /// - Parameters:
  ///   - prefix: used as written; `nil` and the empty string mean no prefix.
  ///   - environment: the variables; `nil` means the environment of this process.
  public init(prefix: String? = nil, environment: [String: String]? = nil) {
    let prefix = prefix.flatMap { $0.isEmpty ? nil : $0 + "_" }
    name = prefix.map { "environment \($0)*" } ?? "environment"
    self.prefix = prefix ?? ""
    variables = environment ?? ProcessInfo.processInfo.environment
    undecodable = environment == nil ? Self.undecodableNames(in: variables) : []
  }

  /// Returns the variable parsed as the query's kind, or as a string if the query has none; `nil` if it is not set.
  ///
  /// Booleans are yes, no, true, false, on, off, 1 and 0 in any case; integers are decimal; dates are ISO 8601 with
  /// seconds and time zone; data is Base64. Arrays and dictionaries do not parse.
  /// - Throws: ``PreferencesError/Code/malformed`` if the variable is not UTF-8, ``PreferencesError/Code/typeMismatch``
  ///   if it does not parse.
  public func value(for query: PreferenceQuery) throws(PreferencesError) -> PreferenceValue? {
    let key = query.name.text
    let variable = variable(forKey: key)
    guard !undecodable.contains(variable) else {
      throw PreferencesError(.malformed, "the text of \(variable) is not UTF-8").about(key: key)
    }
    guard let text = variables[variable] else { return nil }
    guard let kind = query.kind else { return .string(text) }
    if let value = PreferenceValue(parsing: text, as: kind) { return value }
    throw .unparsable("the text of \(variable)", as: kind, key: key)
  }

  /// The keys of all variables that a key can reach, in ascending order: `server.port` for `SHOP_SERVER_PORT`.
  public func names(of secrecy: Secrecy) -> [PreferenceName] {
    let keys = variables.keys.compactMap { variable -> String? in
      guard variable.hasPrefix(prefix) else { return nil }
      let key = variable.dropFirst(prefix.count).lowercased().replacing("_", with: ".")
      return self.variable(forKey: key) == variable ? key : nil
    }
    return PreferenceName.valid(keys.sorted())
  }

  private func variable(forKey key: String) -> String {
    var variable = prefix
    var previous: Character?
    for character in key {
      if character.isUppercase, previous?.isLowercase == true { variable.append("_") }
      variable += character.isLetter || character.isNumber ? character.uppercased() : "_"
      previous = character
    }
    return variable
  }

  /// The variables that are not UTF-8. `ProcessInfo` replaces their invalid bytes by U+FFFD, and a changed password is
  /// worse than an error.
  private static func undecodableNames(in variables: [String: String]) -> Set<String> {
    Set(
      variables.filter { $0.value.unicodeScalars.contains("\u{FFFD}") }.keys.filter { variable in
        guard let text = getenv(variable) else { return true }
        return String(validatingCString: text) == nil
      })
  }
}

extension EnvironmentPreferences: CustomStringConvertible, CustomReflectable {}
