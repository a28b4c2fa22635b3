import FoundationEssentials
import Preferences

/// Derives titles, and whether a value is a secret, from the name of a preference.
struct SettingName {
  /// The parts between the dots.
  private let parts: [Substring]

  init(_ name: String) { parts = name.split(separator: ".") }

  /// The title of the group: the first part of a name with dots; otherwise empty.
  var groupTitle: String { parts.count > 1 ? Self.readable(parts[0]) : "" }

  /// The title in the group.
  var title: String { Self.readable(parts.dropFirst(parts.count > 1 ? 1 : 0).joined(separator: " ")) }

  /// Whether the name says that a value of this kind is a secret.
  func saysSecret(_ kind: PreferenceValue.Kind) -> Bool {
    guard kind != .bool, let last = parts.last else { return false }
    if parts.dropLast().contains(where: { ["secrets", "credentials", "passwords"].contains($0.lowercased()) }) {
      return true
    }
    var word = Self.words(last).joined().lowercased()
    // `maxTokens` is a number of tokens, but `tokens` may be a list of them.
    if word.hasSuffix("s"), ![.integer, .unsignedInteger, .double].contains(kind) { word.removeLast() }
    return Self.secrets.contains(where: word.hasSuffix)
  }

  private static let secrets = [
    "password", "passwd", "pwd", "passphrase", "secret", "token", "credential", "apikey", "privatekey", "secretkey",
    "accesskey", "signingkey", "encryptionkey",
  ]

  /// `serverPort`, `server_port` and `SERVER_PORT` as `Server port`.
  private static func readable(_ text: some StringProtocol) -> String {
    let isShouted = !text.contains(where: \.isLowercase)
    let words = words(text).map { word in
      // An abbreviation stays as it is.
      !isShouted && word.count > 1 && word.allSatisfy(\.isUppercase) ? word : word.lowercased()
    }
    let sentence = words.joined(separator: " ")
    return sentence.prefix(1).uppercased() + sentence.dropFirst()
  }

  private static func words(_ text: some StringProtocol) -> [String] {
    var words = [""]
    var last: Character = " "
    let characters = Array(text)
    for (index, character) in characters.enumerated() {
      let isSeparator = " ._-".contains(character)
      let next = index + 1 < characters.count ? characters[index + 1] : " "
      let begins = character.isUppercase && (!last.isUppercase || next.isLowercase)
      if isSeparator || begins { words.append("") }
      if !isSeparator { words[words.count - 1].append(character) }
      last = character
    }
    return words.filter { !$0.isEmpty }
  }
}

extension PreferenceValue {
  /// Whether the value is an address with a password, such as `postgres://user:password@host/name`.
  var hasPassword: Bool {
    switch self {
    case .url(let url): url.password != nil
    case .string(let text): Self.hasPassword(inAddress: text)
    default: false
    }
  }

  /// Not parsed as a URL, because an address with several hosts, or with special characters in the password, is none.
  private static func hasPassword(inAddress text: String) -> Bool {
    guard let scheme = text.firstRange(of: "://"), let at = text[scheme.upperBound...].lastIndex(of: "@"),
      let colon = text[scheme.upperBound...].firstIndex(of: ":")
    else { return false }
    return colon < at
  }
}
