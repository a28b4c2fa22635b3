import PreferencesSettings
import Preferences
import Testing

@testable import secretprefs

/// The screen without a terminal: keys in, frames out.
struct SettingsScreenTests {
  let store = DictionaryPreferences(["port": 80, "debug": false, "host": "a", "level": "info", "title": "日本\u{1B}[2J"])

  private func screen() throws -> SettingsScreen {
    let network = SettingGroup(
      "Network",
      [
        try Setting(
          PreferenceKey<Int>("port", default: 1), in: store, title: "Port", info: "Where it listens", bounds: 1...90,
          step: 5),
        Setting(.init("host", default: ""), in: store, rules: [.length(...8)]),
      ])
    let log = SettingGroup(
      "Log",
      [
        Setting(.init("debug", default: true), in: store),
        Setting(.init("level", default: "info"), in: store, choices: ["info", "warn", "error"]),
        Setting(.init("title", default: "none"), in: store),
      ])
    return SettingsScreen([network, log], title: "shop.json")
  }

  /// Presses keys and makes the changes that they request.
  private func press(_ keys: [KeyPress], on screen: inout SettingsScreen) async {
    for key in keys {
      guard case .change(let change) = screen.press(key) else { continue }
      do {
        try await change()
        screen.finish(nil)
      } catch { screen.finish(error) }
    }
  }

  private func typed(_ text: String) -> [KeyPress] { text.map(KeyPress.character) }

  private func text(_ screen: SettingsScreen) -> String { screen.frame().lines.map(\.text).joined(separator: "\n") }

  @Test func `a number steps to its bound and stops`() async throws {
    var screen = try screen()
    await press([.right, .character("+"), .right, .left], on: &screen)
    #expect(try store.value(forKey: "port") == 85)
    await press([.right], on: &screen)
    #expect(text(screen).contains("> Port   < 90\n"))
  }

  @Test func `choices cycle both ways`() async throws {
    var screen = try screen()
    await press([.down, .down, .down, .left], on: &screen)
    #expect(try store.value(forKey: "level") == "error")
    await press([.right], on: &screen)
    #expect(try store.value(forKey: "level") == "info")
  }

  @Test func `the space bar toggles`() async throws {
    var screen = try screen()
    await press([.down, .down, .character(" ")], on: &screen)
    #expect(try store.value(forKey: "debug") == true)
    #expect(text(screen).contains("> debug  [x]\n"))
  }

  @Test func `text that breaks a rule is refused beside the setting, and stays`() async throws {
    var screen = try screen()
    await press([.down, .enter] + typed("bcdefghij") + [.enter], on: &screen)
    #expect(try store.value(forKey: "host") == "a")
    #expect(text(screen).contains("> host   abcdefghij  ! must have at most 8 characters\n"))
    await press([.backspace, .backspace, .enter], on: &screen)
    #expect(try store.value(forKey: "host") == "abcdefgh")
    #expect(screen.editor == nil)
  }

  @Test(arguments: [
    ("b", "ab", false), ("b\n", "ab", false), ("b\nry", "ab", true), ("\nry", "a", true), ("b\r\nc", "ab", true),
  ])
  func `a paste types its first line, and says so if it has more`(
    _ text: String, _ typed: String, isCut: Bool
  ) async throws {
    var screen = try screen()
    await press([.down, .enter, .paste(text)], on: &screen)
    #expect(screen.editor?.text == typed)
    #expect(self.text(screen).hasSuffix("only the first line of what was pasted is taken") == isCut)
    await press([.home, .paste("x"), .character("y"), .enter], on: &screen)
    #expect(self.text(screen).contains("> host   xy\(typed)\n"))
  }

  @Test func `a paste into the list does nothing`() async throws {
    var screen = try screen()
    await press([.paste("+"), .paste("q"), .paste("r"), .character("y")], on: &screen)
    #expect(try store.value(forKey: "port") == 80)
    await press([.character("r"), .paste("y")], on: &screen)
    #expect(try store.value(forKey: "port") == 80)
  }

  @Test func `escape cancels an edit`() async throws {
    var screen = try screen()
    await press([.enter] + typed("5") + [.escape], on: &screen)
    #expect(try store.value(forKey: "port") == 80)
    #expect(text(screen).contains("< 80 >"))
  }

  @Test func `a reset asks, and y removes the value`() async throws {
    var screen = try screen()
    await press([.down, .down, .character("r")], on: &screen)
    #expect(try store.value(forKey: "debug") == false)
    #expect(text(screen).hasSuffix("reset to the default? y: yes, other keys: no"))
    await press([.character("y")], on: &screen)
    #expect(try store.value(forKey: "debug") == nil)
    #expect(text(screen).contains("> debug  [x]\n"))
  }

  @Test func `a hidden list is listed as set, and removed`() async throws {
    let store = DictionaryPreferences(["hosts": ["CANARY-7f3a"]])
    var setting = Setting(.init("hosts", default: [String]()), in: store)
    setting.isHidden = true
    let groups = [SettingGroup("", [setting])]
    let listed = SettingsListing.json(of: groups, unshown: []).text
    #expect(listed == #"[{"name":"hosts","secret":true,"set":true}]"#)
    var screen = SettingsScreen(groups, title: "shop.json")
    #expect(text(screen).contains("> hosts  <redacted>\n"))
    await press([.character("r")], on: &screen)
    #expect(text(screen).hasSuffix("remove it? y: yes, other keys: no"))
  }

  @Test(arguments: [KeyPress.character("r"), .character("n"), .character("q"), .escape, .enter, .down, .control("c")])
  func `any key but y keeps the value, and does nothing else`(key: KeyPress) async throws {
    var screen = try screen()
    await press([.character("r")], on: &screen)
    guard case .none = screen.press(key) else {
      Issue.record("it does more")
      return
    }
    #expect(try store.value(forKey: "port") == 80)
    #expect(screen.selected == 0 && screen.editor == nil)
    #expect(text(screen).hasSuffix("\nthe value stays"))
  }

  @Test func `u stores what was reset last, once`() async throws {
    var screen = try screen()
    await press([.character("r"), .character("y")], on: &screen)
    #expect(try store.value(forKey: "port") == nil)
    #expect(text(screen).hasSuffix("+/- step  enter edits  r resets  u restores  q leaves"))
    await press([.down, .character("u")], on: &screen)
    #expect(try store.value(forKey: "port") == 80)
    await press([.up, .character("+"), .character("u")], on: &screen)
    #expect(try store.value(forKey: "port") == 85)
  }

  @Test(arguments: [KeyPress.character("q"), .escape, .control("d"), .control("c")])
  func `a key leaves`(_ key: KeyPress) throws {
    var screen = try screen()
    guard case .leave = screen.press(key) else {
      Issue.record("it stays")
      return
    }
  }

  @Test func `a change that fails keeps the text and is shown until the next key`() async throws {
    var screen = try screen()
    await press([.down, .enter] + typed("b"), on: &screen)
    screen.finish(PreferencesError(.unavailable, "the disk is full"))
    #expect(text(screen).hasSuffix("the disk is full"))
    #expect(screen.editor?.text == "ab")
    _ = screen.press(.left)
    #expect(!text(screen).contains("the disk is full"))
  }

  @Test func `a stored value that breaks a rule is shown with its problem`() throws {
    try store.set(200, forKey: "port")
    #expect(text(try screen()).contains("< 200  ! the value must be between 1 and 90\n"))
  }

  @Test func `a value of the wrong type is shown as a problem`() throws {
    try store.set("x", forKey: "debug")
    let text = text(try screen())
    #expect(text.contains("debug  [ ]  ! expected bool, found string\n"), "\(text)")
  }

  @Test func `without settings every key but that to leave does nothing`() throws {
    var screen = SettingsScreen([], title: "empty.json")
    for key in [KeyPress.up, .down, .left, .enter, .character("r"), .character(" "), .end] { _ = screen.press(key) }
    #expect(text(screen).contains("There are no settings."))
  }

  @Test func `nothing reaches beyond the terminal, whatever its size`() throws {
    try store.set(String(repeating: "日本\u{9B}2J", count: 50), forKey: "title")
    try store.set(999, forKey: "port")
    for rows in 1...12 {
      for columns in 1...50 {
        var screen = try screen()
        screen.size = (rows, columns)
        for key in [KeyPress.down, .enter, .character("日"), .home, .escape, .end, .enter, .left, .left] {
          _ = screen.press(key)
          let frame = screen.frame()
          #expect(frame.lines.count <= rows)
          #expect(frame.lines.allSatisfy { TerminalText.width($0.text) <= columns })
          #expect(!frame.lines.contains { $0.text.unicodeScalars.contains(where: isMisleading) })
          #expect(frame.cursor.row < rows && frame.lines[frame.cursor.row].text.hasPrefix(">"))
        }
      }
    }
  }
}
