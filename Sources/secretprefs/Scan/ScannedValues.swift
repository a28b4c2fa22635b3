internal import VaultCore

/// The values that `scan` searches for.
struct ScannedValues {
  struct ValueName {
    let group: String
    let service: String
    let key: String

    /// The group is named if it is not the default one.
    var text: String { displayed((group == "default" ? "" : group + "/") + service + "/" + key) }
  }

  private(set) var names: [ValueName] = []
  private(set) var tooShort = 0
  /// The keys whose values are bound to a machine and cannot be opened here.
  private(set) var unopened: [String] = []
  let patterns: ValuePatterns

  /// - Parameters:
  ///   - choice: The keys whose values are searched for.
  ///   - service: `nil` for all services.
  ///   - groupName: `nil` for all groups that the credential opens.
  /// - Throws: What ``KeyChoice/checkUse(of:_:)`` throws, and the vault's errors.
  init(_ choice: KeyChoice, of service: Vault.Name?, in groupName: String?, of vault: Vault) throws {
    patterns = try ValuePatterns(takesAllLines: false)
    let groups = try groupName.map({ [try vault.grantedGroup($0)] }) ?? vault.groups()
    let all = try ListedRecord.all(service: service, in: groups, of: vault)
    if !all.isEmpty { try choice.checkUse(of: all.map(\.info.key.text), Self.patternHint(service, groupName)) }
    for listed in all {
      let (record, group) = (listed.info, listed.group)
      guard record.isSecret, record.kind.isSearchable, choice.includes(record.key.text) else { continue }
      let (patterns, number) = (patterns, names.count)
      let name = ValueName(group: group.name.text, service: record.service.text, key: record.key.text)
      let added: Result<Bool, VaultError>?
      do throws(VaultError) {
        added = try vault.withValue(of: record, in: group) { _, value in
          value.withUnsafeBytes { value in
            Result { () throws(VaultError) in
              try patterns.add(UnsafeRawBufferPointer(rebasing: value.prefix(ValuePatterns.longestPart)), as: number)
            }
          }
        }
      } catch {
        guard [.deviceKeyMissing, .wrongDevice].contains(error.code) else { throw error }
        unopened.append(name.text)
        continue
      }
      guard let added else { continue }  // removed since
      if try added.get() {
        names.append(name)
      } else {
        tooShort += 1
      }
    }
  }

  private static func patternHint(_ service: Vault.Name?, _ group: String?) -> String {
    Hints.patterns(
      (service.map { " --service \(shellWord($0.text))" } ?? " --all-services")
        + (group.map { " --group \(shellWord($0))" } ?? " --all-groups"))
  }
}
