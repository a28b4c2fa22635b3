internal import VaultSealing

/// The writes that the journal of a stored vault has.
struct StoredWrites {
  private let image: FileImage
  private let entries: [JournalFrame.Entry]
  private let whole: VaultState
  private let load: (FileImage) throws(VaultError) -> VaultState

  init(of handle: VaultHandle) throws(VaultError) {
    let unlocked = try handle.withCurrent { (_, state) throws(VaultError) in state.unlocked }
    let (storage, options) = (handle.storage, handle.options)
    let load = { (image: FileImage) throws(VaultError) -> VaultState in
      try VaultState(
        image, version: nil, storage: storage, options: options, sealer: try Sealer(random: options.random)
      ) { (snapshot, sealer) throws(VaultError) in try unlocked.reopened(in: snapshot, sealer: sealer) }
    }
    let (image, whole) = try VaultState.retryingDamage(options) { () throws(VaultError) in
      let image = try storage.loadImage(options.limits).image
      return (image, try load(image))
    }
    let frame = try JournalFrame(image.span, from: whole.snapshot.count, groups: whole.groupIDs)
    self.image = image
    self.whole = whole
    self.load = load
    entries = frame.entries
  }

  func last(in group: Vault.Identifier?) throws(VaultError) -> (group: AccessGroup, revision: UInt64)? {
    let isMeant = { (entry: JournalFrame.Entry) in
      group.map { $0 == entry.group } ?? (whole.group(entry.group) != nil)
    }
    guard let entry = entries.last(where: { isMeant($0) }) else { return nil }
    let content = try whole.content(entry.group)
    return (AccessGroup(id: content.id, name: content.name), content.generation)
  }

  /// Whether there is an entry for each of these revisions of a group.
  func has(_ revisions: ClosedRange<UInt64>, of group: Vault.Identifier) throws(VaultError) -> Bool {
    try ranges(revisions, of: group) != nil
  }

  /// The vault before and after the entries that made revisions of a group; `nil` if there is not one for each.
  func write(
    _ revisions: ClosedRange<UInt64>, of group: Vault.Identifier
  ) throws(VaultError) -> (before: VaultState, after: VaultState)? {
    guard let ranges = try ranges(revisions, of: group) else { return nil }
    let part = { (end: Int) throws(VaultError) in try load(FileImage(copying: image[0..<end])) }
    return (try part(ranges.first.lowerBound), try part(ranges.last.upperBound))
  }

  /// Where the first and the last of the entries are.
  private func ranges(
    _ revisions: ClosedRange<UInt64>, of group: Vault.Identifier
  ) throws(VaultError) -> (first: Range<Int>, last: Range<Int>)? {
    let own = entries.filter { $0.group == group }
    // Each entry is one generation.
    let first = try whole.content(group).generation - UInt64(own.count)
    guard revisions.lowerBound > first, revisions.upperBound - first <= UInt64(own.count) else { return nil }
    let entry = { (revision: UInt64) in own[Int(revision - first) - 1].range }
    return (entry(revisions.lowerBound), entry(revisions.upperBound))
  }
}
