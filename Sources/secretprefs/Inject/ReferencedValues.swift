internal import VaultCore

/// Looks up the values of references. The values of one service are from the same moment.
final class ReferencedValues {
  private let vault: Vault
  private let now: Int64
  /// The number of references to keys that have expired.
  private(set) var expired = 0
  private var services: [(group: AccessGroup, service: Vault.Name, values: ServiceValues)] = []

  init(in vault: Vault, at now: Int64) {
    self.vault = vault
    self.now = now
  }

  /// Appends the value to `output`. Errors name the key.
  func append(_ reference: SecretReference, to output: GuardedBuffer) throws {
    let place = try RecordPlace(service: reference.service.text, group: reference.group)
    let group = try place.group(in: vault)
    let values = try values(of: place.service, in: group)
    guard let record = try values.record(reference.key) else {
      throw try place.noSuchKey(reference.key, in: group, of: vault).about(key: reference.key)
    }
    if record.isExpired(at: now) { expired += 1 }
    try values.withValue(of: reference.key) { isText, bytes in
      guard isText else { throw Self.notText.about(key: reference.key) }
      try output.append(bytes)
    }
  }

  private static let notText = ToolError(VaultError(.typeMismatch, "the value is data and not text"))

  private func values(of service: Vault.Name, in group: AccessGroup) throws(VaultError) -> ServiceValues {
    if let known = services.first(where: { $0.group.id == group.id && $0.service == service }) { return known.values }
    let values = try ServiceValues(of: service, in: group, of: vault)
    services.append((group, service, values))
    return values
  }
}
