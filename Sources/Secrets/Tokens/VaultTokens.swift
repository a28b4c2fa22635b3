internal import Preferences
internal import VaultCore

/// A token in a vault: the tokens as JSON, and the mark as an attribute, so that a lease is taken and waited for
/// without opening the tokens.
struct VaultTokens: TokenStore {
  let key: String
  let preferences: SecretPreferences

  var name: String { preferences.name }
  var place: TokenIdentity { .vault(group: preferences.group.id, service: preferences.serviceName, key: key) }

  private func info() throws(VaultError) -> RecordInfo? {
    try preferences.vault.record(service: preferences.serviceName, key: key, in: preferences.group)
  }

  func version() throws(VaultError) -> TokenVersion? { try info().map(TokenVersion.record) }

  func find() throws(VaultError) -> TokenRecord? {
    // The revision before the value: a write in between changes the revision.
    guard let info = try info() else { return nil }
    guard let content = try preferences.guardedContent(forKey: key) else { return nil }
    return TokenRecord(tokens: try TokenText(content), mark: RefreshMark(in: info), version: .record(info))
  }

  func reading<R: Sendable>(_ body: @Sendable (Self) throws -> R) async throws -> R {
    try await preferences.reading { _ in try body(self) }
  }

  func store(
    _ tokens: TokenText, _ mark: RefreshMark?, over version: TokenVersion?
  ) async throws(VaultError) -> Bool {
    let info = version.flatMap(info(of:))
    let edit = try RefreshMark.edit(info, to: mark)
    return try await update { (batch) throws(VaultError) in
      try tokens.content.withBytes { (kind, body) throws(VaultError) in
        try batch.set(
          body, kind: kind, forKey: key, accessibility: preferences.accessibility, edit: edit,
          ifRevision: info?.revision ?? 0)
      }
    }
  }

  func write(_ mark: RefreshMark, to record: TokenRecord) async throws(VaultError) -> Bool {
    guard let info = info(of: record.version) else { return false }
    let edit = try RefreshMark.edit(info, to: mark)
    return try await update { (batch) throws(VaultError) in try batch.edit(key, edit, ifRevision: info.revision) }
  }

  func remove(_ record: TokenRecord) async throws(VaultError) -> Bool {
    guard let info = info(of: record.version) else { return false }
    return try await update { (batch) throws(VaultError) in try batch.remove(key, ifRevision: info.revision) }
  }

  private func info(of version: TokenVersion) -> RecordInfo? {
    if case .record(let info) = version { info } else { nil }
  }

  /// Changes the record. Nothing is kept of replaced and removed tokens, whatever the preferences keep: the server has
  /// replaced them, too.
  private func update(_ fill: (inout Vault.Transaction) throws(VaultError) -> Void) async throws(VaultError) -> Bool {
    do throws(VaultError) {
      try await preferences.vault.transaction(service: preferences.serviceName, in: preferences.group) {
        (batch) throws(VaultError) in
        batch.keeping = .nothing
        try fill(&batch)
      }
      return true
    } catch {
      guard error.code == .conflict else { throw error }
      return false
    }
  }
}
