internal import Preferences
internal import VaultCore
internal import VaultSealing

/// What an import does with each key of the file, given the keys that the vault has.
struct ImportPlan {
  /// What happens to keys that exist.
  enum ConflictChoice: String, CaseIterable {
    case stop, skip, replace

    static func named(_ name: String) throws(ToolError) -> ConflictChoice {
      guard let choice = ConflictChoice(rawValue: name) else {
        throw .usage("--on-conflict has no such choice", hint: "--on-conflict stop, skip or replace")
      }
      return choice
    }
  }

  /// An access group that gets keys.
  struct PlannedGroup {
    let name: Vault.Name
    /// `nil` for a group that the import creates.
    let group: AccessGroup?
  }

  struct PlannedValue {
    let group: Vault.Name
    let service: Vault.Name
    let value: PlainRecords.Value
    let kind: ValueKind
    /// The record that has the key. `nil` if the key is new.
    let record: RecordInfo?
    /// The removed record that the vault keeps of the key, if the file has a whole record.
    let removed: RemovedRecord?

    var exists: Bool { record != nil }
    var isRemoved: Bool { value.record?.removal != nil }
  }

  let items: [PlannedValue]
  /// In the order of their names.
  let groups: [PlannedGroup]
  /// The services of the keys, in ascending order.
  let services: [String]
  let skipped: [PlainRecords.Part]
  let notes: [PlainRecords.Part]
  let place: RecordPlace

  /// - Parameters:
  ///   - keepsServices: whether records stay in their services.
  ///   - keepsGroups: whether the keys of an archive stay in their access groups.
  ///   - choice: what happens to keys that exist.
  ///   - now: milliseconds since 1970-01-01 UTC.
  init(
    _ records: PlainRecords, in bytes: borrowing SecretBytes, _ place: RecordPlace, keepingServices keepsServices: Bool,
    keepingGroups keepsGroups: Bool, _ choice: ConflictChoice, at now: Int64, of vault: Vault
  ) throws {
    self.place = place
    var groups = ImportGroups(place, keepsNames: keepsGroups, of: vault)
    var skipped = records.skipped
    var notes = records.notes
    items = try bytes.withUnsafeBytes { (bytes) throws in
      var items: [PlannedValue] = []
      for value in records.values {
        var value = value
        if value.record?.endRotation() == true {
          notes.append(
            PlainRecords.Part(
              line: value.line, name: value.key,
              reason: "its rotation is not pending here; its old value is an earlier one, if it was kept"))
        }
        guard let target = try groups.target(of: value) else { continue }
        let kind = value.spelling.kind(of: UnsafeRawBufferPointer(rebasing: bytes[value.bytes]))
        let own = try value.record.map { (record) throws(VaultError) in try Vault.Name(record.service) }
        let service = keepsServices ? own ?? place.service : place.service
        let record = try target.group.flatMap { (group) throws(VaultError) in
          try vault.record(service: service, key: value.key, in: group)
        }
        let removed = try value.record == nil ? nil : groups.removedRecord(value.key, of: service, in: target)
        let item = PlannedValue(
          group: target.name, service: service, value: value, kind: kind, record: record, removed: removed)
        let replaces = choice == .replace
        if let reason = item.objection(at: now, replaces: replaces) {
          skipped.append(PlainRecords.Part(line: value.line, name: value.key, reason: reason))
        } else {
          items.append(item)
          guard let reason = item.note(replaces: replaces) else { continue }
          notes.append(PlainRecords.Part(line: value.line, name: value.key, reason: reason))
        }
      }
      return items
    }
    let used = Set(items.map(\.group))
    self.groups = groups.all.filter { used.contains($0.name) }
    self.skipped = skipped + groups.skipped
    self.notes = notes
    services = Set(items.map(\.service)).map(\.text).sorted()
    if items.isEmpty, let refusal = groups.refusal { throw refusal }
  }

  /// How many bytes would be stored for each value.
  func lengths(in bytes: borrowing SecretBytes) throws -> [Int] {
    try bytes.withUnsafeBytes { bytes in
      try items.map { item in
        try item.value.spelling.count(of: UnsafeRawBufferPointer(rebasing: bytes[item.value.bytes]).bytes)
      }
    }
  }

  var existing: [PlannedValue] { items.filter { $0.exists && !$0.isRemoved } }

  /// The transactions of one access group.
  struct Write {
    let group: AccessGroup
    fileprivate(set) var revisions: ClosedRange<UInt64>
    /// Whether records have times of their own, so that their history does not say that the import has made them.
    let hasTimes: Bool
    /// Whether no other program has written to the group in between: undoing all revisions would undo that, too.
    fileprivate(set) var isUnbroken = true
    /// Whether the journal has all of them. A large import makes it too long, and the file is written anew.
    /// Undoing them then brings the values back, and no metadata.
    fileprivate(set) var isInJournal = true

    /// Whether the history alone does not say what to undo.
    private var needsJournal: Bool { revisions.count > 1 || hasTimes }

    /// What `history undo` takes; `nil` if nothing undoes the writes together. With two revisions it does not use the
    /// history.
    var argument: String? {
      guard isUnbroken, isInJournal || !needsJournal else { return nil }
      return hasTimes ? "\(revisions.lowerBound)-\(revisions.upperBound)" : UndoWrite.text(revisions)
    }
  }

  /// Refuses an import that stops because keys exist.
  func check(_ choice: ConflictChoice) throws(ToolError) {
    guard choice == .stop, !existing.isEmpty else { return }
    throw ToolError(
      VaultError(.alreadyExists, "nothing was imported: these keys exist: \(listed(existing.map(name(of:))))"),
      hint: "--on-conflict skip keeps existing keys, --on-conflict replace replaces them")
  }

  /// The key, after its access group and its service if there are several.
  private func name(of item: PlannedValue) -> String {
    (groups.count > 1 ? "\(item.group.text)/" : "") + (services.count > 1 ? "\(item.service.text)/" : "")
      + item.value.key
  }

  /// Writes all values, in one transaction for each access group. Each earlier value of a record needs one more before
  /// it.
  /// - Returns: What was written, for each access group that something was written to.
  func write(from bytes: borrowing SecretBytes, _ choice: ConflictChoice, to vault: Vault) throws -> [Write] {
    try check(choice)
    var writes: [Write] = []
    var hasWritten = false
    do throws(VaultError) {
      // First of all: it replaces the file, which ends the journal.
      let targets = try groups.map { (planned) throws(VaultError) in
        if let group = planned.group { return group }
        hasWritten = true
        return try vault.createGroup(planned.name.text)
      }
      // All values are sealed before the first is written: what cannot be, such as without the device key, changes
      // nothing.
      var sealed: [(group: AccessGroup, steps: [[RecordChange]], hasTimes: Bool)] = []
      for (planned, group) in zip(groups, targets) {
        let items = items.filter { $0.group == planned.name && (choice == .replace || !$0.exists) }
        let steps = try (0..<(items.map(\.stepCount).max() ?? 0)).reversed().map { (step) throws(VaultError) in
          var changes: [RecordChange] = []
          for (service, items) in Dictionary(grouping: items.filter { step < $0.stepCount }, by: \.service) {
            changes += try self.changes(step, items, of: service, from: bytes, in: group, of: vault)
          }
          return changes
        }
        sealed.append((group, steps, items.contains { $0.value.record?.times != nil }))
      }
      for (group, steps, hasTimes) in sealed {
        for changes in steps {
          let revision = try vault.commit(changes, in: group).revision
          hasWritten = true
          if writes.last?.group.id == group.id {
            let earlier = writes[writes.count - 1].revisions
            if revision != earlier.upperBound + 1 { writes[writes.count - 1].isUnbroken = false }
            writes[writes.count - 1].revisions = earlier.lowerBound...revision
          } else {
            writes.append(Write(group: group, revisions: revision...revision, hasTimes: hasTimes))
          }
        }
      }
      for index in writes.indices {
        writes[index].isInJournal = vault.isInJournal(writes[index].revisions, of: writes[index].group)
      }
      return writes
    } catch {
      let said =
        error.code == .conflict
        ? VaultError(.conflict, "another process stored one of the keys in the meantime") : error
      guard !hasWritten else {
        throw said.after("a part was imported; import it again with --on-conflict replace")
      }
      guard error.code == .conflict else { throw error }
      throw ToolError(said, message: "\(said.message); nothing was imported", hint: "run the command again")
    }
  }

  /// The changes of one step: 0 is the last one.
  private func changes(
    _ step: Int, _ items: [PlannedValue], of service: Vault.Name, from bytes: borrowing SecretBytes,
    in group: AccessGroup, of vault: Vault
  ) throws(VaultError) -> [RecordChange] {
    try bytes.withSpan { (bytes) throws(VaultError) in
      try vault.sealedChanges(service: service, in: group) { (batch) throws(VaultError) in
        batch.reserveCapacity(items.count)
        let keeping = batch.keeping
        for item in items {
          // What a new record keeps, the file says.
          batch.keeping = item.value.record == nil || item.exists ? keeping : .nothing
          try item.add(to: &batch, step, from: bytes)
        }
      }
    }.get()
  }
}

extension ImportPlan.PlannedValue {
  var stepCount: Int { value.record?.stepCount ?? 1 }

  /// Why a key that was removed is not imported.
  ///
  /// - Parameters:
  ///   - replaces: Whether the import goes on from where an earlier one was interrupted.
  fileprivate func objection(at now: Int64, replaces: Bool) -> String? {
    // A value alone keeps the attributes of the key, and with them its rotation.
    if replaces, value.record != nil, let record, RotationMark.isPending(in: record) {
      return "a rotation of the key is not confirmed in the vault"
    }
    guard let removal = value.record?.removal else { return nil }
    if exists, !replaces || !isLeftover { return "a removed key, and the vault has a key of this name" }
    if removed != nil, !replaces { return "a removed key, and the vault keeps a removed key of this name" }
    return removal.keptUntil <= now ? "a removed key that was kept until \(Timestamp.text(of: removal.keptUntil))" : nil
  }

  /// Whether the vault has the key from an import of the same archive that did not come to its removal.
  private var isLeftover: Bool {
    guard let record, let times = value.record?.times, record.created == times.created else { return false }
    return record.modified == times.modified
      || value.record?.earlier.contains { $0.modified == record.modified } ?? false
  }

  /// Adds one step of the record to a batch: its removal, or one of its values.
  fileprivate func add(to batch: inout Vault.Transaction, _ step: Int, from bytes: RawSpan) throws(VaultError) {
    if step == 0, let record = value.record, let removal = record.removal, let times = record.times {
      return try batch.remove(
        value.key, removed: removal.removed, keptUntil: removal.keptUntil, created: times.created)
    }
    // How many values are after it.
    let place = isRemoved ? step - 1 : step
    let earlier = place > 0 ? value.record?.earlier[place - 1] : nil
    let (range, spelling) = (earlier?.bytes ?? value.bytes, earlier?.spelling ?? value.spelling)
    let isFirst = step == stepCount - 1
    // The kind of an earlier value does not depend on its bytes.
    let kind = earlier?.spelling.kind(of: UnsafeRawBufferPointer(start: nil, count: 0)) ?? kind
    let edit = try edit(isLast: place == 0)
    try spelling.withBody(of: bytes.extracting(range)) { (body) throws(VaultError) in
      try batch.set(
        body, kind: kind, forKey: value.key, accessibility: value.record?.accessibility, edit: edit,
        times: value.record?.times(of: earlier), ifRevision: isFirst && !exists ? 0 : nil)
    }
  }

  private func edit(isLast: Bool) throws(VaultError) -> RecordEdit {
    if let imported = value.record { return imported.edit(isLast: isLast, keeping: presentCount) }
    var edit = RecordEdit()
    switch value.login {
    case .docker(let user): edit = try DockerCredential.login(of: user, over: record)
    case .git: edit = try GitCredential.login(over: record)
    case nil: break
    }
    if let isSecret = value.isSecret { try SecretMark.set(isSecret, in: &edit, over: record) }
    return edit
  }

  /// How many values the vault has of the key, also of a removed one.
  private var presentCount: Int { record.map { $0.previous.count + 1 } ?? removed?.previous.count ?? 0 }

  /// What the report says of a key that is imported.
  fileprivate func note(replaces: Bool) -> String? {
    if replaces, keepsMark { return "it keeps its attribute secret=no, so lists show the new value, too" }
    guard replaces || !exists, dropsPresent else { return nil }
    return "its values in the vault are not kept: only they, or only the new ones, are bound to a device"
  }

  /// Whether the key was marked as no secret, and the file does not say whether the new value is one.
  private var keepsMark: Bool { value.record == nil && value.isSecret == nil && record?.isSecret == false }

  /// Whether the values that the vault has of the key cannot be earlier values of the record.
  private var dropsPresent: Bool {
    guard let new = value.record, let present = record?.accessibility ?? removed?.accessibility else { return false }
    return new.accessibility.isThisDeviceOnly != present.isThisDeviceOnly
  }
}

/// The names of the first keys, and how many others there are.
func listed(_ keys: [String]) -> String {
  keys.prefix(20).joined(separator: ", ") + (keys.count > 20 ? " and \(keys.count - 20) more" : "")
}
