internal import VaultCore

/// The keys of one service that `export` writes. Their values are of one moment.
struct ExportedService {
  let group: AccessGroup
  let service: Vault.Name
  let keys: [String]
  let values: ServiceValues

  /// - Parameter records: In the order of groups and services.
  static func all(_ records: [ListedRecord], of vault: Vault) throws(VaultError) -> [ExportedService] {
    var services: [ExportedService] = []
    var rest = records[...]
    while let first = rest.first {
      let (group, service) = (first.group, first.info.service)
      let same = rest.prefix { $0.group.id == group.id && $0.info.service == service }
      rest = rest.dropFirst(same.count)
      services.append(
        ExportedService(
          group: group, service: service, keys: same.map(\.info.key.text),
          values: try ServiceValues(of: service, in: group, of: vault)))
    }
    return services
  }
}
