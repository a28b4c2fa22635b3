/// The place that a setting's value comes from, in the order in which they win.
enum SettingOrigin: Equatable {
  case option
  case variable
  case project(file: String, line: Int)
  case user(file: String, line: Int)
  case usual

  /// In the words of `status`.
  func words(for setting: ToolSetting) -> String {
    switch self {
    case .option: setting.option
    case .variable: "$\(setting.variable)"
    case .project(let file, let line), .user(let file, let line): "\(file):\(line)"
    case .usual: "default"
    }
  }

  var members: [(String, JSON)] {
    switch self {
    case .option: [("origin", .string("option"))]
    case .variable: [("origin", .string("variable"))]
    case .project(let file, let line): Self.members("project", file, line)
    case .user(let file, let line): Self.members("user", file, line)
    case .usual: [("origin", .string("default"))]
    }
  }

  private static func members(_ name: String, _ file: String, _ line: Int) -> [(String, JSON)] {
    [("origin", .string(name)), ("file", .string(file)), ("line", .unsigned(UInt64(line)))]
  }
}

/// The value that a setting has, and where it comes from.
struct EffectiveSetting {
  let setting: ToolSetting
  /// `nil` if there is none, as for the path of the vault without a home directory.
  let value: String?
  let origin: SettingOrigin

  /// - Parameter value: The value as it is set. A password in a URL is left out.
  init(setting: ToolSetting, value: String?, origin: SettingOrigin) {
    self.setting = setting
    self.value = value.map(withoutPasswords)
    self.origin = origin
  }

  /// A row of `config list` and `status`.
  var row: [String] {
    [setting.name, "\(value.map(displayed) ?? "-") (\(displayed(origin.words(for: setting))))"]
  }

  var json: JSON {
    .object([("name", .string(setting.name)), ("value", value.map(JSON.string) ?? .null)] + origin.members)
  }
}
