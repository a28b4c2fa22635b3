internal import VaultSealing

/// What a locked handle can still read: the sealed values of the classes "after first unlock", as they were loaded, and
/// their class keys (`Docs/Format.md` section 7). All other keys are wiped.
final class KeptValues {
  private final class Group {
    let index: RecordIndex
    let places: [Vault.Accessibility: ValuePlace]
    /// The bytes of names and sealed values.
    private let buffer: WipedBuffer

    init(index: consuming RecordIndex, places: [Vault.Accessibility: ValuePlace], buffer: WipedBuffer) {
      (self.places, self.buffer) = (places, buffer)
      self.index = index
    }
  }

  private var groups: [Vault.Identifier: Group] = [:]

  /// Copies what stays readable, so that everything else is wiped with `state`. Opens the groups that were not used
  /// yet. Of a group that does not verify, nothing stays readable.
  init(_ state: VaultState) {
    for group in state.groups {
      do throws(VaultError) {
        groups[group.id] = try Self.kept(try state.content(group.id), state)
      } catch {}  // thrown when the group is used after unlocking
    }
  }

  /// A value that may still be read.
  func find(_ name: borrowing RecordName, in group: Vault.Identifier) -> (record: Record, place: ValuePlace)? {
    guard let group = groups[group], let record = group.index.find(name), let place = group.places[record.accessibility]
    else { return nil }
    return (record, place)
  }

  private static func kept(_ content: GroupContent, _ state: VaultState) throws(VaultError) -> Group? {
    var count = 0
    var places: [Vault.Accessibility: ValuePlace] = [:]
    try content.forEachInOrder { (record) throws(VaultError) in
      guard record.accessibility.isReadableAfterLock else { return }
      count += Int(record.count)
      if places[record.accessibility] == nil {
        places[record.accessibility] = try content.place(record.accessibility, state.sealer)
      }
    }
    guard count > 0 else { return nil }
    let buffer = WipedBuffer(count: count)
    var end = 0
    content.forEachInOrder { record in
      guard record.accessibility.isReadableAfterLock else { return }
      buffer.copy(record.bytes, at: end)
      end += Int(record.count)
    }
    // Parsed again in the new buffer, because a record is a view of its bytes.
    var index = RecordIndex()
    var reader = ByteReader(buffer.span)
    while reader.remaining > 0 {
      index.appendLast(
        try Record(&reader, generation: content.generation, after: nil, limits: state.options.limits))
    }
    return Group(index: index, places: places, buffer: buffer)
  }
}
