internal import ArgumentParser
internal import DurableFiles
internal import VaultCore

/// `secretprefs config trust`.
struct TrustProject: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "trust",
    abstract: "Trusts the settings of a project, and shows them.",
    usage: "secretprefs config trust [--remove] [--json] [<directory>]",
    discussion: """
      The file is \(ProjectFile.name) in the directory, or the one that is found from the working directory. It is \
      used as long as it stays at its path and has this content; the trust is in secretprefs/trusted in \
      $XDG_CONFIG_HOME or ~/.config. Prints the settings that are trusted. A file with a bad line is not trusted.

      EXAMPLE:
        secretprefs config trust
        secretprefs config trust --remove
      """)

  @Flag(help: "End the trust.")
  var remove = false

  @Flag(help: .json)
  var json = false

  @Argument(
    help: ArgumentHelp("The directory of the project.", valueName: "directory"), completion: .directory)
  var directories: [String] = []

  func perform(_ messages: Messages) throws {
    guard directories.count <= 1 else { throw Self.usageError("at most one directory is accepted") }
    let folder = try ConfigurationFolder.required
    let file = try projectFile()
    guard !remove else { return try distrust(file, in: folder) }
    guard let content = try file.content() else { throw Self.missing }
    let settings = ConfigurationFile(file.path, isProject: true, content)
    guard settings.problems.isEmpty else { throw ToolError.badConfiguration(settings.problems) }
    try file.trust(content, in: folder)
    Output.recordChange(by: Self.self)
    let effective = ToolSetting.allCases.compactMap { setting in
      settings.value(of: setting).map { EffectiveSetting(setting: setting, value: $0.text, origin: $0.origin) }
    }
    guard json else { return try Output.write(Table(rows: effective.map(\.row)).text) }
    try Output.write(
      .object([
        ("file", .string(file.path)), ("trusted", .bool(true)), ("settings", .array(effective.map(\.json))),
      ]))
  }

  private func distrust(_ file: ProjectFile, in folder: String) throws {
    guard try file.distrust(in: folder) else {
      throw ToolError(
        VaultError(.notFound, "\(file.path): the file was not trusted"),
        hint: "name the directory of the project's file as it was")
    }
    Output.recordChange(by: Self.self)
    guard json else { return }
    try Output.write(
      .object([("file", .string(file.path)), ("trusted", .bool(false)), ("settings", .array([]))]))
  }

  private func projectFile() throws -> ProjectFile {
    guard let directory = directories.first else {
      guard let found = ProjectFile.found else { throw Self.missing }
      return found
    }
    // The directory of a file whose trust ends may be gone.
    guard let path = PathName.resolved(directory) ?? (remove ? PathName.absolute(directory) : nil) else {
      throw ToolError.io("\(directory): find the directory", errno)
    }
    return ProjectFile(in: path)
  }

  private static let missing = ToolError(
    VaultError(.notFound, "there is no file \(ProjectFile.name) in the directory or above it"),
    hint: "\"secretprefs config set --project\" creates one")
}
