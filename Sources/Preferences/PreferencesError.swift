/// Why a preference could not be read or written.
///
/// Match ``code``; ``message`` is for people. A message names the key, the layer or the file, on one line, and never
/// contains a value, so it can be logged anywhere.
public struct PreferencesError: Error, Sendable, CustomStringConvertible {
  /// A kind of failure. Later versions may add codes.
  public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    public var description: String { rawValue }

    /// The value has a different kind than requested, or its text does not parse as that kind.
    public static let typeMismatch = Self(rawValue: "typeMismatch")
    /// The value has the right kind, but the requested type cannot hold it exactly.
    public static let outOfRange = Self(rawValue: "outOfRange")
    /// The name breaks the rule of ``PreferenceName``.
    public static let invalidKey = Self(rawValue: "invalidKey")
    /// The value cannot be stored in the form that its key requires; nothing was written.
    public static let notStorable = Self(rawValue: "notStorable")
    /// A value that must be set is not; see ``PreferencesReader/required(_:)``.
    public static let absent = Self(rawValue: "absent")
    /// The content is larger or nested deeper than the documented limit.
    public static let limitExceeded = Self(rawValue: "limitExceeded")
    /// The content does not follow its format.
    public static let malformed = Self(rawValue: "malformed")
    /// A layer failed, which ended the lookup or the write; ``PreferencesError/cause`` is its error.
    public static let unavailable = Self(rawValue: "unavailable")
    /// A sealed layer of a composite does not declare which names it claims; see ``PreferencesReader/claiming(_:)``.
    public static let unclaimed = Self(rawValue: "unclaimed")
    /// Other writes came first in every attempt of an update, or a migration met a value that it may not replace, a
    /// later version or a composite. The value was not changed.
    public static let conflict = Self(rawValue: "conflict")
    /// The write is done, but a layer above still provides the value. This is never thrown: methods return
    /// ``WriteOutcome/shadowed(by:)``, and other writes report it to ``PreferenceFailures``.
    public static let shadowed = Self(rawValue: "shadowed")
    /// No layer accepts values of the key's secrecy.
    public static let noStore = Self(rawValue: "noStore")
  }

  /// The kind of failure.
  public let code: Code
  /// One line for people, without values. Control and bidirectional characters are escaped.
  public let message: String
  /// The underlying error. Its text may contain values: log it with care. The error of a secret has no such cause.
  public let cause: (any Error)?
  /// The message for a secret: without names that are part of the value, such as the keys of a dictionary.
  private let discreetMessage: String

  /// Creates an error; `message` must not contain a value.
  public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.init(code, message, discreetly: message, cause: cause)
  }

  private init(_ code: Code, _ message: String, discreetly discreet: String, cause: (any Error)?) {
    self.code = code
    self.message = escapedForDisplay(message)
    self.cause = cause
    discreetMessage = discreet == message ? self.message : escapedForDisplay(discreet)
  }

  /// The code and the message, without the cause.
  public var description: String { "\(code): \(message)" }
}

extension PreferencesError {
  static func mismatch(expected: PreferenceValue.Kind, found: PreferenceValue.Kind) -> PreferencesError {
    PreferencesError(.typeMismatch, "expected \(expected), found \(found)")
  }

  /// Returns the error that no layer of `name` accepts values of this secrecy.
  public static func noStore(in name: String, for secrecy: Secrecy) -> PreferencesError {
    PreferencesError(
      .noStore,
      secrecy == .secret
        ? "no sealed layer of \"\(name)\" can be written to" : "no layer of \"\(name)\" can be written to")
  }

  /// Returns the same error with `part` in front of the message.
  public func about(_ part: String) -> PreferencesError { about(part, discreetly: part) }

  /// As ``about(_:)``; for a secret, `discreet` is in front instead.
  package func about(_ part: String, discreetly discreet: String) -> PreferencesError {
    PreferencesError(code, "\(part): \(message)", discreetly: "\(discreet): \(discreetMessage)", cause: cause)
  }

  /// Returns the same error with the key in front of the message.
  public func about(key: String) -> PreferencesError {
    about("key \"\(key)\"")
  }
}

/// An error of this package, which can be thrown for a secret.
package protocol DiscreetError: Error {
  /// The same error without anything that may contain a part of a value.
  var withoutValues: Self { get }
}

extension PreferencesError: DiscreetError {
  package var withoutValues: PreferencesError {
    PreferencesError(code, discreetMessage, cause: (cause as? any DiscreetError)?.withoutValues)
  }
}

// `dump` and string interpolation show no cause, whose text may contain values.
extension PreferencesError: CustomDebugStringConvertible, CustomReflectable {
  public var debugDescription: String { description }
  /// The code and the message, without the cause.
  public var customMirror: Mirror { Mirror(self, children: ["code": code.rawValue, "message": message]) }
}
