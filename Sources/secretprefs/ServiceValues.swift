internal import VaultCore
internal import VaultSealing

/// The values of one service at one moment, so that a user name and its password belong together.
struct ServiceValues {
  private let vault: Vault
  private let records: ServiceRecords

  init(of service: Vault.Name, in group: AccessGroup, of vault: Vault) throws(VaultError) {
    self.vault = vault
    records = try vault.takeRecords(service: service, in: group)
  }

  var keys: [String] { get throws(VaultError) { try vault.keys(in: records) } }

  func record(_ key: String) throws(VaultError) -> RecordInfo? { try vault.record(key: key, in: records) }

  /// Whether there is a key with this value. Opens it for the comparison.
  func has(_ value: RawSpan, forKey key: String) throws -> Bool {
    guard try record(key) != nil else { return false }
    var isEqual = false
    try withValue(of: key) { _, stored in isEqual = try SecretBytes(copying: value).isEqual(to: stored.bytes) }
    return isEqual
  }

  /// Lends a value to `body`, with the bytes that `get` writes and whether they are text.
  /// - Throws: What `body` throws; ``ToolError/noSuchKey``; the vault's error, which names the key.
  ///
  /// - Parameter isNamed: whether the caller names the key in errors.
  func withValue(of key: String, isNamed: Bool = false, _ body: (_ isText: Bool, UnsafeRawBufferPointer) throws -> Void)
    throws
  {
    var result: Result<Void, any Error> = .failure(ToolError.noSuchKey)
    do throws(VaultError) {
      try vault.readValue(key, in: records) { kind, bytes in
        bytes.withUnsafeBytes { bytes in
          result = Result { try ValueText.withText(kind, bytes, body) }
        }
      }
    } catch {
      throw isNamed ? ToolError(error) : ToolError(error).about(key: key)
    }
    try result.get()
  }
}
