/// A storage while one writer has it to itself: see ``VaultStorage/lock(until:)``.
///
/// Used by one thread at a time. The writer first takes over what others have appended, then appends or replaces, and
/// releases the lock. If the lock is lost, for example with a connection, every further call throws.
///
/// A storage whose lock ends with a change, such as a transaction, may take it again for the next call. If another
/// writer came between, ``changes(since:limit:)`` returns what it has written, and an append or a replacement that was
/// not preceded by it throws with nothing changed.
public protocol LockedStorage: AnyObject {
  /// What has changed since a position: now with certainty, because no other writer is there.
  ///
  /// Every byte behind the position is returned, even if it does not look like a part of a vault. A position at offset
  /// 0 asks for everything.
  func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges

  /// Puts an entry behind a position of the present version, durably. Bytes that are behind the position are not part
  /// of the vault any more.
  ///
  /// - Throws: ``VaultError/Code/durabilityUnknown`` if the entry may or may not be there. The writer then tries
  ///   ``replace(with:behind:)`` under the same lock, and appends nothing more. After any other error, the bytes before
  ///   the position are unchanged, and a reader finds nothing new behind it.
  func append(_ entry: [UInt8], at position: StoragePosition) throws(VaultError)

  /// Replaces everything, durably: after a crash there are either the old or the new bytes.
  ///
  /// - Parameter position: the end of what the new bytes were made from; `nil` if they do not depend on the old ones.
  ///   A storage that can have bytes behind it keeps them elsewhere first.
  /// - Returns: the new version.
  /// - Throws: ``VaultError/Code/durabilityUnknown`` if the new bytes may or may not be there. After any other error
  ///   the old ones are.
  func replace(with bytes: [UInt8], behind position: StoragePosition?) throws(VaultError) -> any StorageVersion

  /// Removes the vault, if it is still the one that is locked.
  ///
  /// - Returns: `false` if it may still be there.
  func remove() -> Bool

  /// Releases the lock. Called once, after everything else.
  func release()
}
