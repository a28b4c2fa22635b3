internal import Secrets
internal import VaultCore

/// The settings of the user and of the project, and the environment over them.
struct Configuration {
  /// The files that have settings for a command.
  enum Files {
    /// The project's, and the user's.
    case all
    /// The user's alone, for what other programs start in the folder of any project.
    case ofUser
  }

  /// The user's file, if there is one.
  private let user: ConfigurationFile?
  /// The project's file, if the user trusts it.
  private let project: ConfigurationFile?
  /// The path of a project's file that the user does not trust. It is not used.
  let untrusted: String?

  /// Reads the files once for the process. The first use warns of a file that is not trusted.
  static func current(_ files: Files = .all) throws(ToolError) -> Configuration {
    switch files {
    case .all: try loaded.get()
    case .ofUser: try loadedOfUser.get()
    }
  }

  private static let loadedOfUser: Result<Configuration, ToolError> = Result { () throws(ToolError) in
    try Configuration(.ofUser)
  }

  private static let loaded: Result<Configuration, ToolError> = Result { () throws(ToolError) in
    let configuration = try Configuration(.all)
    if let path = configuration.untrusted {
      let arguments = Arguments.read()
      Messages(isJSON: arguments.contains(option: "--json")).warn(
        "\(displayed(path)) is not used, because it is not trusted or has changed; \"secretprefs config trust\" shows "
          + "and trusts it")
    }
    return configuration
  }

  /// - Throws: all bad lines of the files; a file that others may change.
  private init(_ files: Files) throws(ToolError) {
    do throws(VaultError) {
      let folder = try ConfigurationFolder.path
      user = if let folder { try Self.user(in: folder) } else { nil }
      let found = files == .all ? ProjectFile.found : nil
      let content: [UInt8]? = if let folder { try found?.trustedContent(in: folder) } else { nil }
      project = if let found, let content { ConfigurationFile(found.path, isProject: true, content) } else { nil }
      untrusted = content == nil ? found?.path : nil
    } catch { throw ToolError(error) }
    let problems = (user?.problems ?? []) + (project?.problems ?? [])
    guard problems.isEmpty else { throw .badConfiguration(problems) }
  }

  /// The path of the user's file in the folder of the user's settings.
  static func userPath(in folder: String) -> String { folder + "/config" }

  /// The paths of the files, whether they exist or not: the user's, the project's and that of the trust in it.
  static var paths: [String] {
    get throws(ToolError) {
      do throws(VaultError) {
        let folder = try ConfigurationFolder.path
        let project = ProjectFile.found
        let trust = folder.flatMap { project?.record(in: $0) }
        return [folder.map(userPath), project?.path, trust].compactMap(\.self)
      } catch { throw ToolError(error) }
    }
  }

  private static func user(in folder: String) throws(VaultError) -> ConfigurationFile? {
    let path = userPath(in: folder)
    return try ConfigurationFolder.read(path, "the configuration file", atMost: ConfigurationFile.longest)
      .map { ConfigurationFile(path, isProject: false, $0) }
  }

  /// What the environment and the files set; `nil` if none of them has the setting.
  static func value(of setting: ToolSetting, in files: Files = .all) throws(ToolError) -> String? {
    if let text = try variable(setting) { return text }
    return try current(files).inFiles(setting)?.text
  }

  private static func variable(_ setting: ToolSetting) throws(ToolError) -> String? {
    guard let text = try VaultLocation.variable(setting.variable) else { return nil }
    // A variable has a path as a shell has it. Its names are checked where they are used, as those of options are.
    guard ![.vault, .service, .group].contains(setting), let objection = setting.objection(to: text) else {
      return text
    }
    throw .usage("the variable \(setting.variable) \(objection)")
  }

  /// The value in the files, and its place.
  func inFiles(_ setting: ToolSetting) -> (text: String, origin: SettingOrigin)? {
    project?.value(of: setting) ?? user?.value(of: setting)
  }

  /// The value of a setting, which has one.
  ///
  /// - Parameter option: The value of the option, if it is given.
  static func value(of setting: ToolSetting, option: String?) throws(ToolError) -> String {
    if let option { return option }
    return try value(of: setting) ?? setting.usual ?? ""
  }

  /// All settings, with the places that they come from.
  ///
  /// - Parameter vault: The option that names the vault.
  static func effective(vault: String? = nil) throws(ToolError) -> [EffectiveSetting] {
    try ToolSetting.allCases.map { (setting) throws(ToolError) in try effective(setting, vault: vault) }
  }

  /// One of them.
  static func effective(_ setting: ToolSetting, vault: String? = nil) throws(ToolError) -> EffectiveSetting {
    let files = try current()
    if setting == .vault, let vault { return EffectiveSetting(setting: setting, value: vault, origin: .option) }
    if let text = try variable(setting) { return EffectiveSetting(setting: setting, value: text, origin: .variable) }
    if let (text, origin) = files.inFiles(setting) {
      return EffectiveSetting(setting: setting, value: text, origin: origin)
    }
    return EffectiveSetting(setting: setting, value: setting.usual ?? usualVault, origin: .usual)
  }

  private static var usualVault: String? {
    do throws(VaultError) { return try Vault.defaultPath() } catch { return nil }
  }
}
