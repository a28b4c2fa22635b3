/// What a locked handle can still read: the sealed values of the classes "after first unlock", as they were loaded, and
/// their class keys (`Docs/Format.md` section 7). All other keys are wiped.
final class KeptValues {
  private var groups: [Vault.Identifier: DetachedRecords] = [:]

  /// Copies what stays readable, so that everything else is wiped with `state`. Opens the groups that were not used
  /// yet. In a group that does not verify, nothing stays readable.
  init(_ state: VaultState) {
    for group in state.groups {
      do throws(VaultError) {
        groups[group.id] = try DetachedRecords(try state.content(group.id), state) {
          $0.accessibility.isReadableAfterLock
        }
      } catch {}  // thrown when the group is used after unlocking
    }
  }

  /// A value that may still be read.
  func find(_ name: borrowing RecordName, in group: Vault.Identifier) -> (record: Record, cipher: ValueCipher)? {
    groups[group]?.find(name)
  }
}
