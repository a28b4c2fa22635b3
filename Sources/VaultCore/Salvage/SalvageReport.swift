/// The result of a salvage from a vault that does not open as a whole.
///
/// It is **not complete**: a record that is missing here may have existed, and a value may be an older one.
public struct SalvageReport: Sendable {
  /// One access group of the new vault.
  public struct Group: Sendable {
    /// The name of the group, or one derived from its id if no name could be read.
    public let name: Vault.Name
    /// The number of its records in the new vault. Each was sealed for its service, key and kind by a holder of the
    /// group's key.
    public let recordCount: Int
    /// Whether the section and every journal entry found verify, each value opens, and the group ``isCurrent``.
    /// Otherwise each of its records has the attribute ``SalvageReport/attribute``.
    public let isVerified: Bool
    /// Whether the group is in the state that the manifest names, or in a later one of its holders. `false` if an
    /// owner's manifest could not be read: the records may be from an older state of the group, and the attribute says
    /// so. Always `true` for a group holder, which cannot read the manifest.
    public let isCurrent: Bool
    /// The number of journal entries of the group that were found and could not be used.
    public let lostEntryCount: Int
    /// The number of values that were found and did not open.
    public let lostValueCount: Int
  }

  /// The name of the attribute of records whose group was not verified.
  public static let attribute = "salvaged"

  /// Whether the credential was an owner's. A group holder's salvage sees only the groups that its credential opens,
  /// without the manifest.
  public let isOwner: Bool
  /// The groups of the new vault, in the order of the file.
  public let groups: [Group]
  /// The names or ids of access groups that could not be saved. The new vault does not have them. A group holder learns
  /// of a group if it has a slot that still opens, whether its section is lost or the slot was left by a rotation.
  public let lostGroups: [String]
  /// Whether the manifest could be read, with the list of groups, their names and the labels of slots. Without it, it
  /// is unknown whether a slot was revoked or a group rotated: rotate the vault and create the slots again.
  public let hasManifest: Bool
  /// The broken end of the damaged file's journal: an interrupted write, or acknowledged entries that are lost. The new
  /// vault has none of their changes. `nil` if the journal ends with a whole entry.
  public let tornTail: Vault.TornTail?
  /// The number of slots of the new vault. Valid slots of the damaged file are kept.
  public let slotCount: Int
}
