import DurableFiles
import FoundationEssentials

/// Preferences from environment variables, read-only.
///
/// With the prefix `SHOP` the key `server.port` reads `SHOP_SERVER_PORT`. The variable's name is the key in
/// upper case, with `_` between a lower-case and an upper-case letter (`serverPort` is `SERVER_PORT`, but
/// `sha256Sum` is `SHA256SUM`) and for every character that is neither letter nor digit; this is the rule of
/// swift-configuration. Keys that differ only there read the same variable.
///
/// The environment is copied when this is created; later changes are not seen. A variable that is set to
/// nothing is the empty string, not absent.
public struct EnvironmentPreferences: PreferencesReader {
  public let name: String
  private let prefix: String
  private let variables: [String: String]
  private let undecodable: Set<String>

  /// Creates a layer over variables whose names begin with `prefix` and `_`, or over all of them.
  ///
  /// - Parameters:
  ///   - prefix: Used as it is written; nil and the empty string mean none.
  ///   - environment: The variables; nil means those of this process.
  public init(prefix: String? = nil, environment: [String: String]? = nil) {
    let prefix = prefix.flatMap { $0.isEmpty ? nil : $0 + "_" }
    name = prefix.map { "environment \($0)*" } ?? "environment"
    self.prefix = prefix ?? ""
    variables = environment ?? ProcessInfo.processInfo.environment
    undecodable = environment == nil ? Self.undecodableNames(in: variables) : []
  }

  /// The variable's text, read as the query's kind; as a string where no kind is wanted.
  ///
  /// Booleans are yes, no, true, false, on, off, 1 and 0 in any case; integers are decimal; dates are ISO
  /// 8601 with seconds and time zone; data is Base64. Arrays and dictionaries have no text form.
  ///
  /// Nil when there is no such variable.
  /// - Throws: ``PreferencesError/Code/malformed`` when the text is not UTF-8, ``PreferencesError/Code/typeMismatch`` when it
  ///   does not parse.
  public func value(for query: PreferenceQuery) throws(PreferencesError) -> PreferenceValue? {
    let key = query.name.text
    let variable = variable(forKey: key)
    guard !undecodable.contains(variable) else {
      throw PreferencesError(.malformed, "the text of \(variable) is not UTF-8").about(key: key)
    }
    guard let text = variables[variable] else { return nil }
    guard let kind = query.kind else { return .string(text) }
    return try PreferenceText.parse(text, as: kind, of: key, calling: "the text of \(variable)")
  }

  /// A key for each variable that one can reach, in ascending order: `SHOP_SERVER_PORT` is `server.port`.
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

  /// The variables that `ProcessInfo` has repaired: it turns bytes that are not UTF-8 into U+FFFD, and a
  /// password with another character in it is worse than an error.
  private static func undecodableNames(in variables: [String: String]) -> Set<String> {
    Set(
      variables.filter { $0.value.unicodeScalars.contains("\u{FFFD}") }.keys.filter { variable in
        guard let text = getenv(variable) else { return true }
        return String(validatingCString: text) == nil
      })
  }
}

extension EnvironmentPreferences: CustomStringConvertible, CustomReflectable {}
