internal import DurableFiles
internal import Preferences
public import Secrets
public import VaultCore
public import VaultSealing

/// A vault with throwaway keys, created in about a millisecond. Its file is deleted when the last reference to this
/// object, to one of its vaults or to one of their stores is released.
///
/// The keys protect nothing: use the vault only in tests. The file is in memory-backed storage if there is any, or in
/// the folder that the environment variable `SECRETS_TESTING_FOLDER` names. The vault is a real one, and so are its
/// faults: ``lock()``, ``damage()`` and ``withWriterLock(_:)``.
public final class ThrowawayVault: Sendable {
  /// The vault, unlocked as its owner.
  public let vault: Vault
  /// The path of the file, in a directory of its own.
  public let path: String
  /// The raw key of the owner slot.
  public let key: SealingKey

  let directory: ThrowawayDirectory

  /// The passphrase of the second owner slot, if one was requested.
  public static let passphrase = "correct horse battery staple"

  /// Creates a vault with a raw-key owner slot.
  ///
  /// - Parameters:
  ///   - groups: the names of its access groups.
  ///   - withPassphrase: whether ``passphrase`` also opens the vault; this costs about 10 ms.
  ///   - folder: the folder of the vault's directory, for example on a small or slow file system; `nil` for the one
  ///     that the environment variable `SECRETS_TESTING_FOLDER` names, or else for memory-backed storage.
  ///   - options: the vault's options, for example a fixed clock or random source.
  public init(
    groups: [String] = [AccessGroup.defaultName], withPassphrase: Bool = false, in folder: String? = nil,
    options: Vault.Options = Vault.Options()
  ) throws(VaultError) {
    directory = try ThrowawayDirectory(in: folder)
    path = directory.path + "/throwaway.spv"
    key = try SealingKey(from: options.random)
    var slots = [NewSlot(.key(key), label: "throwaway key")]
    if withPassphrase {
      slots.append(NewSlot(try .passphrase(Self.passphrase), label: "throwaway passphrase", cost: .throwaway))
    }
    vault = try Vault.create(
      at: path, slots: slots, groups: groups.map { NewGroup($0) }, options: options.retaining(directory))
  }

  /// Returns the store of a service in this vault.
  public func preferences(
    service: String = "com.example.test", accessGroup: String = AccessGroup.defaultName
  ) throws(VaultError) -> SecretPreferences {
    try SecretPreferences(service: service, accessGroup: accessGroup, in: vault)
  }

  /// Opens the same file again, as a different process would.
  ///
  /// For ``vault``, a write with the new handle is a write of a different process.
  public func reopened(options: Vault.Options = Vault.Options()) throws(VaultError) -> Vault {
    try Vault.open(at: path, credential: .key(key), options: options.retaining(directory))
  }

  // MARK: Faults

  /// Locks ``vault``: its calls throw ``VaultError/Code/locked``. The same as ``Vault/lock()``.
  public func lock() { vault.lock() }

  /// Unlocks ``vault`` again with ``key``.
  ///
  /// - Throws: ``VaultError/Code/damaged`` after ``damage()``.
  public func unlock() throws(VaultError) { try vault.unlock(with: .key(key)) }

  /// Inverts every byte of the file behind its header.
  ///
  /// Every call that reads or writes, and opening the vault, then throws ``VaultError/Code/damaged``, after a tenth of
  /// a second: the file is read three times, in case another process is writing it.
  public func damage() throws {
    let file = try openFile(O_RDWR)
    let header = 56  // Docs/Format.md 3.1
    var bytes = [UInt8](repeating: 0, count: Int(try file.status().st_size) - header)
    _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: header) }
    try file.write(bytes.map(~), at: header)
  }

  /// Runs `body` while the writer lock of the file is held, as if by a different process.
  ///
  /// Writes wait for the lock, and throw ``VaultError/Code/lockTimeout`` after ``Vault/Options/lockTimeout``. Reads do
  /// not wait.
  public func withWriterLock<R>(_ body: () async throws -> R) async throws -> R {
    let file = try openFile(O_RDONLY)
    guard try await BlockingWork.run({ try file.lock(until: Deadline(after: .seconds(30))) }) else {
      throw VaultError(.lockTimeout, "the writer lock has been held for 30 seconds")
    }
    defer { file.unlock() }
    return try await body()
  }

  private func openFile(_ flags: Int32) throws(VaultError) -> Descriptor<VaultError> {
    try Descriptor.open(path, flags) { VaultError(.io, "\(path): open", errno: $0) }
  }
}

extension Vault.Options {
  /// The same options, whose clock retains `directory`: a vault keeps its options for as long as it is used.
  fileprivate func retaining(_ directory: ThrowawayDirectory) -> Self {
    var options = self
    options.now = { [now = self.now] in withExtendedLifetime(directory) { now() } }
    return options
  }
}
