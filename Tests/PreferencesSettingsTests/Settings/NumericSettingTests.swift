import PreferencesSettings
import Preferences
import Testing

/// Bounds and steps.
struct NumericSettingTests {
  let store = DictionaryPreferences()

  // MARK: The rule for values beyond the bounds

  @Test func `item 88: a number beyond the bounds is neither stored nor returned`() async throws {
    let setting = try cats(in: store)
    #expect(setting.isNumeric)
    for number in [-1, 14, Int.min, Int.max] {
      #expect(preferencesError { try setting.set(number) }?.code == .outOfRange)
      #expect(await preferencesError { try await setting.set(number) }?.code == .outOfRange)
      #expect(store["cats"] == nil)
      try await store.set(number, forKey: "cats")
      #expect(preferencesError { _ = try setting.get() }?.code == .outOfRange)
      #expect(preferencesError { _ = try setting.formattedValue }?.code == .outOfRange)
      #expect(reporting { setting.value } == (1, ["cats"]))
      try await setting.reset()
    }
    try await setting.set(13)
    #expect(try setting.get() == 13)
  }

  @Test func `item 88: a default beyond the bounds is refused`() {
    #expect(preferencesError { _ = try Setting(.cats, in: store, bounds: 2...13) }?.code == .outOfRange)
    let nan = PreferenceKey("volume", default: Double.nan)
    #expect(preferencesError { _ = try Setting(nan, in: store, bounds: 0...1) }?.code == .outOfRange)
  }

  @Test func `item 89: a step must be positive`() throws {
    for step in [0, -1] { #expect(preferencesError { _ = try cats(in: store, step: step) }?.code == .outOfRange) }
    let volume = PreferenceKey("volume", default: 0.5)
    for step in [0, -0.1, .nan, -.infinity] {
      #expect(preferencesError { _ = try Setting(volume, in: store, bounds: 0...1, step: step) }?.code == .outOfRange)
      let setting = try Setting(volume, in: store, bounds: 0...1, step: 0.1)
      #expect(preferencesError { _ = try setting.stepping(by: step) }?.code == .outOfRange)
    }
  }

  // MARK: Steps

  @Test func `item 89: stepping lands on the bound and stops`() async throws {
    let setting = try cats(in: store, step: 5)
    var seen: [Int] = []
    for _ in 0..<4 {
      _ = try { try setting.increase() }()
      seen.append(try setting.get())
    }
    for _ in 0..<4 {
      try await setting.decrease()
      seen.append(try setting.get())
    }
    #expect(seen == [6, 11, 13, 13, 8, 3, 0, 0])
  }

  @Test func `item 89: stepping from beyond a bound lands on this bound`() throws {
    let setting = try cats(in: store, step: 5)
    for (stored, bound) in [(99, 13), (14, 13), (-1, 0), (Int.min, 0), (Int.max, 13)] {
      for step in [{ try setting.increase() }, { try setting.decrease() }] {
        try store.set(stored, forKey: "cats")
        _ = try step()
        #expect(try setting.get() == bound)
      }
    }
  }

  @Test func `item 89: stepping does not overflow at the limits of the type`() throws {
    let whole = try Setting(PreferenceKey("n", default: 0), in: store, bounds: .min ... .max, step: .max)
    for _ in 0..<3 { try whole.increase() }
    #expect(try whole.get() == .max)
    for _ in 0..<4 { try whole.decrease() }
    #expect(try whole.get() == .min)

    let byte = try Setting(PreferenceKey("b", default: UInt8(250)), in: store, bounds: 3...255, step: 10)
    try byte.increase()
    #expect(try byte.get() == 255)
    try byte.stepping(by: 253).decrease()
    #expect(try byte.get() == 3)
  }

  @Test func `bounds may be negative`() throws {
    let setting = try Setting(PreferenceKey("n", default: -5), in: store, bounds: -7 ... -2, step: 2)
    try setting.decrease()
    #expect(try setting.isAtMin)
    for _ in 0..<4 { try setting.increase() }
    #expect(try setting.get() == -2)
  }

  @Test func `steps of a tenth add up`() throws {
    let setting = try Setting(PreferenceKey("volume", default: 0.0), in: store, bounds: 0...1, step: 0.1)
    var seen: [Double] = []
    while try !setting.isAtMax {
      try setting.increase()
      seen.append(try setting.get())
    }
    #expect(seen == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1])
    let float = try Setting(PreferenceKey("float", default: Float(0.2)), in: store, bounds: 0...1, step: 0.1)
    try float.increase()
    #expect(try float.get() == 0.3)
  }

  @Test func `steps go on where a decimal ends`() throws {
    let setting = try Setting(
      PreferenceKey("n", default: 1e300), in: store, bounds: -.greatestFiniteMagnitude ... .infinity, step: 1e308)
    for _ in 0..<3 { try setting.increase() }
    #expect(try setting.get() == .infinity)
    try setting.decrease()
    #expect(try setting.get() == .infinity)
  }

  @Test func `what is not a finite number lands on a bound`() throws {
    let setting = try Setting(PreferenceKey("volume", default: 0.5), in: store, bounds: 0...1, step: 0.1)
    for (stored, bound) in [(Double.nan, 0.0), (.infinity, 1), (-.infinity, 0), (-0.1, 0)] {
      try store.set(stored, forKey: "volume")
      #expect(preferencesError { _ = try setting.get() }?.code == .outOfRange)
      try setting.increase()
      #expect(try setting.get() == bound)
    }
  }

  @Test func `item 89: the step can be changed`() throws {
    let setting = try cats(in: store)
    try setting.stepping(by: 4).increase()
    #expect(try setting.get() == 5)
    #expect(setting.step == 1)
    #expect(try setting.stepping(by: 4).control == .stepper(min: "0", max: "13", step: "4"))
  }

  @Test func `item 89: the step is set, and one that is not positive changes nothing and is reported`() throws {
    var setting = try cats(in: store)
    setting.step = 4
    #expect(setting.step == 4)
    for step in [0, -1] { #expect(reporting { setting.step = step }.keys == ["cats"]) }
    #expect(reporting { setting.step = nil }.keys == [])
    try setting.increase()
    #expect(try setting.get() == 5)
    var plain = Setting(.cats, in: store)
    plain.step = 4
    #expect(plain.step == nil)
  }

  @Test func `a step that breaks another rule changes nothing`() async throws {
    let even = Rule<Int>("must be even") { $0.isMultiple(of: 2) }
    let setting = try Setting(PreferenceKey("n", default: 2), in: store, bounds: 0...9, rules: [even])
    #expect(preferencesError { try setting.increase() }?.code == .outOfRange)
    #expect(await preferencesError { try await setting.decrease() }?.code == .outOfRange)
    #expect(store["n"] == nil)
  }

  @Test func `no step of many at once is lost`() async throws {
    let setting = try Setting(PreferenceKey("n", default: 0), in: store, bounds: 0...1000)
    try await withThrowingTaskGroup { group in
      for _ in 0..<50 { group.addTask { try await setting.increase() } }
      try await group.waitForAll()
    }
    #expect(try setting.get() == 50)
  }

  // MARK: At the bounds

  @Test(arguments: [
    (-1, true, false), (0, true, false), (1, false, false), (12, false, false), (13, false, true), (14, false, true),
  ])
  func `item 90: a number is at a bound, beyond it, or at none`(_ number: Int, _ isAtMin: Bool, _ isAtMax: Bool) throws
  {
    try store.set(number, forKey: "cats")
    #expect(try cats(in: store).isAtMin == isAtMin)
    #expect(try cats(in: store).isAtMax == isAtMax)
  }

  @Test func `a number at its bound is not written again`() throws {
    let setting = try Setting(PreferenceKey("n", default: 9), in: store, bounds: 0...9)
    try setting.increase()
    #expect(store["n"] == nil)
  }

  @Test func `a slider is a stepper whose exact number does not matter`() throws {
    let setting = try Setting(PreferenceKey("v", default: 0.5), in: store, bounds: 0...1, step: 0.1, isSlider: true)
    #expect(setting.control == .slider(min: "0.0", max: "1.0", step: "0.1"))
  }
}
