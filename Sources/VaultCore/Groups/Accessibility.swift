internal import VaultSealing

extension Vault {
  /// When a value can be read: the classes of `Docs/Format.md` section 7. Part of the value's seal.
  public enum Accessibility: UInt8, Sendable, Hashable, CaseIterable {
    /// While the handle is unlocked. ``Vault/lock()`` wipes the keys.
    case whenUnlocked = 0
    /// Also after ``Vault/lock()``, as it was loaded: for what a server must go on with. Listing, other records and
    /// writing wait until the vault is unlocked again.
    case afterFirstUnlock = 1
    /// As ``whenUnlocked``, and only with the device key, which is kept outside the vault: a copy of the vault and its
    /// passphrase are not enough.
    case whenUnlockedThisDeviceOnly = 2
    /// As ``afterFirstUnlock``, and only with the device key.
    case afterFirstUnlockThisDeviceOnly = 3

    /// The class of that name.
    /// - Throws: ``VaultError/Code/unsupportedAccessibility`` for every other name, those that keychains of phones have
    ///   (`always`, `whenPasscodeSetThisDeviceOnly`, …) included: a server cannot keep what they promise.
    public init(named name: String) throws(VaultError) {
      guard let found = Self.allCases.first(where: { $0.name == name }) else {
        throw VaultError(
          .unsupportedAccessibility,
          "an accessibility is one of " + Self.allCases.map(\.name).joined(separator: ", ") + "; others are refused")
      }
      self = found
    }

    /// The name, as in the source.
    public var name: String { "\(self)" }

    /// Whether ``Vault/lock()`` leaves the value readable.
    public var isReadableAfterLock: Bool { self == .afterFirstUnlock || self == .afterFirstUnlockThisDeviceOnly }

    /// Whether the device key is needed.
    public var isThisDeviceOnly: Bool {
      self == .whenUnlockedThisDeviceOnly || self == .afterFirstUnlockThisDeviceOnly
    }

    /// How much longer a sealed value is than the value: its seal, and that of the device layer.
    var sealOverhead: Int { isThisDeviceOnly ? 2 * Sealer.overhead : Sealer.overhead }
  }
}
