internal import VaultSealing

extension Vault {
  /// When a value can be read: its accessibility class, which its seal includes (`Docs/Format.md` section 7).
  public enum Accessibility: UInt8, Sendable, Hashable, CaseIterable {
    /// While the handle is unlocked. ``Vault/lock()`` wipes the key of this class.
    case whenUnlocked = 0
    /// Also after ``Vault/lock()``, as it was last loaded: for secrets that a server needs all the time. Listing
    /// records and writing require the vault to be unlocked.
    case afterFirstUnlock = 1
    /// Like ``whenUnlocked``, but also requires the device key, which is stored outside the vault: a copy of the vault
    /// and its passphrase are not sufficient.
    case whenUnlockedThisDeviceOnly = 2
    /// Like ``afterFirstUnlock``, but also requires the device key.
    case afterFirstUnlockThisDeviceOnly = 3

    /// The class with the given name.
    /// - Throws: ``VaultError/Code/unsupportedAccessibility`` for any other name. That includes classes of other
    ///   keychains whose guarantees a server cannot provide, such as `always` and `whenPasscodeSetThisDeviceOnly`.
    public init(named name: String) throws(VaultError) {
      guard let found = Self.allCases.first(where: { $0.name == name }) else {
        throw VaultError(
          .unsupportedAccessibility,
          "an accessibility is one of " + Self.allCases.map(\.name).joined(separator: ", ") + "; others are refused")
      }
      self = found
    }

    /// The name of the case, such as `whenUnlocked`.
    public var name: String { "\(self)" }

    /// Whether the value stays readable after ``Vault/lock()``.
    public var isReadableAfterLock: Bool { self == .afterFirstUnlock || self == .afterFirstUnlockThisDeviceOnly }

    /// Whether the device key is required.
    public var isThisDeviceOnly: Bool {
      self == .whenUnlockedThisDeviceOnly || self == .afterFirstUnlockThisDeviceOnly
    }

    /// The bytes that sealing adds to a value: one seal, and a second one for the device layer.
    var sealOverhead: Int { isThisDeviceOnly ? 2 * Sealer.overhead : Sealer.overhead }
  }
}
