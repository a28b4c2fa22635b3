internal import VaultCore

/// The options of a command line that name its vault and its mark, and say what unlocks it. The commands that messages
/// name get them, so that a command that is run as a message has it works on the same vault.
struct GivenOptions {
  /// What is in front of each command in a message.
  private static let tool = "secretprefs "
  /// Those that name the vault, and its requests.
  private static let naming = ["--vault", "--shared", "--logs", "--folder"]
  /// Those that unlock it.
  private static let credential = ["--key-file", "--identity", "--trust"]

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

  /// The text of a repair, in which each command has the options that it takes. What unlocks the vault is needed by
  /// "doctor" itself, to find the problem again.
  func completed(_ text: String, withCredential: Bool = true) -> String {
    extended(text) { command, option in
      withCredential || command == "doctor" || !Self.credential.contains(option)
    }
  }

  private func extended(_ text: String, _ isMeant: (_ command: String, _ option: String) -> Bool) -> String {
    let given = options
    guard !given.isEmpty else { return text }
    var extended = ""
    var rest = text[...]
    while !rest.isEmpty {
      let before = extended.last ?? " "
      if rest.first == "'", !before.isLetter {
        // A path or a name, which may look like a command.
        extended += Self.takeQuoted(from: &rest)
      } else if " \"".contains(before), let command = Self.takeCommand(from: &rest, adding: given, isMeant) {
        extended += command
      } else {
        extended.append(rest.removeFirst())
      }
    }
    return extended
  }

  /// Takes the name of a command, and adds the options that are meant for it and that it does not have.
  private static func takeCommand(
    from text: inout Substring, adding given: [Option], _ isMeant: (_ command: String, _ option: String) -> Bool
  ) -> String? {
    guard text.hasPrefix(tool), let command = UsageRefusal.command(atStartOf: text.dropFirst(tool.count)) else {
      return nil
    }
    text = text.dropFirst(tool.count + command.name.count)
    let own = text.prefix { $0 != "\"" && $0 != ";" }.split(separator: " ")
    let name = tool + command.name
    // A usage line has all options already, and a command on another vault has its own. The owner of a database has a
    // different URL.
    guard !own.contains("[<options>]"), !own.contains("--vault"), !command.name.hasPrefix("postgres") else {
      return name
    }
    let added = given.filter { option in
      command.options[option.name] != nil && isMeant(command.name, option.name) && !own.contains { $0 == option.name }
    }
    return name + added.map { " \($0.text)" }.joined()
  }

  /// Takes a text in single quotes, as ``shellWord(_:)`` writes it.
  private static func takeQuoted(from text: inout Substring) -> Substring {
    let whole = text
    text = text.dropFirst()
    while let quote = text.firstIndex(of: "'") {
      text = text[quote...].dropFirst()
      guard text.hasPrefix("\\''") else { break }
      text = text.dropFirst(3)
    }
    return whole[..<text.startIndex]
  }

  /// The options that were given. None has a secret: a passphrase's descriptor and program are left out.
  private var options: [Option] {
    let shared = arguments.contains(option: "--shared") ? Option(name: "--shared", text: "--shared") : nil
    let paths = ["--logs", "--folder", "--key-file", "--identity", "--device-key-file", "--mark"].map(path)
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
