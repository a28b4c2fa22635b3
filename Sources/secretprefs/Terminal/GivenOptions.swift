internal import VaultCore

/// The options of a command line that name its vault and its mark, and say what unlocks it. The commands that messages
/// name get them, so that a command that is run as a message has it works on the same vault.
struct GivenOptions {
  /// What is in front of each command in a message.
  private static let tool = "secretprefs "
  /// Those that name the vault.
  private static let naming = ["--vault", "--shared", "--logs"]

  private struct Option {
    let name: String
    /// As a shell takes it.
    let text: String
  }

  private let arguments: Arguments

  /// - Parameter arguments: Those of a command that was understood. Others may have a secret in the wrong place.
  init(_ arguments: Arguments = Arguments(words: [])) { self.arguments = arguments }

  /// The text of a hint or a warning, in which each command that opens a vault names it. The commands of a mark also
  /// name that, and what unlocks the vault.
  func named(_ text: String) -> String {
    extended(text) { command, option in command.hasPrefix("mark") || Self.naming.contains(option) }
  }

  /// The text, in which each command has all of these options that it takes.
  func completed(_ text: String) -> String { extended(text) { _, _ in true } }

  private func extended(_ text: String, _ isMeant: (_ command: String, _ option: String) -> Bool) -> String {
    let given = options
    guard !given.isEmpty else { return text }
    var extended = ""
    var rest = text[...]
    while let place = rest.firstRange(of: Self.tool) {
      extended += rest[..<place.upperBound]
      rest = rest[place.upperBound...]
      guard let command = UsageRefusal.command(atStartOf: rest) else { continue }
      extended += command.name
      rest = rest.dropFirst(command.name.count)
      let own = rest.prefix { $0 != "\"" && $0 != ";" }.split(separator: " ")
      // A usage line has all options of the command already. The owner of a database has a different URL.
      guard !own.contains("[<options>]"), !command.name.hasPrefix("postgres") else { continue }
      for option in given where command.options[option.name] != nil && isMeant(command.name, option.name) {
        if !own.contains(where: { $0 == option.name }) { extended += " \(option.text)" }
      }
    }
    extended += rest
    return extended
  }

  /// The options that were given. None has a secret: a passphrase's descriptor and program are left out.
  private var options: [Option] {
    let shared = arguments.contains(option: "--shared") ? Option(name: "--shared", text: "--shared") : nil
    let paths = ["--logs", "--key-file", "--identity", "--device-key-file", "--mark"].map(path)
    return ([path("--vault"), shared] + paths + [pin]).compactMap(\.self)
  }

  private func path(_ name: String) -> Option? {
    arguments.value(of: name).map { Option(name: name, text: "\(name) \(shellPath($0))") }
  }

  /// The pin, unless it is something else, which may be a secret.
  private var pin: Option? {
    do throws(ToolError) {
      return try PublicText.trusted(arguments.value(of: "--trust")).map { pin in
        Option(name: "--trust", text: "--trust \(shellWord("\(pin)"))")
      }
    } catch { return nil }
  }
}
