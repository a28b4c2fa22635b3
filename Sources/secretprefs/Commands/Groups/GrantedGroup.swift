internal import VaultCore

extension Vault {
  /// Returns the access group with a name from the command line.
  /// - Throws: ``VaultError/Code/groupNotGranted``, or ``VaultError/Code/notFound`` for an owner, who opens all groups;
  ///   with a hint if a group has a similar name.
  func grantedGroup(_ name: String) throws -> AccessGroup {
    do throws(VaultError) { return try group(named: name) } catch {
      guard error.code == .groupNotGranted else { throw error }
      let near = nearest(name, among: try groups().map(\.name.text))
      let isOwner = try isOwner
      throw ToolError(
        isOwner ? VaultError(.notFound, "the vault has no access group of that name") : error,
        hint: near.map { "did you mean \(displayed($0))?" } ?? Hints.groups)
    }
  }
}
