internal import ArgumentParser

/// `secretprefs config`.
struct Config: ParsableCommand {
  static let configuration = CommandConfiguration(
    parent: "config",
    abstract: "Shows and changes settings of the user and of a project.",
    discussion: """
      A setting has the value of the first of these places that has one: an option, an environment variable, the file \
      of the project, the file of the user, the default. The file of the user is secretprefs/config in \
      $XDG_CONFIG_HOME or ~/.config. The file of the project is the nearest \(ProjectFile.name) in the working \
      directory and those above it. It is used once you trust it with "secretprefs config trust", and no longer once \
      it has changed; every command that would use it warns.

      Each line of a file is "name = value", empty, or a comment that begins with #. There are no quotes. A relative \
      path in a project's file begins at its directory, and ~/ is your home. A bad line in a file makes every command \
      fail that uses settings, with all bad lines. The settings, with their variables and options:

      \(table)

      No setting names a credential or a program, and a URL in a file has no password.

      EXAMPLE:
        secretprefs config
        secretprefs config set service com.example.shop
        secretprefs config set --project vault shop.spv
        secretprefs config trust
      """,
    subcommands: [ListSettings.self, ChangeSetting.self, UnsetSetting.self, TrustProject.self],
    defaultSubcommand: ListSettings.self)

  private static var table: String {
    ToolSetting.allCases.map { setting in
      let limit = setting.isForProjects ? "" : "; in the file of the user only"
      return "  \(setting.name), $\(setting.variable), \(setting.option): \(setting.explanation)\(limit)"
    }.joined(separator: "\n")
  }
}

extension CompletionKind {
  static let settings = CompletionKind.list(ToolSetting.allCases.map(\.name))

  /// The name of a setting, and behind it a value, if all values are known.
  static let settingsAndValues = CompletionKind.custom { words, index, _ in
    guard words.indices.contains(index - 1), let setting = ToolSetting(rawValue: words[index - 1]) else {
      return ToolSetting.allCases.map(\.name)
    }
    return setting.values
  }
}
