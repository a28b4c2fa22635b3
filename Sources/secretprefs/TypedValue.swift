internal import VaultCore
internal import VaultSealing

/// A value with its kind, as it is stored.
struct TypedValue: ~Copyable {
  let kind: ValueKind
  let body: SecretBytes

  /// - Parameter text: The value as a user writes it.
  /// - Throws: ``ToolError`` if it is not a value of this kind.
  init(_ text: consuming SecretBytes, _ kind: ValueKind) throws {
    guard kind != .string, kind != .data else {
      self.kind = kind
      body = text
      return
    }
    let stored = try text.withSpan { (span) throws(VaultError) in try TypedText.kind(kind, of: span) }
    guard let stored, let made = try text.withSpan({ (span) throws(VaultError) in try TypedText.body(kind, span) })
    else { throw Self.refusal(of: "the value", kind) }
    self.kind = stored
    body = made
  }

  /// The error for text that is no value of a kind.
  static func refusal(of what: StaticString, _ kind: ValueKind, _ consequence: StaticString = "") -> ToolError {
    ToolError(
      VaultError(.typeMismatch, "\(what) is not of the kind \(kind.label)\(consequence)"), hint: Self.form(of: kind))
  }

  private static func form(of kind: ValueKind) -> String? {
    switch kind {
    case .bool: "true or false, yes or no, on or off, 1 or 0"
    case .integer: "a whole number of 64 bits in decimal"
    case .unsignedInteger: "a whole number in decimal from 0 to 18446744073709551615"
    case .double: "a number in decimal, such as 0.5 or 1e9"
    case .date: "a time such as 2027-01-31T12:00:00Z or 2027-01-31T12:00:00+01:00"
    case .json: "one JSON value, nested at most 64 deep"
    default: nil
    }
  }
}
