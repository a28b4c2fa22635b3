import DurableFiles
import FoundationEssentials

/// Preferences from environment variables, read-only.
///
/// With the prefix `SHOP` the key `server.port` reads `SHOP_SERVER_PORT`. The name of the variable is the key in upper
/// case, with `_` between a lower-case and an upper-case letter (`serverPort` is `SERVER_PORT`, but `sha256Sum` is
/// `SHA256SUM`) and for every character that is neither letter nor digit, as in swift-configuration. Different keys can
/// read the same variable, such as `server.port` and `serverPort`.
///
/// The environment is copied when the reader is created. An empty variable is the empty string, not absent. A variable is
/// parsed as ``PreferenceValue/init(parsing:as:)`` describes.
public struct EnvironmentPreferences: PreferencesReader, TextReader {
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
