@testable import secretprefs

/// The files of settings, of the user and of a project, and the URLs in them.
struct ConfigurationTarget: FuzzTarget {
  func check(_ input: UnsafeRawBufferPointer) throws {
    let bytes = Array(input)
    for isProject in [false, true] { try check(bytes, isProject: isProject) }
    let text = String(decoding: bytes, as: UTF8.self)
    let shown = withoutPasswords(text)
    try demand(withoutPasswords(shown) == shown, "a URL whose password is left out has one")
    _ = SkippedParts.isItem(text)
    if let time = Expiry.milliseconds(text) { try demand(time >= 0, "a duration") }
  }

  private func check(_ bytes: [UInt8], isProject: Bool) throws {
    let file = ConfigurationFile("/p/config", isProject: isProject, bytes)
    let lines = fuzzedLines(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes)
    var named: [Int: Int] = [:]
    for line in file.lines {
      named[line.number, default: 0] += 1
      try demand(line.setting.objection(to: line.value, inProject: isProject) == nil, "a value is no value")
      try demand(!isProject || line.setting.isForProjects, "a project has a setting of the user")
    }
    for problem in file.problems {
      named[problem.line, default: 0] += 1
      try demandNoSecret(problem.text, "a problem")
    }
    for (index, line) in lines.enumerated() {
      let isEntry = line.contains { $0 != 0x20 && $0 != 0x09 } && line.first { $0 != 0x20 && $0 != 0x09 } != 0x23
      let count = named[index + 1] ?? 0
      // A comment has a problem if it is no text.
      try demand(isEntry ? count == 1 : count <= 1, "line \(index + 1) is read \(count) times")
    }
    try demand(Set(file.lines.map(\.setting)).count == file.lines.count, "a setting is set twice")
    guard file.problems.isEmpty else { return }
    for setting in ToolSetting.allCases where !isProject || setting.isForProjects {
      try checkChange(of: setting, in: file, bytes)
    }
  }

  /// A change leaves all other lines as they are.
  private func checkChange(of setting: ToolSetting, in file: ConfigurationFile, _ bytes: [UInt8]) throws {
    // Of another setting, and so of any form.
    for value in Set(file.lines.map(\.value) + [setting.usual ?? "/v"]).sorted()
    where setting.objection(to: value, inProject: file.isProject) == nil {
      let changed = file.changing(setting, to: value, in: bytes)
      let new = ConfigurationFile(file.path, isProject: file.isProject, changed)
      try demand(new.problems.isEmpty, "a changed file has a problem")
      try demand(new.lines.first { $0.setting == setting }?.value == value, "a setting is not changed")
      try demand(others(setting, new) == others(setting, file), "a different setting is changed")
      let removed = new.changing(setting, to: nil, in: changed)
      try demand(
        others(nil, ConfigurationFile(file.path, isProject: file.isProject, removed)) == others(setting, file),
        "a setting is not removed")
      try demand(comments(removed, file) == comments(bytes, file), "a comment is changed")
    }
  }

  private func others(_ setting: ToolSetting?, _ file: ConfigurationFile) -> [String] {
    file.lines.filter { $0.setting != setting }.map { "\($0.setting)=\($0.value)" }
  }

  private func comments(_ bytes: [UInt8], _ file: ConfigurationFile) -> [[UInt8]] {
    fuzzedLines(bytes).filter { line in line.first { $0 != 0x20 && $0 != 0x09 } == 0x23 }
  }
}
