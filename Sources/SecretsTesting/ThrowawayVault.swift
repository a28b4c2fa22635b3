internal import DurableFiles
public import Secrets
public import VaultCore
public import VaultSealing

/// A vault with throwaway keys, made in about a millisecond and gone with the last reference.
///
/// Its keys protect nothing: for tests alone. It lies in memory-backed storage where there is any.
public final class ThrowawayVault: Sendable {
  /// The vault, unlocked as its owner.
  public let vault: Vault
  /// Where the file is, in a directory of its own.
  public let path: String
  /// The raw key of the owner slot.
  public let key: SealingKey

  private let directory: String

  /// The passphrase of the second owner slot, where one was asked for.
  public static let passphrase = "correct horse battery staple"

  /// Makes a vault with a raw-key owner slot.
  ///
  /// - Parameters:
  ///   - groups: the names of its access groups.
  ///   - withPassphrase: whether ``passphrase`` opens it too; that costs about 10 ms.
  ///   - options: as for any vault; a fixed clock or random source, say.
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

  /// The store of a service in this vault.
  public func preferences(
    service: String = "com.example.test", accessGroup: String = AccessGroup.defaultName
  ) throws(VaultError) -> SecretPreferences {
    try SecretPreferences(service: service, accessGroup: accessGroup, in: vault)
  }

  /// Opens the same file once more, as another process would.
  public func reopened(options: Vault.Options = Vault.Options()) throws(VaultError) -> Vault {
    try Vault.open(at: path, credential: .key(key), options: options)
  }

  private static func makeDirectory() throws(VaultError) -> String {
    // Nothing here has to survive a power cut, so memory is the better disk.
    for parent in ["/dev/shm", getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp", "/tmp"] {
      var template = Array((parent + "/secretprefs-throwaway-XXXXXX").utf8CString)
      if mkdtemp(&template) != nil {
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      }
    }
    throw VaultError(.io, "no directory for a throwaway vault", errno: errno)
  }
}
