/// What a call of `copy` or `move` of ``SecretPreferences`` did, as lists of keys of the vault.
public struct SecretMigration: Sendable, Hashable {
  /// What happens to a key under which the vault has a different value.
  public enum ConflictPolicy: Sendable {
    /// The call throws ``VaultError/Code/conflict``, and nothing changes.
    case refuse
    /// The vault keeps its value, and the source keeps its own.
    case keep
    /// The value of the source replaces the value of the vault.
    case replace
  }

  /// The keys whose values were sealed by this call.
  public internal(set) var sealed: [String] = []
  /// The keys that were in the vault already. Their value equals that of the source, or the source has none any more.
  public internal(set) var present: [String] = []
  /// The keys whose values differ in the source and in the vault, and were not changed on either side, by
  /// ``ConflictPolicy/keep``.
  public internal(set) var kept: [String] = []
  /// The keys that have a value neither in the source nor in the vault.
  public internal(set) var missing: [String] = []
}

/// Prints the numbers of keys: their names may be confidential.
extension SecretMigration: CustomStringConvertible, CustomReflectable {
  public var description: String {
    "\(sealed.count) sealed, \(present.count) present, \(kept.count) kept, \(missing.count) missing"
  }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
