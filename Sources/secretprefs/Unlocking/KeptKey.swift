internal import DurableFiles
internal import Secrets
internal import VaultCore
internal import VaultSealing

/// The keys of the slots that `unlock` keeps in the kernel until one of its limits is reached.
///
/// It is found by the id of the vault, which is the same for every spelling of the path or URL. The path is kept with
/// it, or the URL without user and parameters, to find it also when the vault is gone.
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
  /// Where it is.
  let keyring: KernelKey.Keyring

  /// Visible in `/proc/keys`, for the processes that may read the key. The id of the vault follows. The two differ,
  /// because the keyring of a session can lead to that of its user.
  private static func descriptionStart(_ keyring: KernelKey.Keyring) -> String {
    switch keyring {
    case .session: "secretprefs:"
    case .user: "secretprefs.user:"
    }
  }

  /// Finds the key that is kept for the vault at `place`: for the session, or else for the user, if an administrator
  /// allows that. `nil` if there is none, or its time is over.
  static func find(_ place: VaultLocation, for use: Use) throws(VaultError) -> KeptKey? {
    guard use != .ignore else { return nil }
    for keyring in KernelKey.Keyring.allCases where keyring == .session || UserKeyringPermission.isGiven {
      guard let stored = try stored(place, in: keyring), let (kept, _) = try read(stored, in: keyring) else { continue }
      guard let seconds = kept.limits.seconds(at: .now) else {
        _ = stored.remove()
        continue
      }
      if use == .open { stored.expire(after: seconds) }
      return kept
    }
    return nil
  }

  /// The key that is kept for the user, also where that is not allowed any more.
  static func keptForUser(_ place: VaultLocation) throws(VaultError) -> KeptKey? {
    guard let stored = try stored(place, in: .user), let (kept, _) = try read(stored, in: .user) else { return nil }
    return kept.limits.seconds(at: .now) == nil ? nil : kept
  }

  /// Keeps the key for its vault, in place of any earlier one.
  ///
  /// - Parameter place: the place of the vault.
  func keep(for place: VaultLocation) throws(ToolError) {
    do throws(VaultError) {
      let names = KeptNames(of: place).bytes
      // The limits, the keys, the names of the vault.
      let end = KeptLimits.count + key.count
      var bytes = try SecretBytes(count: end + names.count)
      bytes.withUnsafeMutableBytes { bytes in
        limits.write(to: bytes)
        key.write(to: UnsafeMutableRawBufferPointer(rebasing: bytes[KeptLimits.count..<end]))
        UnsafeMutableRawBufferPointer(rebasing: bytes[end...]).copyBytes(from: names)
      }
      let seconds = limits.seconds(at: .now) ?? 1
      let description = Self.descriptionStart(keyring) + key.vault.description
      let isStored = bytes.withUnsafeBytes {
        KernelKey.store(
          $0, as: description, in: keyring, seconds: seconds, isRenewable: limits.hasIdleTime(at: .now))
      }
      guard isStored else { throw Self.refusal(errno) }
    } catch { throw Self.unavailable(error) }
  }

  /// What ``remove(_:)`` did.
  struct Removal {
    /// The keyrings that had one.
    var keyrings: [KernelKey.Keyring] = []
    var isRemoved: Bool { !keyrings.isEmpty }
    /// Whether the id of the vault could be read. Otherwise only keys that were kept under this path are removed.
    var isIdentified: Bool
    /// The number of keys of other vaults that are still kept.
    var others = 0
  }

  /// Removes the keys of the vault at `place`, of the session and of the user, and those that were kept when a
  /// different vault had that place.
  static func remove(_ place: VaultLocation) throws(ToolError) -> Removal {
    let id = place.identifier
    var removal = Removal(isIdentified: id != nil)
    do throws(VaultError) {
      for keyring in KernelKey.Keyring.allCases { try remove(id, KeptNames(of: place), from: keyring, &removal) }
      return removal
    } catch { throw ToolError(removal.isRemoved ? error.after("a key was removed") : error) }
  }

  private static func remove(
    _ id: Vault.Identifier?, _ names: KeptNames, from keyring: KernelKey.Keyring, _ removal: inout Removal
  ) throws(VaultError) {
    var found = false
    // What a later step throws is said after what was removed.
    defer { if found { removal.keyrings.append(keyring) } }
    if let id, let stored = try stored(id, in: keyring, mayBeRefused: false), try remove(stored) { found = true }
    for stored in try all(in: keyring, mayBeRefused: false) {
      guard let kept = try read(stored, in: keyring) else { continue }
      guard kept.names.areOne(with: names) else {
        removal.others += 1
        continue
      }
      if try remove(stored) { found = true }
    }
  }

  /// Returns `false` if the key is gone already.
  private static func remove(_ stored: KernelKey) throws(VaultError) -> Bool {
    if stored.remove() { return true }
    return try absent(errno) ?? false
  }

  /// Checks that the kernel keeps keys for this process, before a passphrase is typed.
  static func check(_ keyring: KernelKey.Keyring) throws(ToolError) {
    guard keyring.isAvailable, KernelKey.all(beginningWith: descriptionStart(keyring), in: keyring) != nil else {
      throw unavailable(refusal(errno))
    }
  }

  private static func unavailable(_ error: VaultError) -> ToolError {
    ToolError(error, hint: error.errno == EKEYREVOKED ? afterLogout : alternatives)
  }

  /// What is possible where the login session has ended; `nil` where it has not.
  static var hintAfterLogout: String? {
    !KernelKey.Keyring.session.isAvailable && errno == EKEYREVOKED ? afterLogout : nil
  }

  /// Which processes can use it, in the words of `status`.
  var reach: String {
    switch keyring {
    case .session:
      KernelKey.areShared
        ? "all processes of the user without a session keyring" : "this session, and what it starts as other users"
    case .user: "all processes of the user, also after a logout"
    }
  }

  /// What to say where it can be used by more than a login session.
  var warning: String? {
    switch keyring {
    case .session where !KernelKey.areShared: nil
    case .session: "this is no login session: \(reach) can use the key"
    case .user: "\(reach), can use the key"
    }
  }

  /// Adds what a user can do to the error of a kept key that does not open the vault.
  static func explained(_ error: VaultError) -> VaultError {
    error.code == .credentialRejected ? rejection("the unlocked key does not open the vault: \(error.message)") : error
  }

  /// The key of the vault at `place`, or, if the place cannot say which vault it is, one that was kept under its name.
  private static func stored(
    _ place: VaultLocation, in keyring: KernelKey.Keyring
  ) throws(VaultError) -> KernelKey? {
    // A database is not asked for the id if there is nothing to find.
    if place.path == nil, try all(in: keyring).isEmpty { return nil }
    if let id = place.identifier { return try stored(id, in: keyring) }
    let names = KeptNames(of: place)
    for stored in try all(in: keyring) where try read(stored, in: keyring)?.names.areOne(with: names) == true {
      return stored
    }
    return nil
  }

  private static func stored(
    _ id: Vault.Identifier, in keyring: KernelKey.Keyring, mayBeRefused: Bool = true
  ) throws(VaultError) -> KernelKey? {
    if let stored = KernelKey(descriptionStart(keyring) + id.description, in: keyring) { return stored }
    return try absent(errno, mayBeRefused: mayBeRefused)
  }

  /// All keys that are kept there.
  private static func all(
    in keyring: KernelKey.Keyring, mayBeRefused: Bool = true
  ) throws(VaultError) -> [KernelKey] {
    if let all = KernelKey.all(beginningWith: descriptionStart(keyring), in: keyring) { return all }
    return try absent(errno, mayBeRefused: mayBeRefused) ?? []
  }

  /// `nil` if the key is gone.
  private static func read(
    _ stored: KernelKey, in keyring: KernelKey.Keyring
  ) throws(VaultError) -> (key: KeptKey, names: KeptNames)? {
    var bytes = try SecretBytes(count: KeptLimits.count + SlotKey.mostCount + KeptNames.longest)
    guard let length = bytes.withUnsafeMutableBytes({ stored.read(into: $0) }) else { return try absent(errno) }
    guard (KeptLimits.count...bytes.count).contains(length) else { throw otherVersion }
    return try bytes.withSpan { (bytes) throws(VaultError) in
      guard let key = try SlotKey(bytes.extracting(KeptLimits.count..<length)) else { throw otherVersion }
      let names = bytes.extracting(KeptLimits.count + key.count..<length).withUnsafeBytes { KeptNames($0) }
      return (KeptKey(key: key, limits: KeptLimits(bytes), keyring: keyring), names)
    }
  }

  /// `nil` if the error number means that no key is kept.
  private static func absent<Found>(_ number: Int32, mayBeRefused: Bool = true) throws(VaultError) -> Found? {
    switch number {
    case ENOKEY, EKEYEXPIRED, EKEYREVOKED: return nil
    // Without these calls no key can be kept.
    case ENOSYS, EPERM: if mayBeRefused { return nil }
    default: break
    }
    throw refusal(number)
  }

  private static func refusal(_ number: Int32) -> VaultError {
    .io("the kernel keeps no key here, so nothing is unlocked (keyctl)", number)
  }

  private static let otherVersion = rejection("the unlocked key was kept by a different version of secretprefs")

  private static func rejection(_ message: String) -> VaultError {
    VaultError(.credentialRejected, message, cause: Rejection())
  }

  /// The kernel revokes the keyring of a login session at its end, also for what goes on, such as a server of tmux.
  private static var afterLogout: String { UserKeyringPermission.isGiven ? revokedAllowed : revoked }

  private static let revoked =
    "the login session that this terminal was started in has ended, and with it what was unlocked: start tmux or "
    + "screen again after a new login, or use --key-file or --passphrase-command"

  private static let revokedAllowed =
    "the login session that this terminal was started in has ended, and with it what was unlocked: \"secretprefs "
    + "unlock --keyring user\" keeps a key for all sessions; or use --key-file or --passphrase-command"

  private static let alternatives =
    "containers often forbid keyctl; use --key-file, --passphrase-command, or a credential of systemd (LoadCredential)"
}

extension SlotKey {
  /// The ids of the slots.
  var json: JSON { .array(slots.map { .string($0.id.description) }) }
}
