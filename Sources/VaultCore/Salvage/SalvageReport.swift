/// What was saved from a vault that does not open as a whole. **Unverified as to completeness**: that something is not
/// here does not mean that it was not there, and a value may be an older one.
public struct SalvageReport: Sendable {
  /// One access group of the new vault.
  public struct Group: Sendable {
    /// Its name; made up from its id when none could be read.
    public let name: Vault.Name
    /// The records that are in the new vault. Each was sealed for its service, key and kind by a holder of the group's
    /// key.
    public let recordCount: Int
    /// Whether section and every journal entry that was found verify, each value opens, and the group ``isCurrent``: then
    /// it is as whole as the file shows it. Otherwise each of its records has the attribute ``SalvageReport/attribute``.
    public let isVerified: Bool
    /// Whether the group is in the state that the manifest speaks of, or in one that its holders wrote on top of that.
    /// `false` where an owner's manifest could not be read: the records may be of an older state of the group that was put
    /// back, and the attribute says so. A group holder never sees the manifest: then this is `true`, as for a load.
    public let isCurrent: Bool
    /// Journal entries of the group that were found and could not be used.
    public let lostEntryCount: Int
    /// Values that were found and did not open.
    public let lostValueCount: Int
  }

  /// The name of the attribute that records of a group have which was not whole.
  public static let attribute = "salvaged"

  /// Whether an owner salvaged. A group holder sees its own group alone, and never the manifest.
  public let isOwner: Bool
  /// In the new file's order.
  public let groups: [Group]
  /// Access groups of which nothing but an id and perhaps a name is left; the new vault does not have them.
  public let lostGroups: [String]
  /// Whether names of groups, labels of slots and the set of groups were read as an owner wrote them. Without it nobody can
  /// tell whether a slot had been revoked, or a group rotated since: rotate the vault, and make the slots anew.
  public let hasManifest: Bool
  /// How many slots the new vault has. Those of the old file that are in order go on.
  public let slotCount: Int
}
