internal import VaultCore

/// The merge of two changed copies of a vault: what one side has changed in its records is written on the other side's
/// copy.
///
/// The tags of a vault chain each entry to the one before, so the entries of two sides cannot follow each other.
/// A holder of the keys can write the changes again (`Docs/Decisions/0093`).
struct VaultMerge {
  struct Conflict {
    let group: Vault.Name
    let service: Vault.Name
    let key: Vault.Name
    let reason: String

    var place: String { [group, service, key].map(\.text).joined(separator: "/") }
  }

  private struct Name: Hashable {
    let group: Vault.Identifier
    let service: Vault.Name
    let key: Vault.Name
  }

  /// One of the three copies.
  private struct Side {
    let vault: Vault
    let groups: [Vault.Identifier: AccessGroup]
    /// No record of a group has a higher revision, and none had.
    let generations: [Vault.Identifier: UInt64]
    let records: [Name: RecordInfo]
    /// The removed keys that are kept.
    let removed: Set<Name>
    /// Who opens what: what a merge does not write again.
    let shape: [String]

    /// - Parameter name: the name of a copy that has to be whole.
    init(_ vault: Vault, _ name: String? = nil) throws(VaultError) {
      let status = try vault.status()
      if let name, status.tornTail != nil {
        throw VaultError(
          .malformed, "the end of <\(name)> is broken: what stood there would be missing in the merge, unnoticed",
          cause: Cure(hint: "check out that side and write to it, which saves the broken bytes and ends the warning"))
      }
      guard status.isOwner else {
        throw VaultError(.ownerRequired, "a holder of a group does not see what others have changed")
      }
      guard try vault.auditing() == nil else {
        throw VaultError(
          .unsupportedFeature, "the vault is logged, and its logs are files beside it, which are not merged",
          cause: Cure(hint: "take one side, and repeat the changes of the other; \"audit off\" ends the logs"))
      }
      self.vault = vault
      generations = Dictionary(uniqueKeysWithValues: status.groups.map { ($0.id, $0.generation) })
      var groups: [Vault.Identifier: AccessGroup] = [:]
      var records: [Name: RecordInfo] = [:]
      var removed: Set<Name> = []
      for group in try vault.groups() {
        groups[group.id] = group
        for record in try vault.records(in: group) {
          records[Name(group: group.id, service: record.service, key: record.key)] = record
        }
        for record in try vault.removedRecords(in: group) where record.keptUntil > vault.options.now() {
          removed.insert(Name(group: group.id, service: record.service, key: record.key))
        }
      }
      self.groups = groups
      self.records = records
      self.removed = removed
      shape =
        try vault.slots().map { "\($0.id) \($0.label)" }.sorted()
        + status.groups.map { "\($0.id) \($0.name)" }.sorted()
    }

    func opensAs(_ other: Side) throws(VaultError) -> Bool {
      guard shape == other.shape else { return false }
      return try vault.hasSameKeys(as: other.vault)
    }
  }

  private let base: Side
  /// The side whose copy becomes the result.
  private let target: Side
  /// The side whose changes are written on it.
  private let other: Side
  /// Whether the result is their copy, because only they have changed who opens what.
  let takesTheirs: Bool
  private(set) var conflicts: [Conflict] = []
  private var written = 0
  private var removedCount = 0

  /// - Throws: ``VaultError/Code/conflict`` if both sides have changed slots or access groups; the codes of an open
  ///   vault.
  init(base: Vault, ours: Vault, theirs: Vault) throws(VaultError) {
    let (common, own, foreign) = (try Side(base), try Side(ours, "ours"), try Side(theirs, "theirs"))
    let isOwnChanged = try !own.opensAs(common)
    let isForeignChanged = try !foreign.opensAs(common)
    takesTheirs = isForeignChanged && !isOwnChanged
    if isForeignChanged, isOwnChanged, try !foreign.opensAs(own) {
      throw VaultError(
        .conflict, "both sides have changed slots, access groups or keys",
        cause: Cure(hint: "take one side, and repeat the changes of the other"))
    }
    self.base = common
    target = takesTheirs ? foreign : own
    other = takesTheirs ? own : foreign
  }

  /// Writes the changes. The keys in ``conflicts`` have the values of ours afterwards. The result is a later state than
  /// both sides, so that a mark of either accepts it, and what is written has revisions that neither had.
  ///
  /// - Throws: ``VaultError/Code/conflict`` if a key of ours cannot be written on their copy.
  mutating func run() throws(VaultError) {
    try target.vault.raise(above: other.vault.currentMark())
    let names = Set(base.records.keys).union(other.records.keys).union(target.records.keys)
    for name in names.sorted(by: { ($0.group, $0.service, $0.key) < ($1.group, $1.service, $1.key) }) {
      do throws(VaultError) { try merge(name) } catch {
        // The values of other devices cannot be compared, and need not stop the other keys.
        guard [.deviceKeyMissing, .wrongDevice].contains(error.code) else { throw error }
        try addUnlessOurs(name, error.message)
      }
    }
    // What was a key, or was kept as a removed one, and can be restored in the result alone.
    let lost = base.removed.filter { target.removed.contains($0) || target.records[$0] != nil }
      .union(base.records.keys.filter(target.removed.contains))
      .filter { !other.removed.contains($0) && other.records[$0] == nil }
    for name in lost.sorted(by: { ($0.service, $0.key) < ($1.service, $1.key) }) where !hasConflict(name) {
      try addUnlessOurs(name, "one side has removed it for good, and the other has it or keeps it as a removed key")
    }
  }

  private func hasConflict(_ name: Name) -> Bool {
    conflicts.contains {
      $0.service == name.service && $0.key == name.key && $0.group == target.groups[name.group]?.name
    }
  }

  private mutating func merge(_ name: Name) throws(VaultError) {
    let (before, mine, new) = (base.records[name], target.records[name], other.records[name])
    if Self.isSame(before, new) {
      if let before, let new, before.previous.count != new.previous.count {
        try addUnlessOurs(name, Self.dropped)
      } else if before == nil, other.removed.contains(name) {
        // The other side has made and removed it: its revision there was that of another value.
        try renew(name)
      }
      return
    }
    if mine == nil, new == nil { return }
    guard let group = target.groups[name.group], let source = other.groups[name.group] else {
      return try addUnlessOurs(name, "one side has changed it, and the other removed its access group")
    }
    let copy = new.map { groupCopy($0, of: other, source, to: group, of: target) }
    if try hasDropped(name, in: other), try !hasDropped(name, in: target) {
      return try addUnlessOurs(name, Self.dropped)
    }
    // Even if both sides have written the same.
    if let mine, let new, let copy, try copy.isMade() {
      // The other side may have had another value at this revision before.
      if mine.revision < new.revision { try renew(name) }
      return
    }
    if let new, RotationMark.isPending(in: new) {
      return try addUnlessOurs(name, "a rotation of it is not confirmed, and its old value cannot be merged")
    }
    // An earlier merge or a rebase has written the same again.
    if !Self.isSame(before, mine), try isUnchanged(before, name, in: other) { return try renew(name) }
    let reason = try reason(name, before, mine, new)
    if let reason {
      add(name, reason)
      // What stays is ours.
      guard takesTheirs else { return try renew(name) }
    }
    if let copy { try write(copy, name, isConflict: reason != nil) } else { try remove(name, in: group) }
    guard reason == nil else { return }
    if copy == nil { removedCount += 1 } else { written += 1 }
  }

  /// Why a record that the other side has changed is a conflict; `nil` if it is none.
  private func reason(
    _ name: Name, _ before: RecordInfo?, _ mine: RecordInfo?, _ new: RecordInfo?
  ) throws(VaultError) -> String? {
    if Self.isSame(before, mine) {
      let isDropped = before == nil && base.removed.contains(name) && !target.removed.contains(name)
      return isDropped ? "one side has removed it for good, and the other has it again" : nil
    }
    if try isUnchanged(before, name, in: target) { return nil }
    let isRemoved = mine == nil || new == nil
    return isRemoved ? "one side has changed it, and the other removed it" : "both sides have changed it"
  }

  /// Whether a side has a record as the ancestor has it, in a write of its own.
  private func isUnchanged(_ before: RecordInfo?, _ name: Name, in side: Side) throws(VaultError) -> Bool {
    guard let before, let group = base.groups[name.group], let newGroup = side.groups[name.group] else { return false }
    return try groupCopy(before, of: base, group, to: newGroup, of: side).isMade()
  }

  private func groupCopy(
    _ record: RecordInfo, of side: Side, _ group: AccessGroup, to newGroup: AccessGroup, of target: Side
  ) -> GroupCopy {
    GroupCopy(
      vault: side.vault, record: record, group: group, newVault: target.vault, service: record.service,
      key: record.key, newGroup: newGroup)
  }

  /// Writes a record as the other side has it. A value that is there already does not become an earlier one, and no
  /// value of the ancestor does that the other side has no more: it may have been removed for good.
  private func write(_ copy: GroupCopy, _ name: Name, isConflict: Bool) throws(VaultError) {
    let gone = try missing(name, in: other)
    if let mine = target.records[name] { try drop(gone, from: mine, in: copy.newGroup) }
    guard try copy.hasValue() else {
      // Without a conflict, what is replaced is the value of the ancestor.
      let isGone = !isConflict && (base.records[name].map { gone.contains($0.revision) } ?? false)
      return try copy.copy(replaces: true, keepsDepth: false, keepsValue: !isGone)
    }
    var edit = RecordEdit(of: copy.record)
    edit.keepsReplacedDepth = false
    try self.edit(copy.record, edit, in: copy.newGroup)
  }

  /// Removes the newest earlier value that is `gone`, and the older ones. A history is cut at its end alone.
  private func drop(_ gone: Set<UInt64>, from record: RecordInfo, in group: AccessGroup) throws(VaultError) {
    let kept = record.previous.prefix { !gone.contains($0.revision) }.count
    guard kept < record.previous.count else { return }
    for depth in [UInt16(kept), record.historyDepth] {
      var edit = RecordEdit()
      edit.historyDepth = .set(depth)
      try self.edit(record, edit, in: group)
    }
  }

  /// Gives a key that stays as it is a revision that the other side never had: who has read a different value there,
  /// and expects its revision, does not replace this one unseen.
  private func renew(_ name: Name) throws(VaultError) {
    guard let mine = target.records[name], let group = target.groups[name.group],
      let known = other.generations[name.group], mine.revision <= known, !Self.isSame(base.records[name], mine)
    else { return }
    try edit(mine, RecordEdit(), in: group)
  }

  private func edit(_ record: RecordInfo, _ edit: RecordEdit, in group: AccessGroup) throws(VaultError) {
    try target.vault.transaction(service: record.service, in: group) { (batch) throws(VaultError) in
      try batch.edit(record.key.text, edit)
    }
  }

  /// Removes a record as the other side has: it is kept for a time only if it is kept there.
  private func remove(_ name: Name, in group: AccessGroup) throws(VaultError) {
    try target.vault.transaction(service: name.service, in: group) { (batch) throws(VaultError) in
      if !other.removed.contains(name) { batch.keeping = .nothing }
      try batch.remove(name.key)
    }
  }

  /// Adds a conflict in which the written side stays as it is. That must be ours.
  private mutating func addUnlessOurs(_ name: Name, _ reason: String) throws(VaultError) {
    add(name, reason)
    guard takesTheirs, let conflict = conflicts.last else { return try renew(name) }
    throw VaultError(
      .conflict,
      "\(displayed(conflict.place)): \(reason); their side has changed slots, access groups or keys, so that our key "
        + "would have to be written on their copy",
      cause: Cure(hint: "take one side, and repeat the changes of the other"))
  }

  private mutating func add(_ name: Name, _ reason: String) {
    guard let group = base.groups[name.group] ?? other.groups[name.group] ?? target.groups[name.group] else { return }
    conflicts.append(Conflict(group: group.name, service: name.service, key: name.key, reason: reason))
  }

  private static let dropped =
    "one side has removed earlier values for good, which \"secretprefs edit --history\" does here, too"

  /// Whether values that the ancestor had are gone from a side, and not because it has kept as many as before.
  private func hasDropped(_ name: Name, in side: Side) throws(VaultError) -> Bool {
    guard let before = base.records[name], let after = side.records[name] else { return false }
    let missing = try missing(name, in: side)
    guard after.created == before.created else { return !missing.isEmpty }
    let isFull = after.historyDepth >= before.historyDepth && after.previous.count >= after.historyDepth
    return !isFull && before.previous.contains { missing.contains($0.revision) }
  }

  /// The revisions of the ancestor's values that a side does not have, neither as its value nor as an earlier one. A
  /// value that is the current one again has a new revision, so that the values count.
  private func missing(_ name: Name, in side: Side) throws(VaultError) -> Set<UInt64> {
    guard let before = base.records[name], let after = side.records[name] else { return [] }
    var missing = Set(before.revisions).subtracting(after.revisions)
    for revision in missing where try hasValue(revision, of: before, name, in: side) { missing.remove(revision) }
    return missing
  }

  /// Whether a side has a value of the ancestor, under whatever revision.
  private func hasValue(
    _ revision: UInt64, of before: RecordInfo, _ name: Name, in side: Side
  ) throws(VaultError) -> Bool {
    guard let group = base.groups[name.group], let newGroup = side.groups[name.group], let after = side.records[name],
      let value = try base.vault.copiedValue(of: before, previous: revision, in: group)
    else { return false }
    for place in after.revisions {
      let isEqual = try side.vault.withValue(of: after, previous: place, in: newGroup) { value.isEqual(to: $1) }
      if isEqual ?? false { return true }
    }
    return false
  }

  /// Whether a record was not written in between. Each write counts its revision up.
  private static func isSame(_ one: RecordInfo?, _ other: RecordInfo?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    return one.revision == other.revision && one.modified == other.modified && one.created == other.created
  }

  var json: JSON {
    .object([
      ("takes", .string(takesTheirs ? "theirs" : "ours")), ("set", .unsigned(UInt64(written))),
      ("removed", .unsigned(UInt64(removedCount))),
      (
        "conflicts",
        .array(
          conflicts.map {
            .object([
              ("group", .string($0.group.text)), ("service", .string($0.service.text)), ("key", .string($0.key.text)),
              ("reason", .string($0.reason)),
            ])
          })
      ),
    ])
  }
}

extension RecordInfo {
  /// Those of the value and of the earlier values.
  fileprivate var revisions: [UInt64] { [revision] + previous.map(\.revision) }
}
