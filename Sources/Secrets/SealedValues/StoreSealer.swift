internal import Preferences
internal import VaultCore

/// The values of one store that are sealed as text: their sealer, and the name of the store in their contexts
/// (`Docs/Format.md` annex C).
struct StoreSealer: Sendable {
  let sealer: ValueSealer
  let store: Vault.Name

  init(_ sealer: ValueSealer, store: String) throws(VaultError) {
    self.store = try Vault.Name(store)
    self.sealer = sealer
  }

  /// `LP16(store) ‖ key`, so that a text opens only under its own key in its own store.
  private func context(_ key: String) throws(VaultError) -> [UInt8] {
    let length = store.utf8.count
    return [UInt8(length & 0xFF), UInt8(length >> 8)] + store.utf8 + (try Vault.Name(key)).utf8
  }

  /// Returns the text to store in a plain store.
  func seal(_ value: RawSpan, _ kind: ValueKind, for key: String) throws(VaultError) -> String {
    let context = try context(key)
    return try sealer.seal(value, kind: kind, context: context.span.bytes)
  }

  func seal(_ content: PreferenceContent, for key: String) throws -> PreferenceValue {
    var text = ""
    if case .guarded(let guarded) = content, let guarded = guarded as? GuardedContent {
      try guarded.withBytes { (kind, bytes) throws(VaultError) in text = try seal(bytes, kind, for: key) }
    } else {
      try SecretCoding.withEncoded(try content.value()) { (kind, bytes) throws(VaultError) in
        text = try seal(bytes, kind, for: key)
      }
    }
    return .string(text)
  }

  /// Seals a text of `key` again; `nil` if it opens with the present sealing key.
  func resealed(_ stored: PreferenceValue, for key: String) throws(VaultError) -> PreferenceValue? {
    let context = try context(key)
    return try sealer.resealed(try text(stored), context: context.span.bytes).map(PreferenceValue.string)
  }

  /// Whether a plain store's value has the form of a sealed value, which may still not open.
  static func isSealed(_ stored: PreferenceValue) -> Bool {
    if case .string(let text) = stored { ValueSealer.isSealed(text) } else { false }
  }

  private func text(_ stored: PreferenceValue) throws(VaultError) -> String {
    guard case .string(let text) = stored else {
      throw VaultError(.malformed, "a plain value, where a sealed one is expected")
    }
    return text
  }

  /// Opens the sealed text that a plain store has under `key`.
  ///
  /// - Throws: ``VaultError/Code/malformed`` if it is not a sealed value.
  func withOpened<R>(
    _ stored: PreferenceValue, for key: String, _ body: (ValueKind, RawSpan) -> R
  ) throws(VaultError) -> R {
    let text = try text(stored)
    let context = try context(key)
    return try sealer.withOpened(text, context: context.span.bytes, body)
  }

  func open(_ stored: PreferenceValue, for key: String) throws(VaultError) -> GuardedContent {
    try withOpened(stored, for: key) { kind, bytes in
      Result { () throws(VaultError) in try GuardedContent(opened: kind, bytes) }
    }.get()
  }
}
