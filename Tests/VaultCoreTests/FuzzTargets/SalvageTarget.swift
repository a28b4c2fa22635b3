@testable import VaultCore
@testable import VaultSealing

/// Damage to a vault of two groups with entries of both, and what is saved of it.
///
/// The input is a list of edits: an offset of two bytes, and a byte to change the one there by. A change by nothing
/// cuts the file there. At most twelve, so that no head of a section comes into being.
struct SalvageTarget: FuzzTarget {
  private struct Value: Hashable {
    let service, key: [UInt8]
    let kind, `class`: UInt8
    let sealed: [UInt8]

    init(_ record: Record) {
      (service, key) = (record.name.service.copy, record.name.key.copy)
      (kind, `class`, sealed) = (record.kind, record.accessibility.rawValue, record.sealedValue.copy)
    }
  }

  private struct Saved {
    let name: Vault.Name
    let section: Range<Int>
    var entries: [Range<Int>] = []
    /// What the group holds after its entries.
    var last: Set<Value> = []
    /// Every value that was ever sealed.
    var all: Set<Value> = []
  }

  private let options: Vault.Options
  private let key: SealingKey
  private var file: [UInt8] = []
  private var groups: [Vault.Identifier: Saved] = [:]
  /// Header and slot: without them nothing opens.
  private let head: Range<Int>
  private let manifestTag: Range<Int>

  init() throws {
    var options = Vault.Options()
    (options.random, options.now, options.reserveBytes) = (.repeating, { 1 }, 64)
    self.options = options
    key = try SealingKey(from: options.random)
    var draft = try VaultDraft(new: options)
    let unlocked = try draft.add(
      PreparedSlot(NewSlot(.key(key)), vault: draft.vaultID, random: options.random, sealer: draft.sealer))
    for name in ["first", "second"] {
      let content = try draft.addGroup(Vault.Name(name))
      var edit = RecordEdit()
      edit.historyDepth = .set(1)
      let kept = try content.put("kept", edit: edit, "one", draft.sealer)
      let changes = [kept, try content.put("plain", "text", draft.sealer)]
      guard let body = try content.entryBody(changes, now: 1, sealer: draft.sealer) else { continue }
      try draft.apply(body, to: content.id)
    }
    file = try draft.file()
    let state = try Self.opened(file, options, unlocked, draft.sealer)
    let snapshot = state.snapshot
    let start = snapshot.manifest.lowerBound
    manifestTag = start + Sealer.tag.lowerBound..<start + Sealer.tag.upperBound
    head = 0..<start
    for group in state.groups {
      let content = try state.content(group.id)
      groups[group.id] = Saved(name: content.name, section: group.section.range, all: Self.values(content))
    }
    for text in ["two", "three"] {
      for group in state.groups {
        let content = try state.content(group.id)
        let changes = [try content.put("kept", text, draft.sealer), try content.put(text, "new", draft.sealer)]
        guard let body = try content.entryBody(changes, now: 2, sealer: draft.sealer) else { continue }
        let entry = content.entry(Array(body.bytes), manifestTag: snapshot.manifestTag, sealer: draft.sealer)
        content.apply(try content.stage(entry, manifestTag: snapshot.manifestTag, sealer: draft.sealer))
        groups[group.id]?.entries.append(file.count..<file.count + entry.count)
        groups[group.id]?.last = Self.values(content)
        groups[group.id]?.all.formUnion(Self.values(content))
        file += entry
      }
    }
    file += [UInt8](repeating: 0, count: options.reserveBytes)
  }

  func check(_ input: UnsafeRawBufferPointer) throws {
    let damaged = edited(input)
    let isIntact = { (range: Range<Int>) in
      range.upperBound <= damaged.count && damaged[range] == file[range]
    }
    var options = options
    options.random = .repeating
    let (draft, opening): (VaultDraft, Unlocked)
    let report: SalvageReport
    do throws(VaultError) {
      (draft, opening, report) = try Salvager(FileImage(damaged), .key(key), options).run()
    } catch {
      try demand([.damaged, .credentialRejected].contains(error.code), "a salvage is refused as \(error)")
      let isLost = !isIntact(head) || !groups.values.contains { isIntact($0.section) }
      return try demand(isLost, "what is whole is not saved: \(error)")
    }

    let state = try Self.opened(try draft.file(), options, opening, draft.sealer)
    for group in state.groups {
      guard let known = groups[group.id] else { throw Violation(description: "a group is made up") }
      try demand(Self.values(try state.content(group.id)).isSubset(of: known.all), "a value is made up")
    }
    guard isIntact(head) else { return }
    for (id, known) in groups where isIntact(known.section) {
      guard let group = state.group(id) else { throw Violation(description: "a group is not saved") }
      guard isIntact(manifestTag), known.entries.allSatisfy(isIntact) else { continue }
      try demand(Self.values(try state.content(group.id)) == known.last, "the records of a whole group")
      // Without the manifest it may be an older state.
      try demand(
        report.groups.contains { $0.name == known.name && $0.isVerified == report.hasManifest },
        "a whole group is not verified, or is without the manifest")
    }
  }

  private func edited(_ input: UnsafeRawBufferPointer) -> [UInt8] {
    var damaged = file
    for edit in 0..<min(input.count / 3, 12) {
      let offset = (Int(input[3 * edit]) | Int(input[3 * edit + 1]) << 8) % file.count
      let change = input[3 * edit + 2]
      if change == 0 {
        damaged.removeLast(max(damaged.count - offset, 0))
      } else if offset < damaged.count {
        damaged[offset] ^= change
      }
    }
    return damaged
  }

  private static func opened(
    _ file: [UInt8], _ options: Vault.Options, _ unlocked: Unlocked, _ sealer: Sealer
  ) throws(VaultError) -> VaultState {
    let state = try VaultState(
      FileImage(file), version: nil, storage: FileStorage("/nonexistent", options: options), options: options,
      sealer: sealer
    ) { (snapshot, sealer) throws(VaultError) in try unlocked.reopened(in: snapshot, sealer: sealer) }
    for group in state.groups { _ = try state.content(group.id) }
    return state
  }

  private static func values(_ content: GroupContent) -> Set<Value> {
    var values: Set<Value> = []
    content.forEachStored { values.insert(Value($0)) }
    return values
  }
}
