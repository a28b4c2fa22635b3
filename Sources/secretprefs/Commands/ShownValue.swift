internal import VaultCore

extension RecordPlace {
  /// Returns the record of a key that must exist.
  func existing(_ key: String, in group: AccessGroup, of vault: Vault) throws -> RecordInfo {
    guard let record = try vault.record(service: service, key: key, in: group) else {
      throw try noSuchKey(key, in: group, of: vault)
    }
    return record
  }
}

extension Vault {
  /// Lends the value of a record with the bytes that `get` writes, and whether they are text.
  /// - Throws: What `body` throws; ``ToolError/noSuchKey``.
  func withShownValue<R>(
    of record: RecordInfo, in group: AccessGroup, _ body: (_ isText: Bool, UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    let result = try withValue(of: record, in: group) { kind, bytes in
      bytes.withUnsafeBytes { bytes in Result { try ValueText.withText(kind, bytes, body) } }
    }
    guard let result else { throw ToolError.noSuchKey }
    return try result.get()
  }
}
