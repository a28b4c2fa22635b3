public import Preferences

/// A setting as a screen or a page shows it, whatever the type of its value.
///
/// ```swift
/// for setting in group.settings {
///   print(setting.title, try setting.formattedValue)
/// }
/// ```
///
/// These members never return a secret. A value of a sealed store, or of a name that a sealed layer claims, is a
/// secret, too.
public protocol AnySetting: Sendable {
  /// The name of the preference.
  var name: String { get }
  /// The title in a list; empty unless given.
  var title: String { get }
  /// What the setting is for, in a sentence; empty unless given.
  var info: String { get }
  /// Whether the value is written and never shown, whatever its ``control``; `true` for ``SettingControl/secret``.
  var isHidden: Bool { get }
  /// The control that fits the value.
  var control: SettingControl { get }

  /// The value for people to read; `<redacted>` for a secret, and empty for a value that is not set.
  ///
  /// - Throws: as ``Setting/get()``.
  var formattedValue: String { get throws }
  /// Returns the formatted value now, then the new value after each change that the store reports, including changes by
  /// other handles or processes. The setting need not be retained. A value that cannot be read is reported to
  /// `PreferenceFailures` and left out.
  func formattedValues() -> AsyncStream<String>

  /// The value for people to edit: text that ``set(text:)`` accepts. Empty for a secret, for a value that is
  /// not set, and for arrays and dictionaries.
  ///
  /// - Throws: as ``Setting/get()``, but returns a stored value that breaks a rule.
  var text: String { get throws }
  /// Returns what is wrong with `text`, in the order of the rules; empty if it can be set.
  func problems(in text: String) -> [String]
  /// Stores the value that `text` describes; empty text removes the value of an optional setting whose default is
  /// `nil`. The text of a secret is in ordinary memory, which cannot be wiped.
  ///
  /// - Returns: `WriteOutcome.shadowed(by:)` if a layer above still provides the value. Show it: the new value has no
  ///   effect. The other methods that write return the same.
  /// - Throws: ``PreferencesError/Code/typeMismatch`` if `text` does not parse, ``PreferencesError/Code/outOfRange`` if
  ///   it is not a possible value, breaks a rule, is empty for a secret, or has several lines for
  ///   ``SettingControl/text``, all with nothing changed; any error of the store.
  @discardableResult
  func set(text: String) throws -> WriteOutcome
  /// The asynchronous form of `set(text:)`; does not block the calling thread.
  @discardableResult
  func set(text: String) async throws -> WriteOutcome

  /// Whether the value has bounds and a step.
  var isNumeric: Bool { get }
  /// Whether the value is the lower bound or below it; false if it has no bounds or is hidden.
  var isAtMin: Bool { get throws }
  /// Whether the value is the upper bound or above it; false if it has no bounds or is hidden.
  var isAtMax: Bool { get throws }
  /// Adds a step, and stops at the upper bound; does nothing if the value has no bounds. No concurrent change is lost.
  ///
  /// A stored value beyond a bound becomes that bound; NaN becomes the lower bound.
  /// - Throws: ``PreferencesError/Code/outOfRange`` if the new value breaks a rule; any error of the store.
  @discardableResult
  func increase() throws -> WriteOutcome
  /// The asynchronous form of `increase()`; does not block the calling thread.
  @discardableResult
  func increase() async throws -> WriteOutcome
  /// Subtracts a step, and stops at the lower bound; otherwise as ``increase()``.
  @discardableResult
  func decrease() throws -> WriteOutcome
  /// The asynchronous form of `decrease()`; does not block the calling thread.
  @discardableResult
  func decrease() async throws -> WriteOutcome

  /// Removes the stored value, so that the setting reads as its default.
  @discardableResult
  func reset() throws -> WriteOutcome
  /// The asynchronous form of `reset()`; does not block the calling thread.
  @discardableResult
  func reset() async throws -> WriteOutcome
}

/// The control that a screen draws for a setting. All texts are as in ``AnySetting/text``.
public enum SettingControl: Sendable, Hashable {
  /// A switch: the texts are `true` and `false`, and empty for an optional flag that is not set.
  case toggle
  /// A number field with buttons that subtract and add a step.
  case stepper(min: String, max: String, step: String)
  /// A slider; for a range in which the exact number does not matter.
  case slider(min: String, max: String, step: String)
  /// One of several values.
  case choice([SettingChoice])
  /// A line of text, without line breaks of any kind.
  case text
  /// A line of text that is written and never shown. Empty text is refused: ``AnySetting/reset()`` removes the value.
  case secret
  /// The formatted value, which cannot be edited as text: an array or a dictionary, which may be hidden.
  case readOnly
}

/// A value that a person can choose.
public struct SettingChoice: Sendable, Hashable {
  /// The text to set.
  public let text: String
  /// The text to show.
  public let title: String

  /// Creates a choice.
  public init(text: String, title: String) {
    self.text = text
    self.title = title
  }
}

/// Settings under one title.
public struct SettingGroup: Sendable {
  /// The title; may be empty.
  public var title: String
  /// The settings, in the order in which they are shown.
  public var settings: [any AnySetting]

  /// Creates a group.
  public init(_ title: String, _ settings: [any AnySetting]) {
    self.title = title
    self.settings = settings
  }

  /// Returns the setting of the preference `name`.
  public subscript(name: String) -> (any AnySetting)? { settings.first { $0.name == name } }
}

extension SettingGroup: CustomStringConvertible, CustomReflectable {
  /// The title and the names, without the values.
  public var description: String {
    escaped("settings \"\(title)\": \(settings.map(\.name).joined(separator: ", "))")
  }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
