internal import VaultCore

/// Finds the records of references, and lends their values. The values of one service are from the same moment.
final class ReferencedValues {
  /// A record that was found.
  struct Found {
    let reference: SecretReference
    let group: AccessGroup
    let record: RecordInfo
    fileprivate let values: ServiceValues

    /// The same for all references to the record.
    var identity: Identity { Identity(group: group.id, service: record.service, key: record.key) }
  }

  struct Identity: Hashable {
    let group: Vault.Identifier
    let service: Vault.Name
    let key: Vault.Name
  }

  /// A service whose values are read.
  struct Service {
    let group: AccessGroup
    let name: Vault.Name
    let values: ServiceValues
  }

  private let vault: Vault
  private(set) var services: [Service] = []

  init(in vault: Vault) { self.vault = vault }

  /// - Throws: An error that names the key if the vault has it elsewhere.
  ///
  /// - Parameter place: The place of the reference, if it was not named by it.
  func find(_ reference: SecretReference, at place: RecordPlace? = nil) throws -> Found {
    let place = try place ?? reference.place
    let service = try service(at: place)
    guard let record = try service.values.record(reference.key) else {
      throw try place.noSuchKey(reference.key, in: service.group, of: vault)
    }
    return Found(reference: reference, group: service.group, record: record, values: service.values)
  }

  /// Lends a value to `body`, with the bytes that `get` writes and whether they are text.
  ///
  /// - Parameter isNamed: whether the caller names the key in errors.
  static func withValue(
    of found: Found, isNamed: Bool = false, _ body: (_ isText: Bool, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try found.values.withValue(of: found.reference.key, isNamed: isNamed, body)
  }

  func service(at place: RecordPlace) throws -> Service {
    let group = try place.group(in: vault)
    if let known = services.first(where: { $0.group.id == group.id && $0.name == place.service }) { return known }
    let service = Service(
      group: group, name: place.service, values: try ServiceValues(of: place.service, in: group, of: vault))
    services.append(service)
    return service
  }
}
