internal import VaultCore

/// How many keys a service of an access group has.
struct ServiceCount {
  let group: AccessGroup
  let service: Vault.Name
  private(set) var keys = 0
  private(set) var expired = 0

  /// - Parameter records: in the order of groups and services.
  static func all(_ records: [ListedRecord], at now: Int64) -> [ServiceCount] {
    var counts: [ServiceCount] = []
    for record in records {
      if counts.last?.group.id != record.group.id || counts.last?.service != record.info.service {
        counts.append(ServiceCount(group: record.group, service: record.info.service))
      }
      counts[counts.count - 1].keys += 1
      if record.info.isExpired(at: now) { counts[counts.count - 1].expired += 1 }
    }
    return counts
  }

  private init(group: AccessGroup, service: Vault.Name) {
    self.group = group
    self.service = service
  }

  var row: [String] {
    [
      Table.cell(group.name.text), Table.cell(service.text), counted(keys, "key", "keys"),
      expired > 0 ? "\(expired) expired" : "",
    ]
  }

  var json: JSON {
    .object([
      ("group", .string(group.name.text)), ("service", .string(service.text)), ("keys", .unsigned(UInt64(keys))),
      ("expired", .unsigned(UInt64(expired))),
    ])
  }
}
