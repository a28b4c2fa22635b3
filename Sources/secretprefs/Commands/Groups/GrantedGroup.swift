internal import VaultCore

extension Vault {
  /// The access group of a name that somebody typed.
  /// - Throws: ``VaultError/Code/groupNotGranted`` with a hint at a granted group whose name is near.
  func grantedGroup(_ name: String) throws -> AccessGroup {
    do throws(VaultError) { return try group(named: name) } catch {
      guard error.code == .groupNotGranted, let near = nearest(name, among: try groups().map(\.name.text)) else {
        throw error
      }
      throw ToolError(error, hint: "did you mean \(displayed(near))?")
    }
  }
}
