/// An access group that a vault's credential grants: a namespace with a key of its own.
///
/// A value that holds neither keys nor records. It stays valid after a rotation and after a rename.
public struct AccessGroup: Sendable, Hashable {
  /// The name of the group that is used if none is given.
  public static let defaultName = "default"

  package let id: Vault.Identifier
  /// The name of the group when this value was created.
  public let name: Vault.Name
}

extension Vault {
  /// Returns the access group of that name.
  /// - Throws: ``VaultError/Code/groupNotGranted`` if there is none or the credential does not grant it;
  ///   ``VaultError/Code/invalidName``; ``VaultError/Code/locked``.
  public func group(named name: String = AccessGroup.defaultName) throws(VaultError) -> AccessGroup {
    try group(named: try Vault.Name(name))
  }

  /// Returns the access group of that name.
  public func group(named name: Vault.Name) throws(VaultError) -> AccessGroup {
    try handle.withCurrent { (_, state) throws(VaultError) in try state.group(named: name) }
  }

  /// Whether the credential grants the whole vault.
  package var isOwner: Bool {
    get throws(VaultError) { try handle.withCurrent { (_, state) throws(VaultError) in state.unlocked.isOwner } }
  }

  /// The ids of the access groups that the credential does not grant, in ascending order. Their names are sealed.
  package func groupsNotGranted() throws(VaultError) -> [Vault.Identifier] {
    try handle.withCurrent { (_, state) throws(VaultError) in
      state.groupIDs.subtracting(state.groups.map(\.id)).sorted { $0.description < $1.description }
    }
  }

  /// Returns the access groups that the credential grants, in the order of the file.
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
