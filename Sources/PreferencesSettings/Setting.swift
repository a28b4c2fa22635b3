public import Preferences

/// A preference with what a screen needs to show it: title, help, format, bounds and rules.
///
/// ```swift
/// let timeout = try Setting(
///   .timeout, in: settings, title: "Timeout", info: "How long to wait for an answer",
///   bounds: 1...60, step: 5, format: { "\($0) s" })
/// try timeout.increase()
/// print(try timeout.formattedValue)  // 35 s
/// ```
///
/// A setting holds no value: each read looks it up in the store. A value that breaks a rule of the setting, such as a
/// value outside its bounds, is never stored, and ``get()`` never returns it: setting it throws, and so does reading it
/// if another program has stored it. Only the default of a setting without bounds may break a rule: then a different
/// value has to be set.
public struct Setting<Value: Sendable>: AnySetting {
  /// The name, type and default of the preference.
  public let key: PreferenceKey<Value>
  /// The store that has the value.
  public let store: any PreferencesStore
  public var title: String
  public var info: String
  /// The rules for the value.
  public let rules: [Rule<Value>]
  private let choices: [SettingChoice]
  let format: @Sendable (Value) -> String
  var steps: Steps<Value>?
  private var isDeclaredHidden = false

  /// Creates a setting without bounds or choices. A flag is a switch, and any other value a line of text, which for a
  /// secret is never shown; arrays and dictionaries cannot be edited.
  ///
  /// - Parameters:
  ///   - rules: what a value must satisfy.
  ///   - format: returns the text for people to read; `nil` shows the text of the value. Not called for a secret.
  public init(
    _ key: PreferenceKey<Value>, in store: any PreferencesStore, title: String = "", info: String = "",
    rules: [Rule<Value>] = [], format: (@Sendable (Value) -> String)? = nil
  ) {
    self.init(key, in: store, title, info, rules, format)
  }

  /// Creates a setting of an optional value.
  ///
  /// - Parameters: as in the other initializers.
  public init<Wrapped>(
    _ key: PreferenceKey<Value>, in store: any PreferencesStore, title: String = "", info: String = "",
    rules: [Rule<Wrapped>], format: (@Sendable (Value) -> String)? = nil
  ) where Value == Wrapped? {
    self.init(key, in: store, title: title, info: info, rules: rules.map(\.optional), format: format)
  }

  /// Creates a setting whose value is one of `choices`.
  public init(
    _ key: PreferenceKey<Value>, in store: any PreferencesStore, title: String = "", info: String = "",
    choices: [Value], format: (@Sendable (Value) -> String)? = nil
  ) where Value: Equatable {
    self.init(key, in: store, title, info, [.oneOf(choices)], format, choices: choices)
  }

  /// Creates a setting whose value is a case of an enumeration.
  public init(
    _ key: PreferenceKey<Value>, in store: any PreferencesStore, title: String = "", info: String = "",
    format: (@Sendable (Value) -> String)? = nil
  ) where Value: CaseIterable & Equatable {
    self.init(key, in: store, title: title, info: info, choices: Array(Value.allCases), format: format)
  }

  init(
    _ key: PreferenceKey<Value>, in store: any PreferencesStore, _ title: String, _ info: String,
    _ rules: [Rule<Value>], _ format: (@Sendable (Value) -> String)?, choices: [Value] = [], steps: Steps<Value>? = nil
  ) {
    let format = format ?? { key.shown($0) }
    self.key = key
    self.store = store
    self.title = title
    self.info = info
    self.rules = rules
    self.choices = choices.map { SettingChoice(text: key.text(of: $0), title: format($0)) }
    self.format = format
    self.steps = steps
  }

  // MARK: The value

  /// Returns the value; the default if none is stored.
  ///
  /// - Throws: ``PreferencesError/Code/outOfRange`` if the stored value breaks a rule; as
  ///   `PreferencesReader.value(for:)`.
  public func get() throws -> Value {
    guard let stored = try store.storedValue(for: key) else { return key.defaultValue }
    try check(stored)
    return stored
  }

  /// The value. If it cannot be read, or breaks a rule, the error is reported to `PreferenceFailures`, and the default
  /// is returned; a change in place, such as `value += 1`, then writes nothing. Errors of setting it are reported, too,
  /// and a write that a layer above hides.
  public var value: Value {
    get {
      do { return try get() } catch {
        PreferenceFailures.report(error, key: key.name, reader: store.name)
        return key.defaultValue
      }
    }
    @available(*, noasync, message: "the property may block: await set(_:)")
    nonmutating set { PreferenceFailures.writing(key.name, in: store.name) { try set(newValue) } }
    nonmutating _modify {
      var change = ChangeInPlace(of: key.name, in: store.name, or: key.defaultValue) { try get() }
      defer { change.finish { value = $0 } }
      yield &change.value
    }
  }

  /// Stores `value`.
  ///
  /// - Returns: `WriteOutcome.shadowed(by:)` if a layer above still provides the value.
  /// - Throws: ``PreferencesError/Code/outOfRange`` if it breaks a rule; as `PreferencesStore.set(_:for:)`.
  @discardableResult
  public func set(_ value: Value) throws -> WriteOutcome {
    try check(value)
    return try store.set(value, for: key)
  }

  /// The asynchronous form of `set(_:)`; does not block the calling thread.
  @discardableResult
  public func set(_ value: Value) async throws -> WriteOutcome {
    try check(value)
    return try await store.set(value, for: key)
  }

  /// Replaces the value by the result of `change`. No concurrent change is lost.
  ///
  /// `change` gets the stored value, even if it breaks a rule, or the default. It runs with no lock held, and again if
  /// another write came first.
  /// - Returns: as ``set(_:)``.
  /// - Throws: ``PreferencesError/Code/outOfRange`` if the result breaks a rule; what `change` throws; as
  ///   `PreferencesStore.update(_:_:)`. The previous value is then intact.
  @discardableResult
  public func update(_ change: (inout Value) throws -> Void) throws -> WriteOutcome {
    try store.update(key) { value in
      try change(&value)
      try check(value)
    }
  }

  /// The asynchronous form of `update(_:)`; does not block the calling thread.
  @discardableResult
  public func update(_ change: (inout Value) throws -> Void) async throws -> WriteOutcome {
    try await store.update(key) { value in
      try change(&value)
      try check(value)
    }
  }

  @discardableResult
  public func reset() throws -> WriteOutcome { try store.reset(key) }

  @discardableResult
  public func reset() async throws -> WriteOutcome { try await store.reset(key) }

  // MARK: Observation

  /// Returns the value now, then the new value after each change that the store reports, including changes by other
  /// handles or processes. The setting need not be retained. A value that breaks a rule, or cannot be read, is reported
  /// to `PreferenceFailures` and left out.
  public func values() -> AsyncStream<Value> { .observing { observe(initial: true, $0) } }

  /// Calls `handler` with the new value after each change, while the observation is held or its owner is alive; as
  /// ``values()``, on the thread that made the change, with no lock held.
  public func didChange(_ handler: @escaping @Sendable (Value) -> Void) -> PreferenceObservation {
    observe(initial: false, handler)
  }

  private func observe(
    initial: Bool, _ handler: @escaping @Sendable (Value) -> Void
  ) -> PreferenceObservation {
    store.observe(key, initial: initial) { [self] change in
      do {
        // Only a default may break a rule, and `get` returns it only if nothing is stored.
        handler(problems(of: change.newValue).isEmpty ? change.newValue : try get())
      } catch { PreferenceFailures.report(error, key: name, reader: store.name) }
    }
  }

  // MARK: Rules

  private func check(_ value: Value) throws(PreferencesError) { try rules.check(value, of: key.name) }

  /// The messages of the rules that `value` breaks.
  func problems(of value: Value) -> [String] { rules.problems(of: value) }
}

// MARK: What a screen shows

extension Setting {
  public var name: String { key.name }

  /// Whether the value is written and never shown: always for a secret, and for a plain value if set to true.
  public var isHidden: Bool {
    get {
      if isDeclaredHidden || key.secrecy == .secret { return true }
      // No store has a value for a name that is not valid.
      do { return store.custody.secrecy(of: try key.query().name) == .secret } catch { return false }
    }
    set { isDeclaredHidden = newValue }
  }

  public var control: SettingControl {
    if key.kind == .array || key.kind == .dictionary { return .readOnly }
    if isHidden { return .secret }
    if !choices.isEmpty { return .choice(choices) }
    guard let steps else { return key.kind == .bool ? .toggle : .text }
    let (min, max, step) = (key.text(of: steps.min), key.text(of: steps.max), key.text(of: steps.step))
    return steps.isSlider ? .slider(min: min, max: max, step: step) : .stepper(min: min, max: max, step: step)
  }

  /// The text of `value` for people to read, as ``formattedValue`` has it; `<redacted>` for a hidden setting.
  ///
  /// It is what the parameter `format` of the initializers returns. Without that, it is the text that ``set(text:)``
  /// accepts, such as `true`, `0.5` or `2026-05-17T09:30:00Z`, in the same form for every user.
  public func format(value: Value) -> String { isHidden ? "<redacted>" : format(value) }

  public var formattedValue: String {
    get throws { isHidden ? redacted(try store.value(for: key.presence)) : format(try get()) }
  }

  public func formattedValues() -> AsyncStream<String> {
    .observing { yield in
      isHidden
        ? store.observe(key.presence, initial: true) { yield(redacted($0.newValue)) }
        : observe(initial: true) { [format] in yield(format($0)) }
    }
  }

  public var text: String { get throws { isHidden ? "" : key.text(of: try store.value(for: key)) } }

  public func problems(in text: String) -> [String] {
    if control == .text, SettingLines.hasSeveral(text) { return ["has several lines"] }
    do { return problems(of: try value(parsing: text)) } catch {
      return [error.code == .outOfRange ? "is not a possible value" : "is not \(key.kind.article)"]
    }
  }

  @discardableResult
  public func set(text: String) throws -> WriteOutcome { try set(try value(parsing: text)) }

  @discardableResult
  public func set(text: String) async throws -> WriteOutcome { try await set(try value(parsing: text)) }

  private func value(parsing text: String) throws(PreferencesError) -> Value {
    try key.value(parsing: text, from: control)
  }
}

private func redacted(_ isSet: Bool) -> String { isSet ? "<redacted>" : "" }

extension AsyncStream where Element: Sendable {
  /// Returns the elements that an observation yields. The stream ends the observation.
  fileprivate static func observing(
    _ begin: (_ yield: @escaping @Sendable (Element) -> Void) -> PreferenceObservation
  ) -> Self {
    let (stream, continuation) = makeStream()
    let observation = begin { continuation.yield($0) }
    continuation.onTermination = { _ in observation.invalidate() }
    return stream
  }
}

extension Setting: CustomStringConvertible, CustomReflectable {
  /// The names of the key and the store, without the value.
  public var description: String { escaped("setting \"\(name)\" in \(store.name)") }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
