/// An access group that a vault's credential grants: a namespace with a key of its own.
///
/// A value to pass around; it holds neither keys nor records.
public struct AccessGroup: Sendable, Hashable {
  /// The name of the group that is meant where none is given.
  public static let defaultName = "default"

  package let id: Vault.Identifier
  /// The group's name when it was asked for.
  public let name: Vault.Name
}

extension Vault {
  /// The access group of that name.
  /// - Throws: ``VaultError/Code/groupNotGranted`` when there is none or the credential does not grant it.
  public func group(named name: String = AccessGroup.defaultName) throws(VaultError) -> AccessGroup {
    try group(named: try Vault.Name(name))
  }

  /// As the form for text.
  public func group(named name: Vault.Name) throws(VaultError) -> AccessGroup {
    try handle.withCurrent { (_, state) throws(VaultError) in try state.group(named: name) }
  }

  /// Whether the credential grants the whole vault.
  package var isOwner: Bool {
    get throws(VaultError) { try handle.withCurrent { (_, state) throws(VaultError) in state.unlocked.isOwner } }
  }

  /// The access groups that the credential grants, in the file's order.
  public func groups() throws(VaultError) -> [AccessGroup] {
    try handle.withCurrent { (_, state) throws(VaultError) in
      var groups: [AccessGroup] = []
      for group in state.groups {
        let name =
          if let name = group.floor?.name { name } else { try state.content(group.id).name }
        groups.append(AccessGroup(id: group.id, name: name))
      }
      return groups
    }
  }
}
