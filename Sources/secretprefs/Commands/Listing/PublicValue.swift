internal import VaultCore

/// A value that is no secret, as lists show it.
struct PublicValue {
  /// The characters that a line of a list has of it.
  static let longestShort = 60

  let json: JSON
  private let text: String

  /// `nil` for bytes that are no text.
  init?(_ kind: ValueKind, _ bytes: UnsafeRawBufferPointer) {
    if let typed = ValueText(kind, bytes) {
      text = typed.text
      json = typed.json
    } else {
      guard kind.isText, let text = String(validating: bytes, as: UTF8.self) else { return nil }
      self.text = text
      json = .string(text)
    }
  }

  /// On one line, and not longer than a list needs.
  var short: String {
    let start = text.prefix(Self.longestShort)
    return displayed(String(start)) + (start.endIndex == text.endIndex ? "" : "\u{2026}")
  }
}
