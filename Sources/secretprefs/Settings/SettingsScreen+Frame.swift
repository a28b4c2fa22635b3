internal import DurableFiles
internal import PreferencesSettings
internal import Preferences

extension SettingsScreen {
  /// The screen as it is drawn. Values are read from the store.
  func frame() -> ScreenFrame {
    let isTall = size.rows >= 4  // otherwise only settings are drawn
    let selectedRow = rows.firstIndex { if case .setting(selected) = $0 { true } else { false } } ?? 0
    let count = isTall ? size.rows - 3 : size.rows
    let first = max(0, min(selectedRow - count / 2, rows.count - count))
    var frame = ScreenFrame(lines: isTall ? [ScreenFrame.TextLine(text: displayed(title))] : [])
    for row in rows[first...].prefix(count) {
      switch row {
      case .title(let title): frame.lines.append(ScreenFrame.TextLine(text: displayed(title)))
      case .setting(let index):
        let (text, cursor) = line(of: settings[index], isSelected: index == selected)
        if index == selected { frame.cursor = (frame.lines.count, cursor) }
        frame.lines.append(ScreenFrame.TextLine(text: text, isSelected: index == selected && editor == nil))
      }
    }
    if rows.isEmpty { frame.lines.append(ScreenFrame.TextLine(text: "There are no settings.")) }
    if isTall {
      let blank = max(0, 1 + count - frame.lines.count)
      frame.lines += Array(repeating: ScreenFrame.TextLine(text: ""), count: blank)
      frame.lines += [about, status.map(displayed) ?? keys].map { ScreenFrame.TextLine(text: $0) }
    }
    for index in frame.lines.indices {
      frame.lines[index].text = TerminalText.fitting(frame.lines[index].text, size.columns)
    }
    return frame
  }

  /// A setting with its value and, beside it, what is wrong with it; and the cell of the cursor.
  private func line(of setting: any AnySetting, isSelected: Bool) -> (text: String, cursor: Int) {
    let start = (isSelected ? "> " : "  ") + TerminalText.padded(label(setting), to: labelWidth) + "  "
    let room = max(2, size.columns - labelWidth - 4)
    guard isSelected, let editor else {
      let reading = SettingReading(setting, limit: size.columns)
      let problem = reading.problem.map { "  ! \(displayed($0))" } ?? ""
      return (start + TerminalText.fitting(decorated(reading.shown, setting), room) + problem, 0)
    }
    let note = problem.isEmpty ? "" : "  ! \(displayed(problem))"
    let (text, cursor) = editor.visible(in: max(2, room - min(TerminalText.width(note), room / 2)))
    return (start + text + note, TerminalText.width(start) + cursor)
  }

  private func label(_ setting: any AnySetting) -> String {
    displayed(String((setting.title.isEmpty ? setting.name : setting.title).prefix(size.columns)))
  }

  private var labelWidth: Int {
    let longest = settings.lazy.map { TerminalText.width(label($0)) }.max() ?? 0
    return max(1, min(longest, size.columns / 2 - 2))
  }

  /// The value as its control shows it: a switch with a cross, and an arrow for each direction that has a next value.
  private func decorated(_ value: String, _ setting: any AnySetting) -> String {
    func holds(_ condition: () throws -> Bool) -> Bool { do { return try condition() } catch { return false } }
    switch setting.control {
    case .toggle:
      let isOn = holds { try setting.text == "true" }
      return (isOn ? "[x]" : "[ ]") + (["true", "false", ""].contains(value) ? "" : " \(value)")
    case .choice: return "< \(value) >"
    case .stepper, .slider:
      return (holds { try setting.isAtMin } ? "  " : "< ") + value + (holds { try setting.isAtMax } ? "" : " >")
    default: return value.isEmpty ? "(not set)" : value
    }
  }

  private var about: String {
    guard let setting else { return "" }
    return displayed(setting.info.isEmpty ? setting.name : setting.info)
  }

  /// The keys that do something now.
  private var keys: String {
    guard editor == nil else { return problem.isEmpty ? "enter stores  esc cancels" : displayed(problem) }
    let own =
      switch setting?.control {
      case .toggle: "space switches  r resets  "
      case .choice: "left/right choose  r resets  "
      case .stepper, .slider: "+/- step  enter edits  r resets  "
      case .text: "enter edits  r resets  "
      case .secret: "enter types  r removes  "
      default: ""
      }
    return own + (removed == nil ? "" : "u restores  ") + "q leaves"
  }
}

/// The value of a setting as it is shown, and what prevents its use.
struct SettingReading {
  /// The formatted value; the stored text if it breaks a rule. Safe to display.
  let shown: String
  /// The text of an error, which contains no value.
  let problem: String?

  /// - Parameter limit: the number of characters that are needed.
  init(_ setting: any AnySetting, limit: Int = .max) {
    var (text, problem) = ("", String?.none)
    do { text = try setting.formattedValue } catch {
      let (message, key) = (SettingsScreen.message(error), "key \"\(setting.name)\": ")
      problem = message.hasPrefix(key) ? String(message.dropFirst(key.count)) : message
      // A value of the wrong type has no text either.
      do { text = try setting.text } catch {}
    }
    self.shown = displayed(String(text.prefix(limit)))
    self.problem = problem
  }
}
