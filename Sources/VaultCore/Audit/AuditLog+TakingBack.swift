internal import DurableFiles
internal import Synchronization

/// What becomes of a log whose switching on failed.
extension AuditLog {
  /// Takes back the event *start* that this process has logged last, because logging was not switched on: removes the
  /// file that begins with it, or ends the log with *stop*. Without such an event it does nothing.
  ///
  /// - Throws: the error of the log, which still says that it was switched on.
  func takeBackStart(_ keys: AuditKeys, by slot: Vault.Identifier) throws(VaultError) {
    guard let start = state.withLock({ $0.start }) else { return }
    if start == .inNewFile, try removeNew() { return }
    _ = try append([Event(action: .stop)], keys, by: slot, isSynced: true)
  }

  /// Removes the file that the last append has made.
  /// - Returns: `false` if something was written to it since.
  private func removeNew() throws(VaultError) -> Bool {
    try concerningLog { () throws(VaultError) -> Bool in
      try state.withLock { (state) throws(VaultError) -> Bool in
        guard let file = try lockedFile(&state, until: Deadline(after: options.lockTimeout)) else { return true }
        defer { file.descriptor.unlock() }
        guard let made = state.written, try holdsOnly(made, file.descriptor),
          file.descriptor.discard(files.current.file)
        else { return false }
        state.forgetFile()
        state.start = nil
        do throws(VaultError) { try files.synchronize() } catch {}  // after a power failure it may be back
        return true
      }
    }
  }

  /// Whether a file has the header that this process wrote last, and nothing behind the events that it counts.
  private func holdsOnly(_ written: AuditAppend.Written, _ file: Descriptor) throws(VaultError) -> Bool {
    let image = try FileImage(file, 0..<AuditHeader.byteCount, limit: AuditHeader.byteCount)
    let size = Int(try file.status().st_size)
    guard image.span.byteCount == written.bytes.count, image.span.starts(with: written.bytes),
      size >= written.header.end
    else { return false }
    return try file.isZero(written.header.end..<size)
  }

  /// The new names of files that appends have set aside since the last call.
  func takeNamesSetAside() -> [String] {
    state.withLock { state in
      defer { state.setAside = [] }
      return state.setAside
    }
  }
}
