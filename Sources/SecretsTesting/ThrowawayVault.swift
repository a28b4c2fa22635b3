internal import DurableFiles
public import Secrets
public import VaultCore
public import VaultSealing

/// A vault with throwaway keys, created in about a millisecond and deleted with the last reference.
///
/// The keys protect nothing: use the vault only in tests. The file is in memory-backed storage if there is any.
public final class ThrowawayVault: Sendable {
  /// The vault, unlocked as its owner.
  public let vault: Vault
  /// The path of the file, in a directory of its own.
  public let path: String
  /// The raw key of the owner slot.
  public let key: SealingKey

  private let directory: String

  /// The passphrase of the second owner slot, if one was requested.
  public static let passphrase = "correct horse battery staple"

  /// Creates a vault with a raw-key owner slot.
  ///
  /// - Parameters:
  ///   - groups: the names of its access groups.
  ///   - withPassphrase: whether ``passphrase`` also opens the vault; this costs about 10 ms.
  ///   - options: the vault's options, for example a fixed clock or random source.
  public init(
    groups: [String] = [AccessGroup.defaultName], withPassphrase: Bool = false,
    options: Vault.Options = Vault.Options()
  ) throws(VaultError) {
    directory = try Self.makeDirectory()
    path = directory + "/throwaway.spv"
    key = try SealingKey(from: options.random)
    var slots = [NewSlot(.key(key), label: "throwaway key")]
    if withPassphrase {
      slots.append(NewSlot(try .passphrase(Self.passphrase), label: "throwaway passphrase", cost: .throwaway))
    }
    do throws(VaultError) {
      vault = try Vault.create(at: path, slots: slots, groups: groups.map { NewGroup($0) }, options: options)
    } catch {
      rmdir(directory)
      throw error
    }
  }

  deinit {
    unlink(path)
    unlink(path + ".tmp")
    rmdir(directory)
  }

  /// Returns the store of a service in this vault.
  public func preferences(
    service: String = "com.example.test", accessGroup: String = AccessGroup.defaultName
  ) throws(VaultError) -> SecretPreferences {
    try SecretPreferences(service: service, accessGroup: accessGroup, in: vault)
  }

  /// Opens the same file again, as a different process would.
  public func reopened(options: Vault.Options = Vault.Options()) throws(VaultError) -> Vault {
    try Vault.open(at: path, credential: .key(key), options: options)
  }

  private static func makeDirectory() throws(VaultError) -> String {
    // The vault need not survive a power failure, so memory-backed storage is preferred.
    for parent in ["/dev/shm", getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp", "/tmp"] {
      var template = Array((parent + "/secretprefs-throwaway-XXXXXX").utf8CString)
      if mkdtemp(&template) != nil {
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      }
    }
    throw VaultError(.io, "no directory for a throwaway vault", errno: errno)
  }
}
