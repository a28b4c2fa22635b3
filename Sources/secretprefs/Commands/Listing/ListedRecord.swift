internal import VaultCore

/// A record that `list` and `find` write, with its access group.
struct ListedRecord {
  let group: AccessGroup
  let info: RecordInfo
  /// The value, if it is no secret and was read.
  private(set) var value: PublicValue?

  init(group: AccessGroup, info: RecordInfo) {
    self.group = group
    self.info = info
  }

  /// The same with its value, if that is no secret. Without the device key that the value needs, it is not shown.
  func showingValue(of vault: Vault) throws -> ListedRecord {
    guard !info.isSecret else { return self }
    var shown = self
    do throws(VaultError) {
      shown.value = try vault.withValue(of: info, in: group) { kind, bytes in
        bytes.withUnsafeBytes { PublicValue(kind, $0) }
      }.flatMap(\.self)
    } catch {
      guard [.deviceKeyMissing, .wrongDevice].contains(error.code) else { throw error }
    }
    return shown
  }

  var reference: SecretReference { SecretReference(service: info.service, key: info.key.text, in: group) }

  /// The records of a service, or of all, in the order of the names of groups, services and keys.
  /// - Throws: The error of a group, which names it if there are several.
  static func all(service: Vault.Name?, in groups: [AccessGroup], of vault: Vault) throws(VaultError) -> [ListedRecord]
  {
    var records: [ListedRecord] = []
    for group in groups {
      do throws(VaultError) {
        records += try vault.records(service: service, in: group).map { ListedRecord(group: group, info: $0) }
      } catch { throw groups.count > 1 ? error.about(group) : error }
    }
    return records
  }

  /// The JSON members in the output of `list`.
  func members(at now: Int64) -> [(String, JSON)] {
    [("group", .string(group.name.text)), ("reference", .string(reference.text))] + info.members(at: now)
      + (value.map { [("value", $0.json)] } ?? [])
  }

  /// The output of `info` as JSON.
  func json(at now: Int64) -> JSON {
    .object(
      members(at: now) + [
        ("attributes", .array(info.attributes.map(\.json))), ("historyDepth", .unsigned(UInt64(info.historyDepth))),
        (
          "previous",
          .array(
            info.previous.map {
              .object([
                ("revision", .unsigned($0.revision)), ("modified", .time($0.modified)),
                ("kind", .string($0.kind.label)),
              ])
            })
        ),
      ])
  }
}

extension Vault {
  /// All access groups that the credential opens, in the order of their names.
  func groupsInOrder() throws(VaultError) -> [AccessGroup] { try groups().sorted { $0.name < $1.name } }
}
