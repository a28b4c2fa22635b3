internal import VaultSealing

/// One access group of a loaded vault: opened when it is first used (`Docs/Format.md` 4.3).
final class Group {
  /// A sealed journal entry that waits for its group to be opened.
  struct SealedEntry {
    let image: FileImage
    let range: Range<Int>

    /// The same, with nothing else that was read with it.
    var alone: SealedEntry { SealedEntry(image: FileImage(copying: image[range]), range: 0..<range.count) }
  }

  /// What the manifest says of a group; holders have none.
  typealias Floor = Manifest.Group

  private enum State {
    case sealed(FileImage)
    case open(GroupContent)
    case refused(VaultError)
  }

  let section: Snapshot.Section
  let floor: Floor?
  private let key: SealingKey
  private var state: State
  /// The entries that wait, in order.
  private var entries: [SealedEntry] = []

  var id: Vault.Identifier { section.id }

  init(_ section: Snapshot.Section, floor: Floor?, key: SealingKey, image: FileImage) {
    (self.section, self.floor, self.key) = (section, floor, key)
    state = .sealed(image)
  }

  /// The group's records, verified. A refusal is final for this load of the file.
  func content(_ snapshot: Snapshot, _ sealer: Sealer, _ limits: Vault.Limits) throws(VaultError) -> GroupContent {
    switch state {
    case .open(let content): return content
    case .refused(let error): throw error
    case .sealed(let image):
      defer { entries = [] }
      do throws(VaultError) {
        let content = try GroupContent(
          sealed: image[section.sealed], id: id, epoch: section.epoch, vaultID: snapshot.vaultID, key: key,
          sealer: sealer, limits: limits)
        try check(content, snapshot)
        for entry in entries { try advance(content, entry, snapshot, sealer) }
        state = .open(content)
        return content
      } catch {
        state = .refused(error)
        throw error
      }
    }
  }

  /// Why the group does not verify; nil when it does.
  func refusal(_ snapshot: Snapshot, _ sealer: Sealer, _ limits: Vault.Limits) -> VaultError? {
    do throws(VaultError) { _ = try content(snapshot, sealer, limits) } catch { return error }
    return nil
  }

  /// Takes the next entry of the journal over: at once if the group is open, else when it is opened.
  func append(_ entry: SealedEntry, _ snapshot: Snapshot, _ sealer: Sealer) {
    switch state {
    case .refused: break
    // The image of the load is here anyway, for the section. What was read later is as long as all that stood behind
    // the journal, and each read has another.
    case .sealed(let image): entries.append(entry.image === image ? entry : entry.alone)
    case .open(let content):
      do throws(VaultError) { try advance(content, entry, snapshot, sealer) } catch { state = .refused(error) }
    }
  }

  private func advance(
    _ content: GroupContent, _ entry: SealedEntry, _ snapshot: Snapshot, _ sealer: Sealer
  ) throws(VaultError) {
    content.apply(
      try content.stage(sealed: entry.image[entry.range], manifestTag: snapshot.manifestTag, sealer: sealer))
  }

  /// Steps 7 and 8 of section 4 for one group, after its section was parsed.
  private func check(_ content: GroupContent, _ snapshot: Snapshot) throws(VaultError) {
    guard content.baseGeneration <= snapshot.generation else {
      throw .tampered("a section rests on an owner write that has not been")
    }
    guard let floor else { return }
    guard content.stands(on: floor, in: snapshot) else {
      throw .tampered("a section is not the one the owner wrote, nor rests on it")
    }
    guard content.name == floor.name else { throw .tampered("a group's name differs from the manifest's") }
  }
}

extension GroupContent {
  /// Whether the section is the one of the owner's last write, or a group holder's that rests on it (section 4, step 7).
  func stands(on floor: Group.Floor, in snapshot: Snapshot) -> Bool {
    if generation == floor.floorGeneration { return tag == floor.floorTag }
    return generation > floor.floorGeneration && generation - floor.floorGeneration <= Vault.Limits.generationsAhead
      && baseGeneration == snapshot.generation && baseTag == snapshot.manifestTag
  }
}
