internal import VaultCore

extension SecretReference {
  /// Why a text is no reference. Repeats nothing of the text, which may be a value in the wrong place.
  enum Fault: Error, CaseIterable {
    case scheme, noService, noKey, fragment, parameter, character, encoding, name, braces

    var reason: String {
      switch self {
      case .scheme: "it does not begin with secret:// in small letters"
      case .noService: "it names no service"
      case .noKey: "it names no key"
      case .fragment: "it has a #"
      case .parameter: "it has a parameter other than one group"
      case .character: "it has a character that must be percent-encoded"
      case .encoding: "its percent-encoding is not valid"
      case .braces: "it is not between {{ and }} on one line"
      case .name: "a name in it is empty, too long or has control characters"
      }
    }

    private var hint: String {
      switch self {
      case .scheme, .noService, .noKey: Self.form
      case .fragment: Self.ofFragment
      case .parameter: Self.ofParameter
      case .character, .encoding: Self.ofCharacter
      case .name: Self.ofName
      case .braces: Self.ofBraces
      }
    }

    private static let form = "a reference is secret://service/key, or secret://service/key?group=name"
    private static let ofFragment = "write %23 for a # in a name; a reference is secret://service/key"
    private static let ofParameter = "?group=name is the only parameter; write %3F for a question mark in a name"
    private static let ofCharacter =
      "write %20 for a space, %25 for a percent sign, and %2F for a slash in the name of a service or group"
    private static let ofBraces =
      "a reference in a template is {{ secret://service/key }}, or {{ secret://service/key?group=name }}"
    private static let ofName = "names have 1 to 1024 bytes of UTF-8 without control characters"

    /// The error for a reference in a file.
    var error: ToolError { ToolError(VaultError(.malformed, "malformed reference: \(reason)"), hint: hint) }

    /// The error for a reference in an argument.
    var usage: ToolError { .usage("malformed reference: \(reason)", hint: hint) }
  }
}
