import PreferencesSettings
import Preferences
import Testing

/// Settings that are true or false.
struct FlagSettingTests {
  let store = DictionaryPreferences()

  @Test func `item 91: a flag is set and toggled`() async throws {
    let setting = Setting(.isMuted, in: store)
    #expect(setting.control == .toggle)
    #expect(!setting.isSet)
    _ = try { try setting.toggle() }()
    #expect(setting.isSet)
    try await setting.toggle()
    #expect(store["muted"] == false)
  }

  @Test func `item 91: a flag is set by its property, and reads as its default if it cannot be read`() throws {
    let setting = Setting(.isMuted, in: store)
    setting.isSet = true
    #expect(store["muted"] == true)
    setting.inverted().isSet = true
    #expect(store["muted"] == false)
    try store.set("text", forKey: "muted")
    #expect(reporting { setting.isSet.toggle() }.keys == ["muted"])
    #expect(store["muted"] == "text")
  }

  @Test func `no toggle of fifty at once is lost`() async throws {
    let setting = Setting(.isMuted, in: store)
    try await setting.set(true)
    try await withThrowingTaskGroup { group in
      for number in 0..<51 {
        group.addTask { if number.isMultiple(of: 2) { try await setting.toggle() } else { try toggle(setting) } }
      }
      try await group.waitForAll()
    }
    #expect(!setting.isSet)
  }

  private func toggle(_ setting: Setting<Bool>) throws { try setting.toggle() }

  @Test func `item 91: an inverted flag reads and stores the opposite`() async throws {
    let isMuted = Setting(.isMuted, in: store, title: "Muted") { $0 ? "on" : "off" }
    let isLoud = isMuted.inverted(title: "Sound")
    #expect(isLoud.isSet)
    #expect(try [isLoud.title, isLoud.formattedValue, isMuted.formattedValue] == ["Sound", "on", "off"])
    try await isLoud.toggle()
    #expect(store["muted"] == true)
    try await isLoud.set(text: "true")
    #expect(store["muted"] == false)
    #expect(isLoud.inverted().isSet == isMuted.isSet)
    let values = try await isLoud.values().collected(2) { _ in try await store.set(true, forKey: "muted") }
    #expect(values == [true, false])
  }

  @Test func `the rules of a flag hold for its inverted view and for toggling`() throws {
    let isMuted = Setting(.isMuted, in: store, rules: [Rule("must stay off") { !$0 }])
    #expect(preferencesError { try isMuted.toggle() }?.code == .outOfRange)
    #expect(preferencesError { try isMuted.inverted().set(false) }?.code == .outOfRange)
    #expect(store["muted"] == nil)
  }

  @Test func `item 91: a hook runs with each new value while it is held`() throws {
    let received = Received<Bool>()
    let setting = Setting(.isMuted, in: store)
    let hook = setting.didChange { received.add($0) }
    try setting.toggle()
    try setting.set(true)
    try store.set(false, forKey: "muted")
    hook.invalidate()
    try setting.toggle()
    #expect(received.all == [true, false])
  }

  @Test func `a hook is not called with a value that breaks a rule`() throws {
    let received = Received<Int>()
    let setting = try cats(in: store)
    let hook = setting.didChange { received.add($0) }
    #expect(try reporting { try store.set(99, forKey: "cats") }.keys == ["cats"])
    try setting.decrease()
    #expect(received.all == [13])
    hook.invalidate()
  }

  @Test func `an optional flag that is not set is neither`() throws {
    let setting = Setting(PreferenceKey<Bool?>("muted"), in: store)
    #expect(setting.control == .toggle)
    #expect(try setting.text == "")
    try setting.set(text: "true")
    try setting.set(text: "")
    #expect(store["muted"] == nil)
  }
}
