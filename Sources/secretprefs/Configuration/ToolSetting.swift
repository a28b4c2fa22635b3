internal import DurableFiles
internal import VaultCore

/// A setting of the tool: the one table of its name, its variable, its option and its values (`Docs/Decisions/0069`).
enum ToolSetting: String, CaseIterable {
  case vault, service, group, history
  case unlockFor = "unlock.for"
  case unlockIdle = "unlock.idle"
  case unlockKeyring = "unlock.keyring"
  case clearAfter = "clipboard.clear-after"
  case failOn = "doctor.fail-on"

  var name: String { rawValue }

  /// The environment variable: the name in capitals, with underscores between its words.
  var variable: String {
    let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(byte) }
    return "SECRETPREFS_" + String(decoding: rawValue.utf8.map { isLetter($0) ? $0 & 0xDF : 0x5F }, as: UTF8.self)
  }

  /// The option that wins over all other places.
  var option: String {
    switch self {
    case .vault, .service, .group, .history: "--\(rawValue)"
    case .unlockFor: "--for"
    case .unlockIdle: "--idle"
    case .unlockKeyring: "--keyring"
    case .clearAfter: "--clear-after"
    case .failOn: "--fail-on"
    }
  }

  /// The value if no place has one; `nil` for a path that depends on the environment.
  var usual: String? {
    switch self {
    case .vault: nil
    case .service: "default"
    case .group: AccessGroup.defaultName
    case .history: "\(Vault.Keeping.forPeople.earlierValues)"
    case .unlockFor: "15m"
    case .unlockIdle: "5m"
    case .unlockKeyring: KernelKey.Keyring.session.rawValue
    case .clearAfter: "\(Clipboard.usualTime)"
    case .failOn: Problem.Severity.warning.rawValue
    }
  }

  /// The places after the option, for the help of the option.
  var places: String {
    "Default: $\(variable), the setting \(name)\(usual.map { ", or \"\($0)\"" } ?? "")."
  }

  /// What follows the places of ``group``.
  static let soleGroup = " A credential of one group needs none."

  /// What it sets, for the help.
  var explanation: String {
    switch self {
    case .vault: "the path or URL of the vault"
    case .service: "the service of keys"
    case .group: "the access group of keys"
    case .history: "the number of earlier values that a new key keeps"
    case .unlockFor: "how long \"unlock\" keeps a key at most"
    case .unlockIdle: "how long \"unlock\" keeps a key without use"
    case .unlockKeyring: "whether \"unlock\" keeps a key for the session or, if the system allows it, the user"
    case .clearAfter: "the seconds after which \"get --clip\" clears the clipboard"
    case .failOn: "the severity from which on \"doctor\" fails"
    }
  }

  /// Whether the file of a project may have it. What concerns unlocking and the user's machine is for the user alone.
  var isForProjects: Bool {
    switch self {
    case .vault, .service, .group, .history, .failOn: true
    case .unlockFor, .unlockIdle, .unlockKeyring, .clearAfter: false
    }
  }

  /// Its values, if they are a few words; empty if it can have others.
  var values: [String] {
    switch self {
    case .unlockKeyring: KernelKey.Keyring.allCases.map(\.rawValue)
    case .failOn: Problem.Severity.allCases.map(\.rawValue)
    case .vault, .service, .group, .history, .unlockFor, .unlockIdle, .clearAfter: []
    }
  }

  /// Why it cannot have this value, as a clause about it; `nil` if it can.
  func objection(to value: String, inProject: Bool = false) -> String? {
    switch self {
    case .vault: return vaultObjection(to: value, inProject)
    case .service, .group:
      do throws(VaultError) { _ = try Vault.Name(value) } catch {
        return "must have 1 to 1024 bytes and no control characters"
      }
      return nil
    case .history: return Self.number(value, in: 0...65_535) ? nil : "must be a whole number from 0 to 65535"
    case .unlockFor, .unlockIdle: return KeptLimits.seconds(value) == nil ? "must be \(KeptLimits.form)" : nil
    case .unlockKeyring: return KernelKey.Keyring(rawValue: value) == nil ? "must be session or user" : nil
    case .clearAfter:
      let times = Clipboard.times
      return Self.number(value, in: times)
        ? nil : "must be a whole number from \(times.lowerBound) to \(times.upperBound)"
    case .failOn:
      return Problem.Severity(rawValue: value) == nil ? "must be error, warning or advice" : nil
    }
  }

  private static func number(_ text: String, in range: ClosedRange<Int>) -> Bool {
    text.utf8.count <= 5 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
      && Int(text).map(range.contains) ?? false
  }

  private func vaultObjection(to value: String, _ isProject: Bool) -> String? {
    guard !value.hasPrefix("~") || value.hasPrefix("~/") else { return "must not begin with ~ unless ~/ follows" }
    guard !value.hasPrefix("~/") || ConfigurationFolder.home != nil else {
      return "begins with ~/, and there is no home directory"
    }
    guard DatabaseURL.hasScheme(value) else {
      return isProject || value.hasPrefix("/") || value.hasPrefix("~/") ? nil : "must be absolute, or begin with ~/"
    }
    guard withoutPasswords(value) == value else { return "must be a URL without a password" }
    do throws(ToolError) { _ = try DatabaseURL(value) } catch { return "must be a path, or a URL of PostgreSQL" }
    // Parameters can name files with passwords and keys, and a file of a project must not.
    return isProject && value.contains("?") ? "must be a URL without parameters" : nil
  }

  /// The setting with this name, or a usage error.
  init(named name: String) throws(ToolError) {
    guard let setting = ToolSetting(rawValue: name) else {
      let near = name.utf8.count <= 40 ? nearest(name, among: Self.allCases.map(\.rawValue)) : nil
      throw .usage(
        "there is no such setting",
        hint: (near.map { "did you mean \($0)? " } ?? "") + "\"secretprefs config list\" lists the settings")
    }
    self = setting
  }
}
