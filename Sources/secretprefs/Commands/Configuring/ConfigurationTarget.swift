internal import ArgumentParser
internal import DurableFiles
internal import VaultCore

/// The file that `config set` and `config unset` change.
struct ConfigurationTarget: ParsableArguments {
  @Flag(help: "Change the file of the project.")
  var project = false

  @Flag(help: .json)
  var json = false

  /// Changes one line of the file.
  ///
  /// - Parameter value: The new value; `nil` to remove the line.
  /// - Returns: The path of the file.
  func change(_ setting: ToolSetting, to value: String?) throws -> String {
    let folder = try ConfigurationFolder.required
    guard !project || setting.isForProjects || value == nil else {
      throw ToolError.usage("\(setting.name) can be set in the user's file only", hint: "omit --project")
    }
    try Descriptor<VaultError>.makeDirectory(folder, isPrivate: true)
    let lock = try Descriptor<VaultError>.open(folder, O_RDONLY | O_DIRECTORY) { .io("\(folder): open", $0) }
    defer { lock.unlock() }
    // For all files, so that of two commands none undoes the change of the other.
    try lock.lock()
    guard project else {
      let path = Configuration.userPath(in: folder)
      try ConfigurationFolder.checkFolder(of: path)
      let old = try ConfigurationFolder.read(path, "the configuration file", atMost: ConfigurationFile.longest)
      let new = try changed(old, path, setting, value)
      try DurableText.write(new, to: path, "the configuration file", mode: 0o600)
      return path
    }
    let file = ProjectFile.found ?? ProjectFile(PathName.absolute(ProjectFile.name))
    let old = try file.content()
    guard try old == nil || file.trustedContent(in: folder) == old else {
      throw ToolError.usage(
        "\(file.path) is not trusted", hint: "\"secretprefs config trust\" shows its settings and trusts it")
    }
    let new = try changed(old, file.path, setting, value)
    try DurableText.write(new, to: file.path, "the project's configuration file", mode: nil)
    try file.trust(new, in: folder)
    return file.path
  }

  private func changed(_ old: [UInt8]?, _ path: String, _ setting: ToolSetting, _ value: String?) throws -> [UInt8] {
    let file = ConfigurationFile(path, isProject: project, old ?? [])
    guard file.problems.isEmpty else { throw ToolError.badConfiguration(file.problems) }
    guard value != nil || file.value(of: setting) != nil else {
      throw ToolError(
        VaultError(.notFound, "\(path): \(setting.name) is not set there"),
        hint: "\"secretprefs config list\" shows where each setting comes from")
    }
    let new = file.changing(setting, to: value, in: old ?? [])
    let reread = ConfigurationFile(path, isProject: project, new)
    let isSame = reread.lines.first { $0.setting == setting }?.value == value
    guard reread.problems.isEmpty, isSame, new.count <= ConfigurationFile.longest else {
      throw ToolError.usage("the value of \(setting.name) cannot be written in a line of the file")
    }
    return new
  }
}
