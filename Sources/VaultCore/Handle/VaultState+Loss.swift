internal import VaultSealing

extension VaultState {
  /// The error of a state that is older than the one that was loaded before it, or a different one with the same
  /// counters; `nil` if it is not, or does not verify. Looks at the access groups that were in use.
  func loss(since old: VaultState) -> VaultError? {
    guard old.snapshot.vaultID == snapshot.vaultID else { return nil }
    if unlocked.isOwner, old.unlocked.isOwner, snapshot.generation < old.snapshot.generation { return Self.lost }
    for group in old.groups {
      guard let seen = group.openedContent, let present = self.group(group.id) else { continue }
      do throws(VaultError) {
        let content = try present.content(snapshot, sealer, options.limits)
        let (found, known) = ((content.epoch, content.generation), (seen.epoch, seen.generation))
        if found < known || found == known && content.tag != seen.tag { return Self.lost }
      } catch { return nil }  // thrown when the group is used
    }
    return nil
  }

  /// The error of a state whose storage has returned to a different history after it was loaded; `nil` if it has not.
  var possibleLoss: VaultError? {
    guard version?.mayBeLost ?? false else { return nil }
    return storage.error(
      .rolledBack,
      "the database goes on from an earlier state, as after a fail-over to a replica, and the newest writes that were "
        + "seen may be lost")
  }

  private static var lost: VaultError {
    VaultError(
      .rolledBack,
      "the vault was replaced by an older copy, and the newest writes are lost; or a write that failed was taken back")
  }
}
