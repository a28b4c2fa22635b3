/// A file beside a vault that has the name of a log, and that no verification reads.
public struct UnreadAuditLog: Sendable, Hashable {
  /// The path of the file.
  public let path: String
  /// Whether it was set aside, because it could not be continued. Otherwise it is that of an access group that was
  /// removed: nothing has its key any more. Or it has a name that no program of this package gives.
  public let isSetAside: Bool
}

extension Vault {
  /// The files of logs beside the vault that belong to none of its access groups, or were set aside: what they had
  /// logged is in no report. Needs no owner.
  /// - Throws: ``VaultError/Code/io`` if the directory cannot be read.
  public func unreadAuditLogs() throws(VaultError) -> [UnreadAuditLog] {
    let groups = try handle.withCurrent { (_, state) throws(VaultError) in state.groupIDs }
    return try handle.unreadAuditLogs(groups: groups)
  }
}
