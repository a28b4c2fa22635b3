internal import DurableFiles
internal import VaultSealing

/// Writes events in the form of the file, and makes new files of a log (`Docs/Format.md` F.5, step 1).
struct AuditMaker {
  /// Why a file begins with *continue*.
  enum Reason: UInt8 { case notThere = 1, tooShort, setAside }

  /// A line of the mark that was compared with the log, and the offset of its event in the file that has it.
  struct Compared {
    let line: AuditLog.Point
    let offset: Int
  }

  /// A new current file, locked.
  struct Made {
    let file: OpenFile
    let written: AuditAppend.Written
  }

  let files: AuditFiles
  let keys: AuditKeys
  let slot: Vault.Identifier
  let options: Vault.Options
  let sealer: Sealer
  let mark: MarkKeeper?
  /// What was compared last.
  private(set) var compared: Compared?
  /// The new name of a file that had the name of the current one, and was set aside.
  private(set) var setAside: String?

  static let noFileLeft = VaultError(.limitExceeded, "the log has no file left")

  /// The name of the program, cut between characters.
  private static let program: [UInt8] = {
    var name = Substring(programName() ?? "")
    while name.utf8.count > AuditBody.longestProgram { name.removeLast() }
    return Array(name.utf8)
  }()

  /// Makes a current file that begins with these events, behind *continue* unless the log begins here with *start*.
  ///
  /// - Returns: `nil` if another process was faster.
  mutating func make(
    _ events: [AuditLog.Event], lost: UInt64, why: Reason, replacing old: OpenFile? = nil
  ) throws(VaultError) -> Made? {
    guard var header = try next(replacing: old) else { return nil }
    var all = events
    if header.file > 1 || events.first?.beginsLog != true {
      all.insert(AuditLog.Event(action: .continued, item: (AuditBody.Tag.why, [why.rawValue])), at: 0)
    }
    let bytes = try write(all, behind: &header, .first, lost: lost)
    // No writer leaves a part of a header, so that the file may be a different program's.
    let isEmpty = try old.map { (file) throws(VaultError) in try file.descriptor.status().st_size == 0 } ?? true
    if !isEmpty { setAside = try files.setAside(files.current) }
    let replaced = isEmpty ? old : nil
    do throws(VaultError) { return try make(header, bytes, replacing: replaced) } catch {
      if error.code == .alreadyExists, replaced == nil { return nil }
      throw error
    }
  }

  /// The header of a new current file before its first event.
  ///
  /// - Parameter old: the file that it replaces, whose lock the caller holds; `nil` if there is none.
  /// - Returns: `nil` if another process was faster.
  /// - Throws: what an append would have because of the earlier files: ``noFileLeft``, or the refusal of the mark.
  mutating func next(replacing old: OpenFile?) throws(VaultError) -> AuditHeader? {
    var header = AuditHeader(epoch: keys.epoch)
    if let highest = try files.newest(keys, sealer) {
      if let found = highest.header { header = AuditHeader(after: found, epoch: keys.epoch) }
      header.file = highest.number + 1
      guard AuditHeader.files.contains(header.file) else { throw Self.noFileLeft }
    }
    do throws(VaultError) { try checkMark(header, current: nil, hasNewest: false) } catch {
      // Then the mark may know of events in the file of that process.
      if error.code == .rolledBack, old == nil, try files.current.status() != nil { return nil }
      throw error
    }
    return header
  }

  /// Makes a current file with this header and these events.
  func make(_ header: AuditHeader, _ events: [UInt8], replacing old: OpenFile?) throws(VaultError) -> Made {
    let bytes = header.bytes(keys, try keys.presentKey(sealer), sealer)
    let count = AuditAppend.reserveBytes
    let reserve = [UInt8](repeating: 0, count: files.leavesRoom(besides: count) ? count : 0)
    let file: OpenFile
    do throws(VaultError) { file = try files.make(bytes + events + reserve, replacing: old?.descriptor) } catch {
      guard error.code == .io, !reserve.isEmpty else { throw error }
      file = try files.make(bytes + events, replacing: old?.descriptor)  // a reserve only if there is space
    }
    return Made(
      file: file, written: AuditAppend.Written(bytes, header, keys, isHandOver: false))
  }

  // MARK: The mark

  /// Refuses a log that is older than the mark, or has another event at its number, or none. Nothing is read of the log
  /// if the line that was compared last is still that of the mark, unless others have written meanwhile.
  ///
  /// - Parameters:
  ///   - header: counts the events of the log.
  ///   - current: the file with that header; `nil` if it is yet to be made.
  ///   - isOwn: whether this process wrote the header, and nothing was written since.
  ///   - hasNewest: whether the newest event is known to be where the header says, so that it need not be looked for.
  mutating func checkMark(
    _ header: AuditHeader, current: Descriptor?, isOwn: Bool = false, hasNewest: Bool
  ) throws(VaultError) {
    let seen = AuditLog.Point(count: header.count, tag: header.last)
    guard let line = try mark?.checkLog(keys.groupID, seen), !hasNewest || line != seen,
      !isOwn || line != compared?.line
    else { return }
    let found = try find(line.count, header, current)
    if let found, found.tag != line.tag {
      throw VaultError(
        .rolledBack, "its event \(line.count) is not the one that the mark names: it is a different log")
    }
    compared = Compared(line: line, offset: found?.offset ?? AuditHeader.byteCount)
  }

  /// Whether a log is accepted that is compared with this line.
  func accepts(
    _ line: AuditLog.Point, _ header: AuditHeader, _ current: Descriptor
  ) throws(VaultError) -> Bool {
    do throws(VaultError) {
      guard let found = try find(line.count, header, current) else { return true }
      return found.tag == line.tag
    } catch {
      guard error.code == .rolledBack else { throw error }
      return false
    }
  }

  /// Finds the event with this number; `nil` if its file was removed.
  /// - Throws: ``VaultError/Code/rolledBack`` if the file that counts the event does not have it.
  private func find(
    _ number: UInt64, _ header: AuditHeader, _ current: Descriptor?
  ) throws(VaultError) -> (offset: Int, tag: Vault.Tag)? {
    if number >= header.first, let current { return try expect(number, current, before: header.end) }
    for old in try files.handedOver().reversed() {
      guard let file = try files.readable(old),
        case .success(let found) = try AuditFiles.header(file.descriptor, keys, sealer), found.first <= number
      else { continue }
      guard number <= found.count else { return nil }
      return try expect(number, file.descriptor, before: found.end)
    }
    return nil
  }

  /// Finds an event in the file that counts it: behind the event that was compared last, if the file still has that.
  private func expect(
    _ number: UInt64, _ file: Descriptor, before end: Int
  ) throws(VaultError) -> (offset: Int, tag: Vault.Tag) {
    var start = AuditHeader.byteCount
    if let compared, compared.line.count <= number, compared.offset < end {
      let most = min(end, compared.offset + AuditFrame.counts.upperBound)
      let found = try AuditFrame.find(compared.line.count, file, from: compared.offset, before: most)
      if let found, found == (compared.offset, compared.line.tag) { start = compared.offset }
    }
    guard let found = try AuditFrame.find(number, file, from: start, before: end) else {
      throw VaultError(
        .rolledBack, "its event \(number), which the mark names, is not in it: it is damaged, or a different log")
    }
    return found
  }

  // MARK: Bytes

  /// The bytes of events behind those that `header` counts, which it counts then.
  func write(
    _ events: [AuditLog.Event], behind header: inout AuditHeader, _ firstFlags: AuditBody.Flags, lost: UInt64,
    items: [Extension.OwnedItem] = []
  ) throws(VaultError) -> [UInt8] {
    guard header.count + UInt64(events.count) < AuditHeader.numbers.upperBound else {
      throw VaultError(.limitExceeded, "the log has no number left")
    }
    let key = try keys.presentKey(sealer)
    var bytes = ByteWriter()
    var (flags, items, lost) = (firstFlags, items, lost)
    for event in events {
      header.count += 1
      var all = items
      if let item = event.item { all.append(.init(item.tag, item.data)) }
      var body = body(of: event, previous: header.last, flags, lost: lost, extensionField: Extension.field(all))
      header.last = AuditFrame.write(&body, number: header.count, to: &bytes, keys, key, sealer)
      flags = []
      items = []
      lost = 0
    }
    header.end += bytes.count
    header.epoch = keys.epoch
    header.boot = AuditHeader.presentBoot
    return bytes.bytes
  }

  /// The length of the shortest read that this program can log, with names of one byte.
  var leastCount: Int {
    let event = AuditLog.Event(action: .read, service: [0], key: [0])
    let body = body(of: event, previous: .zero, [], lost: 0, extensionField: Extension.field([]))
    return AuditFrame.headCount + Sealer.overhead + Padding.paddedCount(body.count, step: AuditBody.step)
  }

  private func body(
    of event: AuditLog.Event, previous: Vault.Tag, _ flags: AuditBody.Flags, lost: UInt64, extensionField: [UInt8]
  ) -> ByteWriter {
    var body = ByteWriter()
    body.bytes.reserveCapacity(192 + event.service.count + event.key.count + extensionField.count)
    body.raw(previous)
    body.integer(options.now())
    body.integer(event.action.rawValue)
    body.integer(flags.rawValue)
    body.integer(UInt16(0))
    body.integer(getuid())
    body.integer(getpid())
    body.raw(slot)
    body.integer(lost)
    body.lp16(Self.program)
    body.lp16(event.service)
    body.lp16(event.key)
    body.lp32(extensionField)
    return body
  }
}
