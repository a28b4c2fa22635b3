internal import VaultSealing

/// One access group of a loaded vault, which is opened on first use (`Docs/Format.md` 4.3).
final class LoadedGroup {
  /// A sealed journal entry that waits for its group to be opened.
  struct SealedEntry {
    let image: FileImage
    let range: Range<Int>

    /// A copy of the entry that does not retain the image it was read with.
    var alone: SealedEntry { SealedEntry(image: FileImage(copying: image[range]), range: 0..<range.count) }
  }

  /// The group's entry in the manifest; `nil` for a group holder.
  typealias Floor = Manifest.GroupLine

  private enum State {
    case sealed(FileImage)
    case open(GroupContent)
    case refused(VaultError)
  }

  let section: Snapshot.Section
  let floor: Floor?
  private let key: SealingKey
  private var state: State
  /// The entries that wait for the group to be opened, in order.
  private var entries: [SealedEntry] = []

  var id: Vault.Identifier { section.id }

  init(_ section: Snapshot.Section, floor: Floor?, key: SealingKey, image: FileImage) {
    self.section = section
    self.floor = floor
    self.key = key
    state = .sealed(image)
  }

  /// The verified records of the group. If they do not verify, each call throws the same error until the file is loaded
  /// again.
  func content(_ snapshot: Snapshot, _ sealer: Sealer, _ limits: Vault.Limits) throws(VaultError) -> GroupContent {
    switch state {
    case .open(let content): return content
    case .refused(let error): throw error
    case .sealed(let image):
      defer { entries = [] }
      do throws(VaultError) {
        let content = try GroupContent(
          sealed: image[section.sealed], id: id, epoch: section.epoch, vaultID: snapshot.vaultID, key: key,
          sealer: sealer, limits: limits, isLogged: snapshot.isLogged)
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

  /// The records, if the group was opened and verifies.
  var openedContent: GroupContent? { if case .open(let content) = state { content } else { nil } }

  /// The error of a group that does not verify; `nil` if it verifies.
  func refusal(_ snapshot: Snapshot, _ sealer: Sealer, _ limits: Vault.Limits) -> VaultError? {
    do throws(VaultError) { _ = try content(snapshot, sealer, limits) } catch { return error }
    return nil
  }

  /// Applies the next entry of the journal: now if the group is open, otherwise when it is opened.
  ///
  /// - Parameter changes: gets the records of the entry.
  func append(
    _ entry: SealedEntry, _ snapshot: Snapshot, _ sealer: Sealer, recordedIn changes: inout ChangesOfOthers?
  ) {
    switch state {
    case .refused: changes?.addAll(of: id)
    // The image of the load is kept anyway, for the section. Later images include the reserve, so only the entry is
    // copied from them.
    case .sealed(let image):
      entries.append(entry.image === image ? entry : entry.alone)
      changes?.addAll(of: id)
    case .open(let content):
      do throws(VaultError) {
        let staged = try advance(content, entry, snapshot, sealer)
        changes?.add(staged, in: id)
      } catch {
        state = .refused(error)
        changes?.addAll(of: id)
      }
    }
  }

  @discardableResult
  private func advance(
    _ content: GroupContent, _ entry: SealedEntry, _ snapshot: Snapshot, _ sealer: Sealer
  ) throws(VaultError) -> GroupContent.Staged {
    let staged = try content.stage(
      sealed: entry.image[entry.range], manifestTag: snapshot.manifestTag, sealer: sealer)
    content.apply(staged)
    return staged
  }

  /// Steps 7 and 8 of section 4 for one group, after its section was parsed.
  private func check(_ content: GroupContent, _ snapshot: Snapshot) throws(VaultError) {
    guard content.baseGeneration <= snapshot.generation else {
      throw .tampered("a section is based on an owner write that did not happen")
    }
    guard let floor else { return }
    guard content.isBased(on: floor, in: snapshot) else {
      throw .tampered("a section is neither what the owner wrote nor based on it")
    }
    guard content.name == floor.name else { throw .tampered("a group's name differs from the manifest's") }
  }
}

extension GroupContent {
  /// Whether the section is from the owner's last write, or from a group holder and based on it (section 4, step 7).
  func isBased(on floor: LoadedGroup.Floor, in snapshot: Snapshot) -> Bool {
    if generation == floor.floorGeneration { return tag == floor.floorTag }
    return generation > floor.floorGeneration && generation - floor.floorGeneration <= Vault.Limits.generationsAhead
      && baseGeneration == snapshot.generation && baseTag == snapshot.manifestTag
  }
}
