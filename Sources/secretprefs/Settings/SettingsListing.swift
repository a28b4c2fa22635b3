internal import PreferencesSettings

/// Settings as output for programs.
enum SettingsListing {
  /// One line for each setting: its name and its value, and what is wrong with it.
  ///
  /// - Parameter unshown: The members of the file that are not shown as a setting.
  static func text(of groups: [SettingGroup], unshown: [(name: String, reason: String)]) -> String {
    let rows = groups.flatMap(\.settings).map { setting in
      let reading = SettingReading(setting)
      return [displayed(setting.name), reading.shown + (reading.problem.map { "  ! \(displayed($0))" } ?? "")]
    }
    return Table(rows: rows + unshown.map { [displayed($0.name), "  ! \($0.reason)"] }).text
  }

  /// The exact text of each value, or the formatted value of an array or dictionary. For a hidden value, whether it is
  /// set.
  static func json(of groups: [SettingGroup], unshown: [(name: String, reason: String)]) -> JSON {
    .array(
      groups.flatMap { group in group.settings.map { .object(members(of: $0, in: group)) } }
        + unshown.map { .object([("name", .string($0.name)), ("problem", .string($0.reason))]) })
  }

  private static func members(of setting: any AnySetting, in group: SettingGroup) -> [(String, JSON)] {
    var members: [(String, JSON)] = [("name", .string(setting.name))]
    for (name, text) in [("group", group.title), ("title", setting.title), ("info", setting.info)] where !text.isEmpty {
      members.append((name, .string(text)))
    }
    let reading = SettingReading(setting)
    if setting.isHidden {
      members += [("secret", .bool(true)), ("set", .bool(!reading.shown.isEmpty))]
    } else {
      // A value of the wrong type has no text.
      do {
        let text = try setting.control == .readOnly ? setting.formattedValue : setting.text
        members.append(("value", .string(text)))
      } catch {}
    }
    if let problem = reading.problem { members.append(("problem", .string(problem))) }
    return members
  }
}
