internal import Preferences
internal import VaultCore
internal import VaultSealing

/// A token in a store that is no vault: one secret text, the JSON of the tokens with the mark as a member, which is
/// compared and set as a whole.
struct StoreTokens: TokenStore {
  let key: String
  let store: any PreferencesStore

  var name: String { store.name }
  var place: TokenIdentity { .store(store.identity, key: key) }

  func version() throws -> TokenVersion? { try content().map(TokenVersion.content) }

  private func content() throws -> PreferenceContent? {
    try store.content(for: PreferenceQuery(key, as: .string, secrecy: .secret))
  }

  func find() throws -> TokenRecord? {
    guard let content = try content() else { return nil }
    let text = try TokenText(try guarded(content), storedAs: .string)
    return TokenRecord(tokens: try text.withoutMark(), mark: text.mark, version: .content(content))
  }

  func reading<R: Sendable>(_ body: @Sendable (Self) throws -> R) async throws -> R {
    try await store.reading { _ in try body(self) }
  }

  private func guarded(_ content: PreferenceContent) throws -> GuardedContent {
    if case .guarded(let guarded as GuardedContent) = content { return guarded }
    return try GuardedContent.copying(try content.value())
  }

  func store(_ tokens: TokenText, _ mark: RefreshMark?, over version: TokenVersion?) async throws -> Bool {
    try await set(.guarded(try tokens.with(mark)), over: version)
  }

  func write(_ mark: RefreshMark, to record: TokenRecord) async throws -> Bool {
    try await store(record.tokens, mark, over: record.version)
  }

  func remove(_ record: TokenRecord) async throws -> Bool { try await set(nil, over: record.version) }

  private func set(_ content: PreferenceContent?, over version: TokenVersion?) async throws -> Bool {
    let old: PreferenceContent? = if case .content(let content) = version { content } else { nil }
    let edit = PreferenceEdits.Edit(try PreferenceName(key), to: content, secrecy: .secret, if: .ifStored(old))
    switch try await store.edit(PreferenceEdits([edit])) {
    case .conflict: return false
    case .visible: return true
    case .shadowed(let layer):
      throw PreferencesError(.unavailable, "the tokens are stored, but hidden by the layer \"\(layer)\"")
    }
  }
}
