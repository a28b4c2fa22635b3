import Preferences

/// A rule for the value of a setting or a field, with the message for a value that breaks it.
///
/// ```swift
/// let rules: [Rule<String>] = [.notBlank, .length(...64), Rule("must not contain spaces") { !$0.contains(" ") }]
/// ```
///
/// A rule has no state: any number of settings and fields can share it.
public struct Rule<Value: Sendable>: Sendable {
  /// What is wrong with a value that breaks the rule, such as `must be between 1 and 13`. Contains no value.
  public let message: String
  /// Whether a missing value satisfies the rule.
  public let allowsNil: Bool
  private let check: @Sendable (Value) -> [String]

  /// Creates a rule from a condition.
  public init(
    _ message: String = "is invalid", allowsNil: Bool = true, _ isMet: @escaping @Sendable (Value) -> Bool
  ) {
    self.init(message, allowsNil: allowsNil) { isMet($0) ? [] : [message] }
  }

  /// Creates a rule with messages that depend on the value.
  init(_ message: String, allowsNil: Bool = true, problems: @escaping @Sendable (Value) -> [String]) {
    self.message = message
    self.allowsNil = allowsNil
    check = problems
  }

  /// Whether `value` satisfies the rule.
  public func isMet(by value: Value?) -> Bool { problems(of: value).isEmpty }

  /// Returns what is wrong with `value`; empty if it satisfies the rule.
  public func problems(of value: Value?) -> [String] { value.map(check) ?? (allowsNil ? [] : [message]) }
}

extension Rule {
  /// The value must not be missing.
  public static var notNil: Rule { Rule("must be set", allowsNil: false) { _ in true } }

  /// The value must be one of `choices`.
  public static func oneOf(_ choices: [Value]) -> Rule where Value: Equatable {
    Rule("must be one of the choices") { choices.contains($0) }
  }

  /// Each element of an array must satisfy `rules`. The messages name the position, such as
  /// `element 2 must not be blank`; the first element has position 0.
  public static func each<Element: Sendable>(_ rules: [Rule<Element>]) -> Rule where Value == [Element] {
    Rule("has an element that breaks a rule") { elements in
      elements.enumerated().flatMap { position, element in
        rules.problems(of: element).map { "element \(position) \($0)" }
      }
    }
  }

  /// The result of `transform` must satisfy `rule`.
  public static func mapped<Other>(
    by transform: @escaping @Sendable (Value) -> Other?, _ rule: Rule<Other>
  ) -> Rule {
    Rule(rule.message, allowsNil: rule.allowsNil) { rule.isMet(by: transform($0)) }
  }

  /// The same rule for an optional value.
  var optional: Rule<Value?> { Rule<Value?>(message, allowsNil: allowsNil) { isMet(by: $0) } }
}

extension Rule where Value: Comparable {
  /// The value must be in `range`, both bounds included.
  public static func range(_ range: ClosedRange<Value>) -> Rule {
    Rule("must be between \(range.lowerBound) and \(range.upperBound)") { range.contains($0) }
  }

  /// The value must be in `range`, its bound included.
  public static func range(_ range: PartialRangeFrom<Value>) -> Rule {
    Rule("must be at least \(range.lowerBound)") { range.contains($0) }
  }

  /// The value must be in `range`, its bound included.
  public static func range(_ range: PartialRangeThrough<Value>) -> Rule {
    Rule("must be at most \(range.upperBound)") { range.contains($0) }
  }
}

extension Rule where Value: Collection {
  /// The length must be in `range`, both bounds included: characters of text, elements of an array, bytes of data.
  public static func length(_ range: ClosedRange<Int>) -> Rule {
    Rule("must have \(range.lowerBound) to \(range.upperBound) \(unit)") { range.contains($0.count) }
  }

  /// The length must be in `range`, its bound included.
  public static func length(_ range: PartialRangeFrom<Int>) -> Rule {
    Rule("must have at least \(range.lowerBound) \(unit)") { range.contains($0.count) }
  }

  /// The length must be in `range`, its bound included.
  public static func length(_ range: PartialRangeThrough<Int>) -> Rule {
    Rule("must have at most \(range.upperBound) \(unit)") { range.contains($0.count) }
  }

  private static var unit: String {
    Value.Element.self == Character.self ? "characters" : Value.Element.self == UInt8.self ? "bytes" : "elements"
  }
}

extension Rule where Value: StringProtocol {
  /// The value must be set and have a character that is not white space.
  public static var notBlank: Rule {
    Rule("must not be blank", allowsNil: false) { !$0.allSatisfy(\.isWhitespace) }
  }

  /// The whole value must match a regular expression, which is evaluated at each check.
  public static func matching(
    _ expression: @escaping @autoclosure @Sendable () -> some RegexComponent & SendableMetatype,
    _ message: String = "has the wrong form"
  ) -> Rule {
    Rule(message) { value in
      do { return try expression().regex.wholeMatch(in: String(value)) != nil } catch { return false }
    }
  }
}

extension Array {
  /// Returns what is wrong with `value`, in the order of the rules; empty if it satisfies all of them.
  func problems<Value>(of value: Value?) -> [String] where Element == Rule<Value> {
    flatMap { $0.problems(of: value) }
  }

  /// Throws if `value`, of the key `name`, breaks a rule. The message does not contain the value.
  func check<Value>(_ value: Value?, of name: String) throws(PreferencesError) where Element == Rule<Value> {
    let problems = problems(of: value)
    guard !problems.isEmpty else { return }
    throw PreferencesError(.outOfRange, "the value \(problems.joined(separator: " and "))").about(key: name)
  }
}
