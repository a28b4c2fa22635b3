internal import PreferencesSettings
internal import Preferences

/// A list of settings as a person sees and changes it: takes keys, returns frames. It neither reads a terminal nor
/// writes to a store.
struct SettingsScreen {
  /// What a key requests.
  enum Request {
    case none, leave
    /// A change of a setting. Report its end to ``finish(_:)``; until then, press no key.
    case change(@Sendable () async throws -> Void)
    /// A prompt for a secret, without echo.
    case prompt(any AnySetting)
  }

  enum Row {
    case title(String)
    case setting(Int)
  }

  let title: String
  let settings: [any AnySetting]
  let rows: [Row]
  /// The number of rows and columns of the terminal.
  var size = (rows: 24, columns: 80)
  /// The last line; `nil` for a list of keys.
  var status: String?
  private(set) var selected = 0
  private(set) var editor: LineEditor?
  /// Whether the last key has asked to remove the value of the selected setting.
  private var isRemoving = false
  /// The setting whose value was removed last, and the text that stores it again.
  private(set) var removed: (setting: any AnySetting, text: String)?

  init(_ groups: [SettingGroup], title: String) {
    self.title = title
    settings = groups.flatMap(\.settings)
    var (rows, count): ([Row], Int) = ([], 0)
    for group in groups where !group.settings.isEmpty {
      if !group.title.isEmpty { rows.append(.title(group.title)) }
      rows += (count..<count + group.settings.count).map(Row.setting)
      count += group.settings.count
    }
    self.rows = rows
  }

  /// The selected setting; `nil` if there are none.
  var setting: (any AnySetting)? { settings.isEmpty ? nil : settings[selected] }

  /// What is wrong with the text that is edited.
  var problem: String {
    guard let editor, let setting else { return "" }
    return setting.problems(in: editor.text).joined(separator: ", ")
  }

  mutating func press(_ key: KeyPress) -> Request {
    status = nil
    if isRemoving, let setting {
      isRemoving = false
      if key == .character("y") { return remove(setting) }
      status = "the value stays"
      return .none
    }
    return editor == nil ? choose(key) : edit(key)
  }

  /// Takes the end of a change: its error, or `nil`. Text that could not be stored stays in the editor.
  mutating func finish(_ error: (any Error)?) {
    if let error { status = Self.message(error) } else { editor = nil }
  }

  private mutating func choose(_ key: KeyPress) -> Request {
    switch key {
    case .character("q"), .escape, .control("c"), .control("d"): return .leave
    case .up: selected -= 1
    case .down: selected += 1
    case .pageUp: selected -= size.rows / 2
    case .pageDown: selected += size.rows / 2
    case .home: selected = 0
    case .end: selected = settings.count
    default: return setting.map { change($0, key) } ?? .none
    }
    selected = max(0, min(selected, settings.count - 1))
    return .none
  }

  private mutating func change(_ setting: any AnySetting, _ key: KeyPress) -> Request {
    switch (key, setting.control) {
    case (.character("r"), _):
      isRemoving = true
      status = (setting.isHidden ? "remove it" : "reset to the default") + "? y: yes, other keys: no"
    case (.character("u"), _):
      guard let removed else { break }
      self.removed = nil
      return .change { try await removed.setting.set(text: removed.text) }
    case (.enter, .secret): return .prompt(setting)
    case (.enter, .text), (.enter, .stepper), (.enter, .slider):
      do { editor = LineEditor(try setting.text) } catch { status = Self.message(error) }
    case (.character(" "), .toggle), (.enter, .toggle), (.enter, .choice): return Self.step(setting, isUp: true)
    case (.right, _), (.character("+"), _): return Self.step(setting, isUp: true)
    case (.left, _), (.character("-"), _): return Self.step(setting, isUp: false)
    default: break
    }
    return .none
  }

  private mutating func remove(_ setting: any AnySetting) -> Request {
    removed = nil
    // The text of a secret, an array or a dictionary is empty. A value of the wrong type has none.
    do {
      let text = try setting.text
      if !text.isEmpty { removed = (setting, text) }
    } catch {}
    return .change { try await setting.reset() }
  }

  private mutating func edit(_ key: KeyPress) -> Request {
    switch key {
    case .escape, .control("c"), .control("d"): editor = nil
    case .enter:
      guard let setting, let text = editor?.text, problem.isEmpty else { return .none }
      return .change { try await setting.set(text: text) }
    case .paste(let text):
      editor?.press(key)
      let isCut = text.drop { !$0.isNewline }.contains { !$0.isNewline }
      if isCut { status = "only the first line of what was pasted is taken" }
    default: editor?.press(key)
    }
    return .none
  }

  private static func step(_ setting: any AnySetting, isUp: Bool) -> Request {
    let texts: [String]
    switch setting.control {
    case .stepper, .slider: return .change { _ = try await isUp ? setting.increase() : setting.decrease() }
    case .toggle: texts = ["false", "true"]
    case .choice(let choices) where !choices.isEmpty: texts = choices.map(\.text)
    default: return .none
    }
    return .change {
      let now = texts.firstIndex(of: try setting.text)
      let next = now.map { ($0 + (isUp ? 1 : texts.count - 1)) % texts.count } ?? 0
      try await setting.set(text: texts[next])
    }
  }

  /// The text of an error, which contains no value.
  static func message(_ error: any Error) -> String {
    switch error {
    case let error as PreferencesError where error.code == .noStore: "there is no vault for secrets: use --vault"
    case let error as PreferencesError: error.message
    default: ToolError(thrown: error).message
    }
  }
}
