internal import DurableFiles
public import VaultSealing

/// Where a storage keeps the logs of reads and writes: in files of this machine, whose names are a path followed by
/// `.audit-` and the id of an access group (`Docs/Format.md` F.2).
public struct AuditLogLocation: Sendable {
  let path: VaultPath
  /// Whether the vault is a file at that path. Otherwise other machines have logs of their own.
  let isBesideVault: Bool

  /// The logs beside a vault in a file.
  init(beside vault: VaultPath) {
    path = vault
    isBesideVault = true
  }

  /// The logs of a vault that is not a file, in a local folder. Its files belong to this user, and no other may access
  /// them.
  ///
  /// - Parameters:
  ///   - folder: a path; a relative one is resolved once, against the present working directory. The first log, or
  ///     `Vault.health()`, creates the folder if there is none. It must belong to this user or root, and group and
  ///     others may not write to it.
  ///   - name: distinguishes the vault from others with logs in the folder; becomes a part of the names of files.
  /// - Throws: ``VaultError/Code/invalidName`` for a name with `/`, and one that is empty or longer than 150 bytes;
  ///   ``VaultError/Code/io`` for a NUL byte, and for an empty path.
  public init(folder: String, name: String) throws(VaultError) {
    guard (1...150).contains(name.utf8.count), !name.utf8.contains(UInt8(ascii: "/")) else {
      throw VaultError(.invalidName, "the name of a vault with logs has 1 to 150 bytes and no slash")
    }
    guard !folder.isEmpty else { throw .io("the path of the folder for logs is empty", ENOENT) }
    path = try VaultPath(folder + "/" + name, policy: .strict)
    isBesideVault = false
  }

  /// Refuses a folder that others may write to. Creates it if it does not exist; that of a vault in a file does.
  func judgeFolder() throws(VaultError) {
    if !isBesideVault {
      try Descriptor.makeDirectory(path.directory, isPrivate: true)
      guard try path.directoryStatus().st_mode & S_IFMT == S_IFDIR else {
        throw .io("\(path.directory): make a file of the log", ENOTDIR)
      }
    }
    try path.judgeDirectory()
  }

  /// The status of the vault's file, whose owner and group the logs have; `nil` if there is none.
  func vaultStatus() throws(VaultError) -> stat? { isBesideVault ? try path.status() : nil }
}
