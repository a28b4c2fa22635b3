import DurableFiles
import FoundationEssentials

/// Preferences from environment variables, read-only.
///
/// With the prefix `SHOP` the key `server.port` reads `SHOP_SERVER_PORT`. The name of the variable is the key in upper
/// case, with `_` between a lower-case and an upper-case letter (`serverPort` is `SERVER_PORT`, but `sha256Sum` is
/// `SHA256SUM`) and for every character that is neither letter nor digit, as in swift-configuration. Different keys can
/// read the same variable, such as `server.port` and `serverPort`.
///
/// If there is no such variable, the key reads the variable that is called the prefix and the key as written, such as
/// `http_proxy`.
///
/// The environment is copied when the reader is created. An empty variable is the empty string, not absent, unless the
/// reader ignores empty variables. A variable is parsed as ``PreferenceValue/init(parsing:as:)`` describes, also as a
/// list: `HOSTS=a, b`.
public struct EnvironmentPreferences: PreferencesReader, TextReader {
  public let name: String
  private let prefix: String
  private let variables: [String: String]
  private let undecodable: Set<String>

  /// Creates a reader of the variables whose names begin with `prefix` and `_`, or of all variables.
  ///
  /// - Parameters:
  ///   - prefix: used as written, in upper case as a rule; a `_` at its end is the one that follows it. `nil` and the
  ///     empty string mean no prefix.
  ///   - environment: the variables; `nil` means the environment of this process.
  ///   - ignoresEmpty: whether an empty variable counts as absent, so that it does not hide the values of lower layers.
  public init(prefix: String? = nil, environment: [String: String]? = nil, ignoringEmpty ignoresEmpty: Bool = false) {
    let prefix = prefix ?? ""
    self.prefix = prefix.isEmpty || prefix.hasSuffix("_") ? prefix : prefix + "_"
    name = prefix.isEmpty ? "environment" : "environment \(self.prefix)*"
    let all = environment ?? ProcessInfo.processInfo.environment
    variables = ignoresEmpty ? all.filter { !$0.value.isEmpty } : all
    undecodable = environment == nil ? Self.undecodableNames(in: variables) : []
  }

  func text(forKey key: String) throws(PreferencesError) -> String? {
    let variable = variable(forKey: key)
    guard !undecodable.contains(variable) else {
      throw PreferencesError(.malformed, "\(textName(forKey: key)) is not UTF-8").about(key: key)
    }
    return variables[variable]
  }

  func textName(forKey key: String) -> String { "the text of \(variable(forKey: key))" }

  /// The keys of all variables that a key can reach, in ascending order: `server.port` for `SHOP_SERVER_PORT`.
  public func names(of secrecy: Secrecy) -> [PreferenceName] {
    let keys = variables.keys.compactMap { variable -> String? in
      guard variable.hasPrefix(prefix) else { return nil }
      let name = String(variable.dropFirst(prefix.count))
      let keys = [name.lowercased().replacing("_", with: "."), name]
      return keys.first { self.variable(forKey: $0) == variable }
    }
    return PreferenceName.valid(keys.sorted())
  }

  private func variable(forKey key: String) -> String {
    let spelled = spelled(key)
    return variables[spelled] == nil && variables[prefix + key] != nil ? prefix + key : spelled
  }

  private func spelled(_ key: String) -> String {
    var variable = prefix
    var previous: Character?
    for character in key {
      if character.isUppercase, previous?.isLowercase == true { variable.append("_") }
      variable += character.isLetter || character.isNumber ? character.uppercased() : "_"
      previous = character
    }
    return variable
  }

  /// The variables that are not UTF-8. `ProcessInfo` replaces their invalid bytes with U+FFFD, and a changed password
  /// is worse than an error.
  private static func undecodableNames(in variables: [String: String]) -> Set<String> {
    Set(
      variables.filter { $0.value.unicodeScalars.contains("\u{FFFD}") }.keys.filter { variable in
        guard let text = getenv(variable) else { return true }
        return String(validatingCString: text) == nil
      })
  }
}

extension EnvironmentPreferences: CustomStringConvertible, CustomReflectable {}
