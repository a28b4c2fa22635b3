@testable import VaultCore
@testable import VaultSealing

/// Entries behind a section: each is sealed here in its place of the chain, read, and taken over.
///
/// The first byte selects a group near the end of its generations when it is odd, and chooses what is written over
/// the records in the end. Then come the entries' bodies, each behind a u16 length; one that is too long takes what
/// is left.
struct JournalTarget: FuzzTarget {
  private let group: FuzzGroup
  /// Sections for even and odd first bytes.
  private let sections: [[UInt8]]

  init() throws {
    group = try FuzzGroup()
    let (content, sealer) = (try group.content(Self.emptySection), group.sealer)
    var edit = RecordEdit()
    edit.historyDepth = .set(2)
    edit.label = .set("label")
    let kept = try content.put("kept", edit: edit, "first", sealer)
    for changes in [
      [kept, try content.put("plain", kind: 1, accessibility: .afterFirstUnlock, "text", sealer)],
      [try content.put("kept", "second", sealer)],
      [try content.put("kept", "third", sealer)],
    ] {
      guard let body = try content.entryBody(changes, now: 0, sealer: sealer) else { continue }
      content.apply(try content.stage(body: body))
    }
    let section = try content.section()
    let last = withUnsafeBytes(of: (UInt64(Int64.max) - 1).littleEndian) { Array($0) }
    sections = [section, last + section.dropFirst(8)]
  }

  /// Generation 1 and base generation 1, no base tag, the name `g`, no records, no extension.
  private static let emptySection: [UInt8] =
    [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 32) + [1, 0, 0x67]
    + [UInt8](repeating: 0, count: 8)

  func check(_ input: UnsafeRawBufferPointer) throws {
    guard let first = input.first else { return }
    let section = sections[Int(first & 1)]
    let content = try group.content(section)
    var expected = try ReferenceGroup(section, limits: group.limits)
    var journal: [UInt8] = []
    for body in Self.bodies(input) {
      let entry = content.entry(body, manifestTag: .zero, sealer: group.sealer)
      journal += entry
      let staged = try agreement(
        "an entry",
        { () throws(VaultError) in try content.stage(entry, manifestTag: .zero, sealer: group.sealer) },
        { () throws(VaultError) in try expected.apply(body) })
      if let staged { content.apply(staged.found) }
      // A refused entry leaves the group as it was, and is the last.
      try expected.compare(with: content)
      guard staged != nil else { break }
    }
    let image = FileImage(journal)
    let frame = try JournalFrame(image.span, from: 0, groups: [content.id])
    try demand(frame.tail == journal.count && frame.tornTail == nil, "the frame of whole entries")
    try checkSection(content, expected)
    try checkChanges(content, expected, Int(first >> 1))
  }

  private static func bodies(_ input: UnsafeRawBufferPointer) -> [[UInt8]] {
    var (bodies, rest): ([[UInt8]], Slice<UnsafeRawBufferPointer>) = ([], input.dropFirst())
    while rest.count >= 2, bodies.count < 8 {
      let count = Int(rest[rest.startIndex]) | Int(rest[rest.startIndex + 1]) << 8
      bodies.append(Array(rest.dropFirst(2).prefix(count)))
      rest = rest.dropFirst(2 + count)
    }
    return bodies
  }

  /// After its last entry the group is as if it were stored in a section.
  private func checkSection(_ content: GroupContent, _ expected: ReferenceGroup) throws {
    try expected.compare(with: try group.content(try content.section()))
  }

  /// Whatever a record came to hold, the entry that this package writes over it is read. Only a value that does not
  /// open, or a group that is full of generations, keeps it from being written.
  private func checkChanges(_ content: GroupContent, _ expected: ReferenceGroup, _ choice: Int) throws {
    var changes: [RecordChange] = []
    for (index, record) in expected.records.enumerated() {
      let (service, key) = try (Vault.Name(verbatim: record.name.service), Vault.Name(verbatim: record.name.key))
      var operation = RecordChange.Operation.remove(choice & 16 == 0 ? .atOnce : .kept(for: Int64(choice)))
      var edit = RecordEdit()
      // A removed record cannot be edited.
      let edits = record.isRemoved ? operation : .edit
      switch (index + choice) % 4 {
      case 0:
        let cipher = try content.cipher(Vault.Accessibility(rawValue: record.class)!, group.sealer)
        operation = .put(
          SealedValue(kind: record.kind, cipher: cipher, bytes: record.sealed), keepsClass: false)
      case 1: operation = edits
      case 2: operation = record.previous.last.map { .restore($0.revision) } ?? edits
      default: break
      }
      if choice & 4 != 0 { edit.historyDepth = .set(1) }
      if choice & 8 != 0 { edit.attributes = .set([.init(name: key, data: [])]) }
      changes.append(RecordChange(RecordAddress(service, key), operation, edit))
    }
    let body: WipedBuffer?
    do throws(VaultError) { body = try content.entryBody(changes, now: 1, sealer: group.sealer) } catch {
      let isFull = content.generation == UInt64(Int64.max)
      return try demand(error.code == (isFull ? .limitExceeded : .tampered), "changes are refused as \(error)")
    }
    let areOmitted = changes.allSatisfy { change in
      if case .remove(.kept) = change.operation { content.find(change.address) == nil } else { false }
    }
    guard let body else { return try demand(areOmitted, "changes are left out") }
    var expected = expected
    _ = try agreement(
      "an entry of this package's own", { () throws(VaultError) in try content.stage(body: body) },
      { () throws(VaultError) in try expected.apply(Array(body.bytes)) })
  }
}
