internal import DurableFiles
internal import VaultSealing

/// Writes events in the form of the file, and makes new files of a log (`Docs/Format.md` F.5, step 1).
struct AuditMaker {
  /// Why a file begins with *continue*.
  enum Reason: UInt8 { case notThere = 1, tooShort, setAside }

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
  func make(
    _ events: [AuditLog.Event], lost: UInt64, why: Reason, replacing old: OpenFile? = nil
  ) throws(VaultError) -> Made? {
    var header = AuditHeader(epoch: keys.epoch)
    let highest = try files.newest(keys, sealer)
    if let highest {
      if let found = highest.header { header = AuditHeader(after: found, epoch: keys.epoch) }
      header.file = highest.number + 1
      guard AuditHeader.files.contains(header.file) else { throw Self.noFileLeft }
    }
    try mark?.checkLog(keys.groupID, AuditLog.Point(count: header.count, tag: header.last))
    var all = events
    if highest != nil || events.first?.beginsLog != true {
      all.insert(AuditLog.Event(action: .continued, item: (AuditBody.Tag.why, [why.rawValue])), at: 0)
    }
    let bytes = try write(all, behind: &header, .first, lost: lost)
    do throws(VaultError) { return try make(header, bytes, replacing: old) } catch {
      if error.code == .alreadyExists, old == nil { return nil }
      throw error
    }
  }

  /// Makes a current file with this header and these events.
  func make(_ header: AuditHeader, _ events: [UInt8], replacing old: OpenFile?) throws(VaultError) -> Made {
    let bytes = header.bytes(keys, try keys.presentKey(sealer), sealer)
    let reserve = [UInt8](repeating: 0, count: AuditAppend.reserveBytes)
    let file: OpenFile
    do throws(VaultError) { file = try files.make(bytes + events + reserve, replacing: old?.descriptor) } catch {
      guard error.code == .io else { throw error }
      file = try files.make(bytes + events, replacing: old?.descriptor)  // a reserve only if there is space
    }
    return Made(
      file: file, written: AuditAppend.Written(bytes: bytes, header: header, keys: keys, isHandOver: false))
  }

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
