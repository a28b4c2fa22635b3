internal import DurableFiles

/// Saves the bytes of a broken last entry before a write replaces them (`Docs/Format.md` 10.3), because it is unknown
/// whether the entry was acknowledged.
///
/// The bytes are sealed like the vault. The file is beside it and durable. It has mode 0600, or that of a vault which a
/// group shares.
struct KeptTornTail {
  /// The path of the vault.
  let path: VaultPath

  /// More files than normal operation creates. The limit keeps deliberate damage from filling the disk.
  private static let mostFiles = 100

  /// Writes `bytes` to a new file, unless an earlier attempt has written them.
  /// - Throws: ``VaultError/Code/io`` or ``VaultError/Code/readOnly``, with the vault unchanged. The file may be there.
  func keep(_ bytes: RawSpan) throws(VaultError) {
    for number in 1...Self.mostFiles where try keep(bytes, in: name(number)) {
      _ = try path.synchronizeDirectory()
      return
    }
    throw VaultError(
      .io, "\(name(1)): \(Self.mostFiles) broken entries are already saved: examine and remove them", errno: EEXIST)
  }

  private func name(_ number: Int) -> String { path.file + ".torn" + (number == 1 ? "" : ".\(number)") }

  /// - Returns: `false` if a different file has that name.
  private func keep(_ bytes: RawSpan, in name: String) throws(VaultError) -> Bool {
    do throws(VaultError) {
      let file = try WholeFile<VaultError>(name, kind: .tornEntry).create { (file) throws(VaultError) in
        guard fchmod(file.raw, 0o600) == 0 else { throw .io("\(name): set the mode") }
        // If root writes, the file belongs to the vault's owner. If that fails, root can still read it.
        if let vault = try path.status() {
          _ = fchown(file.raw, vault.st_uid, gid_t.max)
          if path.policy == .sharedWithGroup, fchown(file.raw, uid_t.max, vault.st_gid) == 0 {
            do throws(VaultError) { try file.keepAccess(of: path.file, mode: vault.st_mode & 0o660) } catch {}
          }
        }
        try file.write(bytes, at: 0)
        try file.synchronize()
      }
      file.unlock()
      return true
    } catch {
      // A vault or key with the name has another error.
      guard error.code == .alreadyExists || FileIdentity(at: name, followingLinks: false) != nil else { throw error }
      return holds(bytes, name)
    }
  }

  /// Whether the file has exactly these bytes, saved by a write that was interrupted.
  private func holds(_ bytes: RawSpan, _ name: String) -> Bool {
    do throws(VaultError) {
      let file = try Descriptor.open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) { .io("\(name): open", $0) }
      let status = try file.status()
      guard status.st_mode & S_IFMT == S_IFREG, status.st_size == bytes.byteCount else { return false }
      let kept = try FileImage(file, 0..<bytes.byteCount, limit: bytes.byteCount)
      guard compareBytes(kept.span, bytes) == 0 else { return false }
      try file.synchronize()
      return true
    } catch { return false }  // an unreadable file is not replaced
  }
}
