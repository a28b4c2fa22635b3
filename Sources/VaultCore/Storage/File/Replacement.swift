internal import DurableFiles

/// Writes a new vault file or mark, which gets the name when it is complete (`Docs/Format.md` 9.3).
///
/// After a crash either the old or the new file exists, never a part of one.
struct Replacement {
  let path: VaultPath
  /// What the file is.
  var kind = OwnFile.vault

  /// Replaces the vault, whose lock the caller holds.
  ///
  /// - Parameters:
  ///   - old: the status of the replaced file. The new file gets its owner and mode according to the policy, and its
  ///     access control list if that lets others in.
  ///   - reserve: how many zero bytes follow.
  /// - Returns: the new file, locked until the caller releases it.
  /// - Throws: ``VaultError/Code/durabilityUnknown`` when the new file is in place but the directory could not be
  ///   synced. With any other code the old file is still in place.
  func replace(_ old: stat, with bytes: [UInt8], reserve: Int = 0) throws(VaultError) -> OpenFile {
    try finish(
      try file.replace { (descriptor) throws(VaultError) in
        try takeOver(old, of: path.file, descriptor)
        try write(bytes, reserve: reserve, descriptor)
      })
  }

  /// Creates a file at a path where none may exist.
  /// - Parameters:
  ///   - reserve: how many zero bytes follow.
  ///   - model: a file whose owner and access control list the new file gets, and a status with its owner and the mode;
  ///     `nil` for this process's owner, and the mode of new vaults.
  /// - Returns: the new file, locked until the caller releases it.
  /// - Throws: ``VaultError/Code/alreadyExists``.
  func create(
    _ bytes: [UInt8], reserve: Int = 0, like model: (path: String, status: stat)? = nil
  ) throws(VaultError) -> OpenFile {
    try finish(
      try file.create { (descriptor) throws(VaultError) in
        if let model {
          try takeOver(model.status, of: model.path, descriptor)
        } else {
          // The umask may have removed the owner's access.
          guard fchmod(descriptor.raw, try newMode(descriptor)) == 0 else { throw .io("\(path.file): set the mode") }
        }
        try write(bytes, reserve: reserve, descriptor)
      })
  }

  private var file: WholeFile<VaultError> { WholeFile(path.file, kind: kind) }

  private func write(_ bytes: [UInt8], reserve: Int, _ descriptor: Descriptor) throws(VaultError) {
    try descriptor.write(bytes, at: 0)
    if reserve > 0 { try descriptor.write([UInt8](repeating: 0, count: reserve), at: bytes.count) }
    try descriptor.synchronize()
  }

  /// The mode of a new vault. For one that is shared, the file gets the group of the directory.
  private func newMode(_ descriptor: Descriptor) throws(VaultError) -> mode_t {
    guard path.policy == .sharedWithGroup else { return 0o600 }
    let directory = try path.directoryStatus()
    guard directory.st_mode & 0o020 != 0 else { return 0o600 }
    guard fchown(descriptor.raw, uid_t.max, directory.st_gid) == 0 else { throw .io("\(path.file): set the group") }
    return 0o660
  }

  /// - Parameters:
  ///   - old: the status with the owner and the mode.
  ///   - other: the file that has them, and perhaps an access control list.
  private func takeOver(_ old: stat, of other: String, _ descriptor: Descriptor) throws(VaultError) {
    let strict = path.policy == .strict
    // If root writes, the file keeps its owner. If several users may write, a process that may not change the owner
    // becomes the owner.
    if fchown(descriptor.raw, old.st_uid, old.st_gid) != 0 {
      let error = VaultError.io("\(path.file): keep the owner")
      let isOurs = old.st_uid == geteuid()
      guard isOurs || !strict else { throw error }
      // A different group must not get the rights of the old group, and the old group must not lose them silently. This
      // does not matter if the mode gives the group no rights.
      guard fchown(descriptor.raw, uid_t.max, old.st_gid) == 0 || old.st_mode & 0o070 == 0 else {
        throw .io("\(path.file): keep the group")
      }
    }
    switch path.policy {
    case .strict:
      guard fchmod(descriptor.raw, 0o600) == 0 else { throw VaultError(.keepMode, path.file, errno: errno) }
    case .relaxed: try descriptor.keepAccess(of: other, mode: old.st_mode & 0o664)
    case .sharedWithGroup: try descriptor.keepAccess(of: other, mode: old.st_mode & 0o660)
    }
  }

  /// Makes the name durable. Other writers wait for the lock until then.
  private func finish(_ descriptor: Descriptor) throws(VaultError) -> OpenFile {
    do throws(VaultError) {
      let file = OpenFile(descriptor, try descriptor.status())
      guard try path.synchronizeDirectory() else { throw .io("\(path.directory): open the directory") }
      return file
    } catch {
      descriptor.unlock()
      throw path.error(
        .durabilityUnknown, "the new file is in place, but its name may not survive a power failure",
        errno: error.errno, cause: error)
    }
  }
}
