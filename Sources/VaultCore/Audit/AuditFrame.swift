internal import DurableFiles
internal import VaultSealing

/// One event of a log: `length u32 ‖ epoch u32 ‖ number u64 ‖ sealed body` (`Docs/Format.md` F.4).
struct AuditFrame {
  static let headCount = 16
  /// The least and the greatest length of an event.
  static let counts = headCount + Sealer.overhead + AuditBody.step...4096

  let count: Int
  let epoch: UInt32
  let number: UInt64
  let tag: Vault.Tag
  /// `nil` if the seal opens and what is sealed breaks the rules.
  let body: AuditBody?

  var flags: AuditBody.Flags { body?.flags ?? [] }
  var action: AuditEvent.Action? { body?.event.action }

  /// What the first bytes of an event state.
  struct Head {
    let count: Int
    let epoch: UInt32
    let number: UInt64

    /// `nil` if no event can begin at `offset` of these bytes, which end `rest` bytes before the end of the file.
    init?(_ bytes: RawSpan, at offset: Int = 0, before end: Int) {
      guard offset + headCount <= bytes.byteCount else { return nil }
      count = Int(bytes.integer(at: offset, UInt32.self))
      epoch = bytes.integer(at: offset + 4)
      number = bytes.integer(at: offset + 8)
      guard counts.contains(count), count % 8 == 0, offset + count <= end, AuditHeader.epochs.contains(epoch),
        AuditHeader.numbers.contains(number)
      else { return nil }
    }
  }

  /// What stands at a place of a file.
  enum Found {
    case event(AuditFrame)
    /// A frame of an epoch whose key the reader does not have.
    case closed(Head, tag: Vault.Tag)
    case nothing
  }

  /// Reads what stands at `offset` of a file of `end` bytes.
  static func find(
    _ file: Descriptor, at offset: Int, before end: Int, _ keys: AuditKeys, _ sealer: Sealer
  ) throws(VaultError) -> Found {
    guard offset < end else { return .nothing }
    let image = try FileImage(file, offset..<min(offset + counts.upperBound, end), limit: Int.max)
    guard let head = Head(image.span, before: image.count) else { return .nothing }
    let sealed = image[headCount..<head.count]
    let tag = Vault.Tag(sealed, at: Sealer.tag.lowerBound)
    guard head.epoch <= keys.epoch, let key = try keys.key(of: head.epoch, sealer) else {
      return .closed(head, tag: tag)
    }
    sealer.bind(to: .logEvent(vault: keys.vaultID, group: keys.groupID, number: head.number))
    guard let opened = sealer.openedBody(sealed, with: key) else { return .nothing }
    var body: AuditBody?
    if let count = Padding.unpaddedCount(opened.span, step: AuditBody.step) {
      do throws(VaultError) { body = try AuditBody(opened.span.extracting(..<count), number: head.number) } catch {}
    }
    return .event(AuditFrame(count: head.count, epoch: head.epoch, number: head.number, tag: tag, body: body))
  }

  /// Finds the event with this number among those from `start` to `end` of a file, also behind bytes that are no event.
  /// No seal is opened.
  /// - Returns: its offset and its tag; `nil` if no frame has the number.
  static func find(
    _ number: UInt64, _ file: Descriptor, from start: Int, before end: Int
  ) throws(VaultError) -> (offset: Int, tag: Vault.Tag)? {
    var found: (Int, Vault.Tag)?
    try forEachFrame(file, from: start, before: end) { head, offset, tag in
      if head.number == number { found = (offset, tag) }
      return found == nil
    }
    return found
  }

  /// The newest event of a file among those that its header counts, before `end`, and that are found by their number.
  /// A frame whose seal does not open is none.
  static func newest(
    _ file: Descriptor, before end: Int, _ header: AuditHeader, _ keys: AuditKeys, _ sealer: Sealer
  ) throws(VaultError) -> AuditLog.Point? {
    var offsets: [UInt64: Int] = [:]
    try forEachFrame(file, from: AuditHeader.byteCount, before: end) { head, offset, _ in
      if header.counts(head.number), offsets[head.number] == nil { offsets[head.number] = offset }
      return true
    }
    for (number, offset) in offsets.sorted(by: { $0.key > $1.key }) {
      guard case .event(let found) = try find(file, at: offset, before: end, keys, sealer) else { continue }
      return AuditLog.Point(count: number, tag: found.tag)
    }
    return nil
  }

  /// Calls `body` with the head, the offset and the tag of each frame until it returns `false`.
  private static func forEachFrame(
    _ file: Descriptor, from start: Int, before end: Int, _ body: (Head, Int, Vault.Tag) -> Bool
  ) throws(VaultError) {
    var start = start
    while start < end {
      let wanted = start..<min(start + 65_536, end)
      let image = try FileImage(file, wanted, limit: Int.max)
      // The file may be shorter than `end`. Before that, the next part begins where too little was read for an event.
      let isLast = wanted.upperBound == end || image.count < wanted.count
      let last = isLast ? image.count : image.count - counts.upperBound
      var offset = 0
      while offset < last {
        guard let head = Head(image.span, at: offset, before: image.count) else {
          offset += 8
          continue
        }
        let tag = Vault.Tag(image[offset + headCount..<offset + head.count], at: Sealer.tag.lowerBound)
        guard body(head, start + offset, tag) else { return }
        offset += head.count
      }
      guard !isLast else { return }
      start += offset
    }
  }

  /// The event that ends at `end`; `nil` if none is found.
  static func last(
    _ file: Descriptor, before end: Int, _ header: AuditHeader, _ keys: AuditKeys, _ sealer: Sealer
  ) throws(VaultError) -> AuditFrame? {
    for count in stride(from: counts.lowerBound, through: counts.upperBound, by: 8)
    where end - count >= AuditHeader.byteCount {
      guard case .event(let found) = try find(file, at: end - count, before: end, keys, sealer), found.count == count,
        found.number == header.count
      else { continue }
      return found
    }
    return nil
  }

  /// Appends an event to `bytes`.
  /// - Returns: its tag.
  static func write(
    _ body: inout ByteWriter, number: UInt64, to bytes: inout ByteWriter, _ keys: AuditKeys, _ key: SealingKey,
    _ sealer: Sealer
  ) -> Vault.Tag {
    let sealed = sealer.sealBody(
      body.bytes.bytes, step: AuditBody.step, with: key,
      as: .logEvent(vault: keys.vaultID, group: keys.groupID, number: number))
    body.bytes.wipe()
    bytes.integer(UInt32(headCount + sealed.count))
    bytes.integer(keys.epoch)
    bytes.integer(number)
    bytes.raw(sealed)
    return Vault.Tag(sealed.bytes, at: Sealer.tag.lowerBound)
  }
}
