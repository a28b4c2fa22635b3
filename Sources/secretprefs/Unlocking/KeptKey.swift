internal import DurableFiles
internal import Secrets
internal import VaultCore
internal import VaultSealing

/// The key of a slot that `unlock` keeps in the kernel until one of its limits is reached.
struct KeptKey {
  /// What a command does with a kept key.
  enum Use {
    /// Opens the vault, and begins the idle time again.
    case open
    /// Opens the vault, and does not begin the idle time again.
    case look
    case ignore
  }

  /// The cause of an error about a kept key.
  struct Rejection: Error {
    static let hint = "\"secretprefs unlock\" replaces the key; \"secretprefs lock\" removes it"
  }

  let key: SlotKey
  let limits: KeptLimits

  /// The length of the limits, then that of the key.
  private static let count = KeptLimits.count + SlotKey.count

  /// Visible in `/proc/keys`, for the processes that may read the key.
  private static func description(_ path: String) -> String { "secretprefs:" + displayed(PathName.absolute(path)) }

  /// Finds the key that is kept for the vault at `path`. `nil` if there is none, or its time is over.
  static func find(_ path: String, for use: Use) throws(VaultError) -> KeptKey? {
    guard use != .ignore, let stored = try stored(path) else { return nil }
    var bytes = try SecretBytes(count: count)
    guard bytes.withUnsafeMutableBytes({ stored.read(into: $0) }) else {
      if errno == 0 { throw rejection("the unlocked key was kept by a different version of secretprefs") }
      return try absent(errno)
    }
    let kept = try bytes.withSpan { (bytes) throws(VaultError) in
      KeptKey(
        key: try SlotKey(bytes.extracting(KeptLimits.count...)), limits: KeptLimits(bytes))
    }
    guard let seconds = kept.limits.seconds(at: .now) else {
      _ = stored.remove()
      return nil
    }
    if use == .open { stored.expire(after: seconds) }
    return kept
  }

  /// Keeps the key for the vault at `path`, in place of any earlier one.
  func keep(for path: String) throws(ToolError) {
    do throws(VaultError) {
      var bytes = try SecretBytes(count: Self.count)
      bytes.withUnsafeMutableBytes { bytes in
        limits.write(to: bytes)
        key.write(to: UnsafeMutableRawBufferPointer(rebasing: bytes[KeptLimits.count...]))
      }
      let seconds = limits.seconds(at: .now) ?? 1
      let isStored = bytes.withUnsafeBytes {
        KernelKey.store($0, as: Self.description(path), seconds: seconds, isRenewable: limits.hasIdleTime(at: .now))
      }
      guard isStored else { throw Self.refusal(errno) }
    } catch { throw ToolError(error, hint: Self.alternatives) }
  }

  /// Removes the key that is kept for the vault at `path`. Returns `false` if there is none.
  static func remove(_ path: String) throws(ToolError) -> Bool {
    do throws(VaultError) {
      guard let stored = try stored(path, mayBeRefused: false) else { return false }
      if stored.remove() { return true }
      return try absent(errno) ?? false
    } catch { throw ToolError(error) }
  }

  /// Checks that the kernel keeps keys for this process, before a passphrase is typed.
  static func check() throws(ToolError) {
    guard KernelKey.areAvailable else { throw ToolError(refusal(errno), hint: alternatives) }
  }

  /// Adds what a user can do to the error of a kept key that does not open the vault.
  static func explained(_ error: VaultError) -> VaultError {
    error.code == .credentialRejected ? rejection("the unlocked key does not open the vault: \(error.message)") : error
  }

  private static func stored(_ path: String, mayBeRefused: Bool = true) throws(VaultError) -> KernelKey? {
    if let stored = KernelKey(description(path)) { return stored }
    return try absent(errno, mayBeRefused: mayBeRefused)
  }

  /// `nil` if the error number means that no key is kept.
  private static func absent<Found>(_ number: Int32, mayBeRefused: Bool = true) throws(VaultError) -> Found? {
    switch number {
    case ENOKEY, EKEYEXPIRED, EKEYREVOKED: return nil
    // Without these calls no key can be kept. EINVAL: the path is too long for a key's description.
    case ENOSYS, EPERM, EINVAL: if mayBeRefused { return nil }
    default: break
    }
    throw refusal(number)
  }

  private static func refusal(_ number: Int32) -> VaultError {
    .io("the kernel keeps no key here, so nothing is unlocked (keyctl)", number)
  }

  private static func rejection(_ message: String) -> VaultError {
    VaultError(.credentialRejected, message, cause: Rejection())
  }

  private static let alternatives =
    "containers often forbid keyctl; use --key-file, --passphrase-command, or a credential of systemd (LoadCredential)"
}
