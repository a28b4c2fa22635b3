import Preferences

/// The bounds and the step of a number.
struct Steps<Value: Sendable>: Sendable {
  let min: Value
  let max: Value
  private(set) var step: Value
  let isSlider: Bool
  /// Whether a number is at the bound or beyond it.
  let isAtMin: @Sendable (Value) -> Bool
  let isAtMax: @Sendable (Value) -> Bool
  private let isPositive: @Sendable (Value) -> Bool
  private let move: @Sendable (Value, _ step: Value, _ isUp: Bool) -> Value?

  init(
    bounds: ClosedRange<Value>, step: Value, isSlider: Bool,
    sum: @escaping @Sendable (Value, _ step: Value, _ isUp: Bool) -> Value
  ) where Value: Comparable & Numeric {
    let (min, max) = (bounds.lowerBound, bounds.upperBound)
    self.min = min
    self.max = max
    self.step = step
    self.isSlider = isSlider
    isAtMin = { $0 <= min }
    isAtMax = { $0 >= max }
    isPositive = { $0 > .zero }
    move = { value, step, isUp in
      // NaN is not in the bounds, and not above them.
      guard bounds.contains(value) else { return value > max ? max : min }
      return value == (isUp ? max : min) ? nil : Swift.min(Swift.max(sum(value, step, isUp), min), max)
    }
  }

  /// - Throws: ``PreferencesError/Code/outOfRange`` if the step is not positive, or not a number.
  func checked(key: String) throws(PreferencesError) -> Self {
    guard isPositive(step) else { throw PreferencesError(.outOfRange, "the step is not positive").about(key: key) }
    return self
  }

  /// The same bounds with a different step.
  func with(step: Value, key: String) throws(PreferencesError) -> Self {
    var steps = self
    steps.step = step
    return try steps.checked(key: key)
  }

  /// Returns the number one step further, or the bound that it would pass; for a number beyond a bound, that bound.
  /// Nil if there is no further number.
  func next(after value: Value, isUp: Bool) -> Value? { move(value, step, isUp) }
}
