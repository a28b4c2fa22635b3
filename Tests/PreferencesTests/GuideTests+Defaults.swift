import FoundationEssentials
import Observation
import Preferences
import PreferencesOperators
import Testing

extension PreferenceKey<Double> {
  static let quality = Self("quality", default: 0.8)
}
extension PreferenceKey<String?> {
  static let nickname = Self("nickname")
}
extension PreferenceKey<String> {
  static var camera: Self { .init("camera") { firstCamera() } }
}

extension PreferenceKey<Double> {
  static let brightness = Self("brightness", default: 1)
}
enum Keys {
  static let volume = PreferenceKey("volume", default: 0.5)
  static let device = PreferenceKey<String?>("device")
}

private let cameras = Received<String>()
private func firstCamera() -> String { cameras.all.last ?? "none" }

enum MeetingLength: String, PreferenceConvertible {
  case tenMinutes = "10 Minutes"
  case oneHour = "1 Hour"
}
extension PreferenceKey<MeetingLength> {
  static let meetingLength = Self("meetingLength", default: .oneHour)
}

struct User: Codable, Equatable {
  var name: String
  var age: Int
}
extension PreferenceKey<User> {
  static let user = Self.codable("user", default: User(name: "Ann", age: 24))
}

extension PreferenceKey<Bool> {
  static let hasUnicorn = Self("hasUnicorn", default: false)
  static let isUnicornMode = Self("isUnicornMode", default: true)
}

@Observable
final class UnicornManager {
  @ObservationIgnored
  @StoredPreference(.hasUnicorn) var hasUnicorn
}

// ComingFromPrephirencesAndDefaults.md: Defaults, up to observation. Its types are in GuideTests+DefaultsTypes.swift.
extension GuideTests {
  @Test func `Defaults: a declared key is read and written`() throws {
    var names: [String] = []
    let quality = settings[.quality]
    settings[.quality] = 0.5
    settings[.quality] += 0.25
    if let nickname = settings[.nickname] { names.append(nickname) }

    #expect(quality == 0.8 && settings["quality"] == 0.75 && settings[.nickname] == nil && names.isEmpty)
  }

  @Test func `Defaults: keys are constants, in an extension or an enum of one's own`() {
    let brightness = settings[.brightness]
    let volume = settings[Keys.volume]

    #expect(brightness == 1 && volume == 0.5 && settings[Keys.device] == nil)
  }

  @Test func `Defaults: what keeps a store from its work is thrown`() throws {
    let quality = try settings.value(for: .quality)
    try settings.set(0.5, for: .quality)
    try settings.update(.quality) { $0 += 0.25 }

    #expect(quality == 0.8 && settings[.quality] == 0.75)
  }

  @Test func `Defaults: a default is computed at each read that finds nothing`() {
    #expect(settings[.camera] == "none")
    cameras.add("front")
    #expect(settings[.camera] == "front")
    #expect(settings.keys().isEmpty)
  }

  @Test func `Defaults: an enum and a Codable struct are values`() {
    let length = settings[.meetingLength].rawValue
    let name = settings[.user].name

    #expect(length == "1 Hour" && name == "Ann")
  }

  @Test func `Defaults: a key needs no extension`() {
    let isUnicorn = PreferenceKey("isUnicorn", default: true)
    let value = settings[isUnicorn]

    #expect(value)
  }

  @Test func `Defaults: a key is used with any store`() throws {
    let extensionSettings = DictionaryPreferences(["isUnicornMode": false])

    let value = extensionSettings[.isUnicornMode]
    let bound = StoredPreference(.isUnicornMode, in: extensionSettings)
    bound.value.toggle()

    #expect(!value && bound.value && extensionSettings["isUnicornMode"] == true)
    #expect(settings[.isUnicornMode])
  }

  @Test func `Defaults: a default for reads by name is a layer`() throws {
    let preferences = CompositePreferences([
      settings, DictionaryPreferences([PreferenceKey.isUnicornMode.name: true]),
    ])
    let byName = try preferences.bool(forKey: "isUnicornMode")

    #expect(byName == true)
    #expect(try settings.bool(forKey: "isUnicornMode") == nil)
  }

  @Test func `Defaults: keys are reset`() throws {
    settings[.quality] = 0.5
    settings[.isUnicornMode] = false

    try settings.reset(.isUnicornMode)
    try settings.reset(.quality, .isUnicornMode, .nickname)
    try settings.reset([.isUnicornMode, .hasUnicorn])
    try settings -= ["quality", "isUnicornMode"]
    let isDefault = try settings.isDefault(.isUnicornMode)
    try settings.removeAll()

    #expect(isDefault && settings.keys().isEmpty)
  }

  // MARK: In the place of SwiftUI

  @Test func `Defaults: a property is wrapped, reset and observed`() async throws {
    struct ContentSettings {
      @StoredPreference(.hasUnicorn) var hasUnicorn

      func reset() throws { try $hasUnicorn.reset() }
    }

    let registry = PreferencesRegistry()
    registry.share(settings)
    try await PreferencesRegistry.with(registry) {
      let content = ContentSettings()
      try await content.$hasUnicorn.set(true)
      #expect(settings["hasUnicorn"] == true)
      try content.reset()
      #expect(settings["hasUnicorn"] == nil)
      #expect(await content.$hasUnicorn.updates.first { _ in true } == false)
    }
  }

  @Test func `Defaults: a truth value is toggled, and its change notifies observers`() throws {
    let received = Received<Bool?>()
    let show: @Sendable (Bool?) -> Void = { received.add($0) }

    let allDay = settings.preference("showAllDayEvents", as: Bool.self)
      .onChange { old, new in show(new) }
    try allDay.toggle()

    #expect(received.all == [true] && settings["showAllDayEvents"] == true)
  }

  @Test func `Defaults: a wrapped property of an observable class is tracked`() {
    let registry = PreferencesRegistry()
    registry.share(settings)
    PreferencesRegistry.with(registry) {
      let manager = UnicornManager()
      let received = Received<String>()
      withObservationTracking {
        _ = manager.hasUnicorn
      } onChange: {
        received.add("changed")
      }
      settings[.hasUnicorn] = true
      #expect(received.all == ["changed"] && manager.hasUnicorn)
    }
  }

  // MARK: Observation

  @Test func `Defaults: the values of keys arrive as sequences`() async throws {
    let applied = Received<String>()
    let apply: @Sendable (Bool, Double) -> Void = { applied.add("\($0) \($1)") }

    let one = settings.updates(for: .isUnicornMode)
    let both = settings.updates(for: .isUnicornMode, .quality)
    let any = settings.updates(forKeys: ["isUnicornMode", "quality"], initial: false)
    let observation = settings.observe(keys: .isUnicornMode, .quality) { mode, quality in
      apply(mode, quality)
    }
    defer { observation.invalidate() }
    let seen = Received<Bool>()
    let show: @Sendable (Bool) -> Void = { seen.add($0) }
    #expect(applied.all.isEmpty)

    try await settings.set(false, for: .isUnicornMode)
    let task = Task {
      for await value in one {
        show(value)
        if !value { break }
      }
    }

    await task.value
    #expect(applied.all == ["false 0.8"])
    #expect(seen.all == [true, false])
    var pairs = both.makeAsyncIterator()
    #expect(await pairs.next()! == (true, 0.8))
    var changes = any.makeAsyncIterator()
    #expect(await changes.next() != nil)
  }

  @Test func `Defaults: a callback receives changes until it is invalidated`() throws {
    let received = Received<Bool?>()
    let show: @Sendable (Bool?) -> Void = { received.add($0) }
    let owner = Owner()

    let observer = settings.observe(.isUnicornMode, initial: true) { change in
      show(change.oldValue)
      show(change.newValue)
    }
    settings[.isUnicornMode] = false
    observer.tie(to: owner)
    observer.untie()
    observer.invalidate()

    settings[.isUnicornMode] = true
    #expect(received.all == [true, true, true, false])
  }

  @Test func `Defaults: a write is kept from observers`() {
    let received = Received<Int?>()
    let observer = settings.observe(.serverPort) { received.add($0.newValue) }

    withoutObservation {
      settings[.serverPort] = 11
    }
    settings[.serverPort] = 12

    observer.invalidate()
    #expect(received.all == [12])
  }
}
