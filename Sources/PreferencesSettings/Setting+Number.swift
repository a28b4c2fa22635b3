import FoundationEssentials
public import Preferences

extension Setting {
  /// Creates a setting of a whole number with bounds and a step.
  ///
  /// - Parameters:
  ///   - bounds: the smallest and the largest value.
  ///   - step: what ``increase()`` adds.
  ///   - isSlider: whether the exact number does not matter, so that a slider is the better control.
  ///   - rules: additional rules for the value.
  ///   - format: returns the text for people to read; `nil` shows the number.
  /// - Throws: ``PreferencesError/Code/outOfRange`` if the default is out of bounds or the step is not positive.
  public init(
    _ key: PreferenceKey<Value>, in store: any PreferencesStore, title: String = "", info: String = "",
    bounds: ClosedRange<Value>, step: Value = 1, isSlider: Bool = false, rules: [Rule<Value>] = [],
    format: (@Sendable (Value) -> String)? = nil
  ) throws(PreferencesError) where Value: FixedWidthInteger {
    let steps = Steps(bounds: bounds, step: step, isSlider: isSlider) { value, step, isUp in
      let (next, overflows) = isUp ? value.addingReportingOverflow(step) : value.subtractingReportingOverflow(step)
      return overflows ? (isUp ? .max : .min) : next
    }
    try self.init(key, in: store, title, info, [.range(bounds)] + rules, format, steps)
  }

  /// Creates a setting of a number with bounds and a step.
  ///
  /// - Parameters: as in the initializer for whole numbers.
  /// - Throws: ``PreferencesError/Code/outOfRange`` if the default is out of bounds or the step is not positive.
  public init(
    _ key: PreferenceKey<Value>, in store: any PreferencesStore, title: String = "", info: String = "",
    bounds: ClosedRange<Value>, step: Value = 1, isSlider: Bool = false, rules: [Rule<Value>] = [],
    format: (@Sendable (Value) -> String)? = nil
  ) throws(PreferencesError) where Value: BinaryFloatingPoint {
    let steps = Steps(bounds: bounds, step: step, isSlider: isSlider) { value, step, isUp in
      decimalSum("\(value)", "\(step)", isUp).map(Value.init) ?? (isUp ? value + step : value - step)
    }
    try self.init(key, in: store, title, info, [.range(bounds)] + rules, format, steps)
  }

  private init(
    _ key: PreferenceKey<Value>, in store: any PreferencesStore, _ title: String, _ info: String,
    _ rules: [Rule<Value>], _ format: (@Sendable (Value) -> String)?, _ steps: Steps<Value>
  ) throws(PreferencesError) {
    self.init(key, in: store, title, info, rules, format, steps: try steps.checked(key: key.name))
    guard problems(of: key.defaultValue).isEmpty else {
      throw PreferencesError(.outOfRange, "the default breaks a rule").about(key: key.name)
    }
  }

  // MARK: Stepping

  public var isNumeric: Bool { steps != nil }
  public var isAtMin: Bool { get throws { try shownSteps.map { $0.isAtMin(try store.value(for: key)) } ?? false } }
  public var isAtMax: Bool { get throws { try shownSteps.map { $0.isAtMax(try store.value(for: key)) } ?? false } }
  /// The steps of a value that is shown: where a hidden one is between its bounds is hidden, too.
  private var shownSteps: Steps<Value>? { isHidden ? nil : steps }

  /// The smallest value; nil for a value without bounds.
  public var min: Value? { steps?.min }
  /// The largest value; nil for a value without bounds.
  public var max: Value? { steps?.max }
  /// What ``increase()`` adds; nil for a value without bounds, for which setting it changes nothing. A step that is
  /// not positive is reported to `PreferenceFailures` and changes nothing; ``stepping(by:)`` throws instead.
  public var step: Value? {
    get { steps?.step }
    set {
      guard let newValue else { return }
      do { self = try stepping(by: newValue) } catch {
        PreferenceFailures.report(error, key: key.name, reader: store.name)
      }
    }
  }

  /// Returns the setting with a different step; unchanged if it has no bounds.
  ///
  /// - Throws: ``PreferencesError/Code/outOfRange`` if `step` is not positive.
  public func stepping(by step: Value) throws(PreferencesError) -> Self {
    var setting = self
    setting.steps = try steps?.with(step: step, key: key.name)
    return setting
  }

  @discardableResult
  public func increase() throws -> WriteOutcome { try move(isUp: true) }
  @discardableResult
  public func increase() async throws -> WriteOutcome { try await move(isUp: true) }
  @discardableResult
  public func decrease() throws -> WriteOutcome { try move(isUp: false) }
  @discardableResult
  public func decrease() async throws -> WriteOutcome { try await move(isUp: false) }

  private func move(isUp: Bool) throws -> WriteOutcome {
    guard let steps = try applicableSteps(isUp) else { return .visible }
    return try update { $0 = steps.next(after: $0, isUp: isUp) ?? $0 }
  }

  private func move(isUp: Bool) async throws -> WriteOutcome {
    guard let steps = try await store.reading({ _ in try applicableSteps(isUp) }) else { return .visible }
    return try await update { $0 = steps.next(after: $0, isUp: isUp) ?? $0 }
  }

  /// Nil if a step changes nothing, so that nothing is written.
  private func applicableSteps(_ isUp: Bool) throws -> Steps<Value>? {
    guard let steps, steps.next(after: try store.value(for: key), isUp: isUp) != nil else { return nil }
    return steps
  }
}

/// Adds decimal numbers, so that three steps of 0.1 are 0.3. `nil` for numbers that are not finite, or have more digits
/// than a `Decimal`.
private func decimalSum(_ value: String, _ step: String, _ isUp: Bool) -> Double? {
  guard let value = Decimal(string: value), let step = Decimal(string: step) else { return nil }
  return Double("\(isUp ? value + step : value - step)")
}
