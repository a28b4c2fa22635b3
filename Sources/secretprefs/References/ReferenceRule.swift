internal import VaultCore

/// What `check` demands of a record besides its existence. It is known without the value.
struct ReferenceRule {
  /// Milliseconds since 1970-01-01 UTC.
  let now: Int64
  let expiry: ExpiryRule
  let hasDeviceKey: Bool

  /// - Parameter isVariable: Whether the value becomes a variable or a part of a text, which data cannot.
  func check(_ record: RecordInfo, isVariable: Bool) throws(ToolError) {
    if let end = record.expiry, expiry.isDueOrExpired(record, at: now) {
      let time = Timestamp.text(of: end)
      throw ToolError(
        VaultError(.expired, end <= now ? "the key expired at \(time)" : "the key expires at \(time)"))
    }
    guard hasDeviceKey || !record.accessibility.isThisDeviceOnly else {
      throw ToolError(VaultError(.deviceKeyMissing, "the value needs the device key, and none is configured"))
    }
    guard record.kind != .data else {
      throw ToolError(
        VaultError(
          .typeMismatch, "the value is data and not text, which \(isVariable ? "a variable" : "a template") cannot have"
        ))
    }
  }

  /// Whether an error is about a reference, and not about the vault.
  static func concerns(_ error: ToolError) -> Bool {
    let codes: [VaultError.Code] = [.notFound, .groupNotGranted, .expired, .deviceKeyMissing, .typeMismatch]
    return codes.contains { $0.rawValue == error.code }
  }
}
