internal import VaultCore

extension Vault {
  /// Returns the access group with a name from the command line.
  /// - Throws: ``VaultError/Code/groupNotGranted``, with a hint if a granted group has a similar name.
  func grantedGroup(_ name: String) throws -> AccessGroup {
    do throws(VaultError) { return try group(named: name) } catch {
      guard error.code == .groupNotGranted, let near = nearest(name, among: try groups().map(\.name.text)) else {
        throw error
      }
      throw ToolError(error, hint: "did you mean \(displayed(near))?")
    }
  }
}
