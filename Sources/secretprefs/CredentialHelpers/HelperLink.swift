internal import ArgumentParser

/// The names under which git and docker start the tool, each a link to the program. `Scripts/install`
/// creates the links.
enum HelperLink {
  private static let commands: [(name: String, command: any ToolCommand.Type)] = [
    ("git-credential-secretprefs", GitCredential.self),
    (DockerCredential.link, DockerCredential.self),
  ]

  /// The command that a program name stands for; `nil` for any other name.
  static func command(of program: String) -> String? {
    let name = program.split(separator: "/").last.map(String.init) ?? ""
    return commands.first { $0.name == name }?.command.configuration.commandName
  }
}
