internal import FoundationEssentials
internal import VaultCore

// The record: the tokens as JSON, and the mark as an attribute.
extension RefreshingToken {
  struct TokenRecord: Sendable {
    let info: RecordInfo
    let tokens: TokenText
    var mark: RefreshMark? { RefreshMark(in: info) }

    func hasSameTokens(as other: TokenText) -> Bool { tokens.content.isEqual(to: other.content) }
  }

  var now: Int64 { options.now().milliseconds }

  func info() throws(VaultError) -> RecordInfo? {
    try preferences.vault.record(service: preferences.serviceName, key: key, in: preferences.group)
  }

  func find() throws(VaultError) -> TokenRecord? {
    // The revision before the value: a write in between changes the revision.
    guard let info = try info() else { return nil }
    guard let content = try preferences.guardedContent(forKey: key) else { return nil }
    return TokenRecord(info: info, tokens: try TokenText(content))
  }

  func load() throws -> TokenRecord {
    guard let record = try find() else { throw RefreshFailure(.signedOut) }
    return record
  }

  /// Changes the record. Nothing is kept of replaced and removed tokens, whatever the preferences keep: the server has
  /// replaced them, too.
  ///
  /// - Returns: `false` if the record has changed since its revision was read.
  func update(_ fill: (inout Vault.Batch) throws(VaultError) -> Void) async throws(VaultError) -> Bool {
    do throws(VaultError) {
      try await preferences.vault.update(service: preferences.serviceName, in: preferences.group) {
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

  func write(_ mark: RefreshMark, to record: TokenRecord) async throws(VaultError) -> Bool {
    let edit = try RefreshMark.edit(record.info, to: mark)
    return try await update { (batch) throws(VaultError) in
      try batch.edit(key, edit, ifRevision: record.info.revision)
    }
  }

  func store(
    _ tokens: TokenText, _ mark: RefreshMark? = nil, over info: RecordInfo?
  ) async throws(VaultError) -> Bool {
    let edit = try RefreshMark.edit(info, to: mark)
    return try await update { (batch) throws(VaultError) in
      try tokens.content.withBytes { (kind, body) throws(VaultError) in
        try batch.set(
          body, kind: kind, forKey: key, accessibility: preferences.accessibility, edit: edit,
          ifRevision: info?.revision ?? 0)
      }
    }
  }
}
