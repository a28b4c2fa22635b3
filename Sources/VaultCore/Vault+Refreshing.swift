internal import DurableFiles

extension Vault {
  /// Takes over what others have written, asking the storage now. A vault in a file needs this never, because every
  /// read looks at the file; one in a database is otherwise as old as its storage allows.
  ///
  /// - Throws: ``VaultError/Code/unreachable`` if the storage does not answer. Reads go on as before.
  public func refresh() throws(VaultError) {
    try handle.storage.refresh()
    try handle.withCurrent(isUse: false) { _, _ in }
  }

  /// The asynchronous form of `refresh()`. Cancelling the task does not stop it.
  public func refresh() async throws(VaultError) {
    try await waiting.run { () throws(VaultError) in try refresh() }
  }

  /// How long ago the storage has confirmed the state that reads see. Zero for a file, which every read looks at.
  public var age: Duration { handle.storage.age }

  /// What the storage has done, for metrics; `nil` for a file, and for other storages that do not count.
  public var storageActivity: StorageActivity? { handle.storage.activity }
}
