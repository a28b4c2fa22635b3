import Glibc
@testable import VaultCore
@testable import VaultSealing

/// A vault file taken apart, to be put together otherwise: lengths, checksum and counts are made right.
struct Parts {
  struct Section {
    var id: [UInt8]
    var epoch: UInt32
    var zero: UInt32 = 0
    /// What the head says, if it is not the truth.
    var count: UInt64?
    var sealed: [UInt8]

    var tag: Vault.Tag { Vault.Tag.sealed(sealed) }
  }

  /// Bytes 0–47.
  var head: [UInt8]
  var slots: [[UInt8]]
  var manifest: [UInt8]
  var sections: [Section]
  var entries: [[UInt8]]
  var reserve: [UInt8]

  init(_ file: [UInt8]) throws {
    let image = FileImage(file)
    let snapshot = try Snapshot(image)
    let frame = try JournalFrame(image.span, from: snapshot.count, groups: Set(snapshot.sections.map(\.id)))
    head = snapshot.boundHeader
    slots = snapshot.slots.map(\.bytes)
    manifest = image[snapshot.manifest].copy
    sections = snapshot.sections.map { section in
      Section(id: section.id.bytes, epoch: section.epoch, sealed: image[section.sealed].copy)
    }
    entries = frame.entries.map { image[$0.range].copy }
    reserve = Array(file[frame.tail...])
  }

  /// The file, its counts and lengths as they are.
  var file: [UInt8] {
    var parts = self
    parts.head.store(UInt16(slots.count), at: 12)
    parts.head.store(UInt16(sections.count), at: 14)
    parts.head.store(UInt64(manifest.count), at: 40)
    return parts.fileWithHeadAsItIs
  }

  /// The file with whatever counts and manifest_len `head` holds.
  var fileWithHeadAsItIs: [UInt8] {
    var writer = ByteWriter()
    writer.raw(head)
    writer.integer(UInt64(0))
    for slot in slots { writer.raw(slot) }
    writer.raw(manifest)
    for section in sections {
      writer.raw(section.id)
      writer.integer(section.epoch)
      writer.integer(section.zero)
      writer.integer(section.count ?? UInt64(section.sealed.count))
      writer.raw(section.sealed)
    }
    writer.bytes.store(UInt64(writer.count + 32), at: 48)
    writer.raw(checksum(of: writer.bytes))
    for entry in entries { writer.raw(entry) }
    writer.raw(reserve)
    return writer.bytes
  }

  /// The length of the snapshot with its checksum.
  var snapshotCount: Int {
    var parts = self
    (parts.entries, parts.reserve) = ([], [])
    return parts.file.count
  }

  var manifestTag: Vault.Tag { Vault.Tag.sealed(manifest) }
}

/// The checksum of a snapshot or the check of an entry.
func checksum(of bytes: [UInt8]) -> [UInt8] {
  let sum = VaultSealing.checksum(bytes.span.bytes)
  return sum.indices.map { sum[$0] }
}

extension [UInt8] {
  mutating func store(_ value: some FixedWidthInteger, at offset: Int) {
    Swift.withUnsafeBytes(of: value.littleEndian) { replaceSubrange(offset..<offset + $0.count, with: $0) }
  }

  /// The same bytes, the last 32 of the first `count` replaced by the hash of those before them.
  func rechecked(count: Int? = nil) -> [UInt8] {
    var bytes = self
    let end = (count ?? self.count) - 32
    bytes.replaceSubrange(end..<end + 32, with: checksum(of: Array(bytes[..<end])))
    return bytes
  }

  /// The same bytes with one bit the other way round.
  func flipping(bit: Int, at offset: Int) -> [UInt8] {
    var bytes = self
    bytes[offset] ^= 1 << UInt8(bit)
    return bytes
  }
}

extension Vault.Tag {
  /// The tag of a sealed thing.
  static func sealed(_ bytes: [UInt8]) -> Vault.Tag { Vault.Tag(bytes.span.bytes, at: 24) }
  /// The tag of an entry's sealed part.
  static func entry(_ bytes: [UInt8]) -> Vault.Tag { Vault.Tag(bytes.span.bytes, at: 24 + 24) }
}

/// A load of bytes in memory with a raw key: every step of section 4, every group, no file.
struct MemoryVault {
  let state: VaultState

  init(_ file: [UInt8], key: SealingKey, limits: Vault.Limits = .format) throws(VaultError) {
    var options = Vault.Options()
    options.limits = limits
    let sealer = try Sealer()
    state = try VaultState(
      FileImage(file), version: nil, storage: FileStorage("/nonexistent", options: options), options: options,
      sealer: sealer
    ) { (snapshot, sealer) throws(VaultError) in
      try Unlocked(snapshot, with: .key(key), sealer: sealer)
    }
    for group in state.groups { _ = try state.content(group.id) }
  }

  func generation(_ group: Int = 0) throws -> UInt64 { try state.content(state.groups[group].id).generation }

  /// Every key of a group in order.
  func keys(_ group: Int = 0) throws -> [String] {
    var keys: [String] = []
    try state.content(state.groups[group].id).forEachInOrder { record in
      keys.append(String(decoding: record.name.key.copy, as: UTF8.self))
    }
    return keys
  }
}

/// A writer with all keys that breaks the rules: seals what no writer of this package would.
final class KeyHolder {
  let vaultID: Vault.Identifier
  let group: Vault.Identifier
  let epoch: UInt32
  let groupKey: SealingKey
  let vaultKey: SealingKey
  let manifestTag: Vault.Tag
  let sectionTag: Vault.Tag
  let content: GroupContent
  let sealer: Sealer
  private let snapshot: Snapshot

  /// - Parameter index: which group, in the file's order.
  init(_ file: [UInt8], group index: Int = 0) throws {
    let state = try MemoryVault(file, key: .sample()).state
    guard let vaultKey = state.unlocked.vaultKey else { fatalError("the sample key is an owner's") }
    content = try state.content(state.groups[index].id)
    self.vaultKey = vaultKey
    snapshot = state.snapshot
    sealer = state.sealer
    vaultID = snapshot.vaultID
    group = content.id
    epoch = content.epoch
    groupKey = content.key
    manifestTag = snapshot.manifestTag
    sectionTag = try Parts(file).sections[index].tag
  }

  private init(_ other: KeyHolder, vaultKey: SealingKey, groupKey: SealingKey) {
    (vaultID, group, epoch, manifestTag) = (other.vaultID, other.group, other.epoch, other.manifestTag)
    (sectionTag, content, sealer, snapshot) = (other.sectionTag, other.content, other.sealer, other.snapshot)
    self.vaultKey = vaultKey
    self.groupKey = groupKey
  }

  static func padded(_ body: [UInt8], step: Int) -> [UInt8] {
    let count = Padding.paddedCount(body.count, step: step)
    return body + [0x80] + [UInt8](repeating: 0, count: count - body.count - 1)
  }

  /// Seals bytes that are padded already, or wrongly.
  func seal(_ padded: [UInt8], with key: SealingKey, as context: borrowing Context) -> [UInt8] {
    sealer.bind(to: context)
    return sealer.seal(padded.span.bytes, with: key)
  }

  func section(padded: [UInt8]) -> [UInt8] {
    seal(padded, with: groupKey, as: .section(vault: vaultID, group: group, epoch: epoch))
  }

  func section(_ draft: SectionDraft) throws -> [UInt8] {
    section(padded: Self.padded(try draft.body(self), step: GroupContent.sectionStep))
  }

  /// An entry behind everything that `file` had, or behind `previous`.
  func entry(padded: [UInt8], behind previous: Vault.Tag? = nil) -> [UInt8] {
    let sealed = seal(
      padded, with: groupKey,
      as: .entry(
        vault: vaultID, group: group, epoch: epoch, manifest: manifestTag, previous: previous ?? content.tag))
    var writer = ByteWriter()
    writer.integer(UInt32(sealed.count + JournalFrame.headCount + JournalFrame.checkCount))
    writer.integer(UInt32(0))
    writer.raw(group)
    writer.raw(sealed)
    writer.zeros(32)
    return writer.bytes.rechecked()
  }

  func entry(_ draft: EntryDraft, behind previous: Vault.Tag? = nil) throws -> [UInt8] {
    entry(padded: Self.padded(try draft.body(self), step: GroupContent.entryStep), behind: previous)
  }

  /// Seals a value as if it belonged elsewhere, or had another kind or class.
  func value(_ value: [UInt8], service: [UInt8], key: [UInt8], kind: UInt8, class: UInt8) throws -> [UInt8] {
    let classKey = try sealer.deriveKey("class-key", from: groupKey) { $0.add(`class`) }
    return seal(value, with: classKey, as: .value(service: service.span.bytes, key: key.span.bytes, kind: kind))
  }

  /// The manifest's body without its padding.
  func manifestBody(_ parts: Parts) throws -> [UInt8] {
    let slots = parts.slots.flatMap { $0 }
    let body = try sealer.openBody(
      parts.manifest.span.bytes, step: 1024, with: vaultKey,
      as: .manifest(header: parts.head.span.bytes, slots: slots.span.bytes))!
    return Array(body.buffer.bytes[..<body.count])
  }

  /// Seals another manifest body for the header and slots of `parts`, whose counts are made right.
  func replaceManifest(_ parts: inout Parts, padded: [UInt8]) {
    parts.head.store(UInt16(parts.slots.count), at: 12)
    parts.head.store(UInt16(parts.sections.count), at: 14)
    parts.head.store(UInt64(padded.count + Sealer.overhead), at: 40)
    let (head, slots) = (parts.head, parts.slots.flatMap { $0 })
    parts.manifest = seal(
      padded, with: vaultKey, as: .manifest(header: head.span.bytes, slots: slots.span.bytes))
  }
}

extension KeyHolder {
  /// The same vault with another vault key, as if it had been rotated on another machine: one group, db/password,
  /// slots and epoch as they were.
  func copyWithOtherVaultKey(_ parts: Parts) throws -> [UInt8] {
    var body = try manifestBody(parts)
    var parts = parts
    let slot = snapshot.slots[0]
    let kek = try StoredSlot.kek(from: .sample(), vault: vaultID, slot: slot.id, sealer)
    let other = try SealingKey.sample(from: 100)
    parts.slots = [
      StoredSlot.make(
        kind: slot.kind, scope: .owner, id: slot.id, cost: nil, salt: [UInt8](repeating: 0, count: 16),
        vault: vaultID, granting: other, kek: kek, sealer: sealer
      ).bytes
    ]
    let key = try VaultState.groupKey(from: other, group: group, epoch: epoch, sealer)
    let copy = KeyHolder(self, vaultKey: other, groupKey: key)
    let draft = SectionDraft(generation: 1, baseTag: .zero)
    parts.sections[0].sealed = try copy.section(draft)
    body.replaceSubrange(30..<62, with: parts.sections[0].tag.withSpan { $0.copy })
    copy.replaceManifest(&parts, padded: Self.padded(body, step: Manifest.step))
    return parts.file
  }
}

/// A record to be forged; correct unless changed.
struct RecordDraft {
  var service = Array("db".utf8)
  var key = Array("password".utf8)
  var kind: UInt8 = 1
  var `class`: UInt8 = 0
  var zero: UInt16 = 0
  var created: Int64 = 0
  var modified: Int64 = 0
  var revision: UInt64 = 1
  var value = Array("s3cret".utf8)
  /// Sealed bytes to take as they are, instead of sealing the value.
  var sealed: [UInt8]?
  var extensionField: [UInt8] = []

  init(_ key: String = "password", revision: UInt64 = 1) {
    self.key = Array(key.utf8)
    self.revision = revision
  }

  func bytes(_ holder: KeyHolder) throws -> [UInt8] {
    var writer = ByteWriter()
    writer.lp16(service)
    writer.lp16(key)
    writer.integer(kind)
    writer.integer(`class`)
    writer.integer(zero)
    writer.integer(created)
    writer.integer(modified)
    writer.integer(revision)
    writer.lp32(
      try sealed ?? holder.value(value, service: service, key: key, kind: kind, class: `class`))
    writer.lp32(extensionField)
    return writer.bytes
  }
}

/// A section to be forged, as a group holder's fold behind generation 1; correct unless changed.
struct SectionDraft {
  var generation: UInt64 = 2
  var baseGeneration: UInt64 = 1
  var baseTag: Vault.Tag?
  var name = Array("default".utf8)
  var count: UInt32?
  var records = [RecordDraft()]
  var extensionField: [UInt8] = []
  var rest: [UInt8] = []

  func body(_ holder: KeyHolder) throws -> [UInt8] {
    var writer = ByteWriter()
    writer.integer(generation)
    writer.integer(baseGeneration)
    writer.raw(baseTag ?? holder.manifestTag)
    writer.lp16(name)
    writer.integer(count ?? UInt32(records.count))
    for record in records { writer.raw(try record.bytes(holder)) }
    writer.lp32(extensionField)
    writer.raw(rest)
    return writer.bytes
  }
}

/// An entry to be forged behind generation 1; correct unless changed.
struct EntryDraft {
  enum Change {
    case put(RecordDraft)
    case remove(String)
    case other(UInt8)
  }

  var generation: UInt64 = 2
  var count: UInt32?
  var changes: [Change] = [.put(RecordDraft("user", revision: 2))]
  var rest: [UInt8] = []

  func body(_ holder: KeyHolder) throws -> [UInt8] {
    var writer = ByteWriter()
    writer.integer(generation)
    writer.integer(count ?? UInt32(changes.count))
    for change in changes {
      switch change {
      case .put(let record):
        writer.integer(UInt8(1))
        writer.raw(try record.bytes(holder))
      case .remove(let key):
        writer.integer(UInt8(2))
        writer.lp16(Array("db".utf8))
        writer.lp16(Array(key.utf8))
      case .other(let operation): writer.integer(operation)
      }
    }
    writer.raw(rest)
    return writer.bytes
  }
}

/// An extension item as it is stored in a field.
func extensionItem(_ tag: UInt16, _ data: [UInt8]) -> [UInt8] {
  var writer = ByteWriter()
  writer.integer(tag)
  writer.lp32(data)
  return writer.bytes
}
