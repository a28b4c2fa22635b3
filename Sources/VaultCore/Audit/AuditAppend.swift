internal import DurableFiles
internal import VaultSealing

/// The current file of a log while its lock is held, ready for an append (`Docs/Format.md` F.5).
struct AuditAppend {
  /// A header as it was written, so that it need not be opened again. Without the keys, which are wiped when the vault
  /// is locked.
  struct Written: Sendable {
    let bytes: [UInt8]
    let header: AuditHeader
    let vaultID: Vault.Identifier
    let groupID: Vault.Identifier
    let epoch: UInt32
    /// Whether the last event is *hand over*.
    let isHandOver: Bool

    init(_ bytes: [UInt8], _ header: AuditHeader, _ keys: AuditKeys, isHandOver: Bool) {
      self.bytes = bytes
      self.header = header
      vaultID = keys.vaultID
      groupID = keys.groupID
      epoch = keys.epoch
      self.isHandOver = isHandOver
    }
  }

  enum Opened {
    case ready(AuditAppend)
    case laterKey(UInt32)
  }

  /// The length of the zeros behind the events, in bytes.
  static let reserveBytes = 64 << 10
  /// The reserve is extended when less is left.
  private static let lowReserve = 32 << 10
  /// What is left for events of the log itself, if the reserve cannot be extended.
  private static let lastReserve = 4 << 10
  /// To what the reserve is extended on a disk that is almost full.
  private static let scarceReserve = 8 << 10

  static let rolledBack = VaultError(
    .rolledBack, "it states a later key than the vault has: the vault is older than its log, or the log was changed")
  private static let unknown = VaultError(
    .tampered, "it cannot be continued: it is damaged, or not that of this access group")

  private var maker: AuditMaker
  private let file: OpenFile
  private var header: AuditHeader
  private var size: Int
  private var flags = AuditBody.Flags.first
  private var items: [Extension.OwnedItem] = []
  /// Whether the file has the name of a handed-over one, too: handing it over was interrupted.
  private var hasSecondName: Bool
  private var endsWithHandOver: Bool
  /// Whether the newest event is where the header says.
  private var hasNewest: Bool
  private(set) var written: Written?
  /// The newest event that this process knows to be on the disk.
  private(set) var durable: AuditLog.Point?
  /// Whether this append has written an event that is still in the file, or may be after a power failure.
  private(set) var mayBeWritten = false
  /// What of the mark was compared last.
  var compared: AuditMaker.Compared? { maker.compared }

  private var descriptor: Descriptor { file.descriptor }
  private var keys: AuditKeys { maker.keys }

  // MARK: Opening

  /// Steps 2 to 4: takes over events that the header does not count, and erases bytes that are no event.
  ///
  /// - Parameters:
  ///   - file: locked.
  ///   - known: the header that this process wrote last.
  ///   - durable: the newest event that this process knows to be on the disk, unless the log was put back since.
  ///   - mayBeStale: whether the caller can load the vault again. Otherwise an event of a later key that no header
  ///     counts is an interrupted append.
  static func open(
    _ file: OpenFile, _ maker: AuditMaker, _ known: Written?, durable: AuditLog.Point?, mayBeStale: Bool
  ) throws(VaultError) -> Opened {
    let image = try FileImage(file.descriptor, 0..<AuditHeader.byteCount, limit: AuditHeader.byteCount)
    var (header, isHandOver, isKnown, hasNewest) = (AuditHeader(epoch: maker.keys.epoch), false, false, true)
    if let known, known.epoch == maker.keys.epoch, image.span.byteCount == known.bytes.count,
      image.span.starts(with: known.bytes)
    {
      header = known.header
      isHandOver = known.isHandOver
      isKnown = true
    } else {
      switch try AuditHeader.open(image.span, maker.keys, maker.sealer) {
      case .success(let found): header = found
      case .failure(let refusal):
        switch refusal.code {
        case .laterKey: return .laterKey(refusal.epoch)
        case .laterVersion: throw VaultError(.unsupportedVersion, "a later version has written it")
        default: throw unknown
        }
      }
      let last = try AuditFrame.last(file.descriptor, before: header.end, header, maker.keys, maker.sealer)
      isHandOver = last?.action == .handOver
      hasNewest = last?.tag == header.last
    }
    let status = try file.descriptor.status()
    var append = AuditAppend(
      maker: maker, file: file, header: header, size: Int(status.st_size), hasSecondName: status.st_nlink > 1,
      endsWithHandOver: isHandOver, hasNewest: hasNewest, written: isKnown ? known : nil,
      durable: durable.flatMap { header.isAhead(of: $0) ? $0 : nil })
    if let epoch = try append.prepare(isKnown: isKnown, mayBeStale: mayBeStale) { return .laterKey(epoch) }
    return .ready(append)
  }

  private init(
    maker: AuditMaker, file: OpenFile, header: AuditHeader, size: Int, hasSecondName: Bool, endsWithHandOver: Bool,
    hasNewest: Bool, written: Written?, durable: AuditLog.Point?
  ) {
    self.maker = maker
    self.file = file
    self.header = header
    self.size = size
    self.hasSecondName = hasSecondName
    self.endsWithHandOver = endsWithHandOver
    self.hasNewest = hasNewest
    self.written = written
    self.durable = durable
  }

  /// - Returns: the epoch of an event that is sealed with a later key.
  private mutating func prepare(isKnown: Bool, mayBeStale: Bool) throws(VaultError) -> UInt32? {
    if header.mayBeRestarted {
      flags.insert(.restarted)
      var synced = ByteWriter()
      synced.integer(header.synced)
      items.append(.init(AuditBody.Tag.synced, synced.bytes))
    }
    if size < header.end {
      flags.insert(.short)
      hasNewest = false
      header.end = (size + 7) & ~7
    } else if let epoch = try takeOver(), mayBeStale {
      return epoch
    }
    try maker.checkMark(header, current: descriptor, isOwn: written != nil && hasNewest, hasNewest: hasNewest)
    if try hasDebris(isKnown: isKnown) { flags.insert(.interrupted) }
    return nil
  }

  /// Takes over events whose writer was killed before it wrote the header.
  ///
  /// - Returns: the epoch of an event of a later key that is behind them.
  private mutating func takeOver() throws(VaultError) -> UInt32? {
    var appends = 0
    var later: UInt32?
    loop: while true {
      switch try AuditFrame.find(descriptor, at: header.end, before: size, keys, maker.sealer) {
      case .nothing: break loop
      case .closed(let head, _):
        guard head.epoch > keys.epoch else { throw Self.unknown }
        later = head.epoch
        break loop
      case .event(let found):
        guard found.number == header.count + 1, let body = found.body, body.previous == header.last else {
          throw Self.unknown
        }
        if found.flags.contains(.first) { appends += 1 }
        header.count += 1
        header.last = found.tag
        header.end += found.count
        endsWithHandOver = found.action == .handOver
        hasNewest = true
        written = nil
      }
    }
    if appends > 1 { flags.insert(.oldState) }
    return later
  }

  /// Whether bytes that are no event are behind the last one. Behind a header of this process only an interrupted
  /// append can be, which is at the beginning of the rest.
  private func hasDebris(isKnown: Bool) throws(VaultError) -> Bool {
    guard size > header.end else { return false }
    guard size <= AuditHeader.fileBytes else { return true }
    let last = isKnown ? min(size, header.end + AuditFrame.counts.upperBound) : size
    return try !descriptor.isZero(header.end..<last)
  }

  /// Writes zeros over bytes that are no event: cutting off the reserve could lose space that the disk no longer has.
  /// More than a reserve, or than a file may have, is cut off.
  private mutating func eraseDebris() throws(VaultError) {
    let most = min(header.end + Self.reserveBytes, AuditHeader.fileBytes)
    if size > most {
      try descriptor.truncate(to: most)
      size = most
    }
    try descriptor.write([UInt8](repeating: 0, count: size - header.end), at: header.end)
  }

  // MARK: Writing

  /// Writes events, then the header that counts them. With an error nothing is written, or ``mayBeWritten`` is set.
  mutating func write(_ events: [AuditLog.Event], lost: UInt64) throws(VaultError) {
    if hasSecondName { removeSecondName() }
    var next = header
    let start = header.end
    next.synced = max(header.synced, min(durable?.count ?? 0, header.count))
    let bytes = try maker.write(events, behind: &next, flags, lost: lost, items: items)
    guard next.end <= AuditHeader.fileBytes else {
      throw VaultError(.limitExceeded, "the file has its maximum length and could not be handed over")
    }
    if flags.contains(.interrupted) { try eraseDebris() }
    let failure = try makeRoom(until: next.end)
    // What is left for the events of the log itself.
    let kept = events.allSatisfy { $0.action.isOfLog } ? 0 : Self.lastReserve
    if let failure, size - next.end < kept { throw failure }
    let headerBytes = next.bytes(keys, try keys.presentKey(maker.sealer), maker.sealer)
    written = nil
    let wasWritten = mayBeWritten
    mayBeWritten = true
    do throws(VaultError) {
      try descriptor.write(bytes, at: start)
      try descriptor.write(headerBytes, at: 0)
    } catch {
      do throws(VaultError) {
        try descriptor.write([UInt8](repeating: 0, count: max(0, min(size, next.end) - start)), at: start)
        try descriptor.truncate(to: size)
        try descriptor.synchronizeData()
        mayBeWritten = wasWritten
      } catch {}  // no reader takes a part of an event for one, and the next writer erases it
      throw error
    }
    header = next
    size = max(size, next.end)
    flags = .first
    items = []
    endsWithHandOver = events.last?.action == .handOver
    written = Written(headerBytes, header, keys, isHandOver: endsWithHandOver)
  }

  /// Makes what was written durable.
  mutating func synchronize() throws(VaultError) {
    try descriptor.synchronizeData()
    durable = AuditLog.Point(count: header.count, tag: header.last)
  }

  /// The newest event, synced, for a mark: the last one before this file if the file has none of those that its header
  /// counts, and `nil` if a comparison would not find that either.
  mutating func newest() throws(VaultError) -> AuditLog.Point? {
    try synchronize()
    if hasNewest { return durable }
    if let found = try AuditFrame.newest(descriptor, before: header.end, header, keys, maker.sealer) { return found }
    let before = AuditLog.Point(count: header.first - 1, tag: header.before)
    guard before.count > 0, try maker.accepts(before, header, descriptor) else { return nil }
    return before
  }

  /// Extends the reserve behind `end` if it is low. If that would leave less space to the vault than it takes, only by
  /// what is short for the next events.
  /// - Returns: the error that prevented it, or soon will.
  private mutating func makeRoom(until end: Int) throws(VaultError) -> VaultError? {
    guard size - end < Self.lowReserve else { return nil }
    let target = min(end + Self.reserveBytes, AuditHeader.fileBytes)
    guard target > size else { return nil }
    if maker.files.leavesRoom(besides: target - size) { return try extend(to: target) }
    return try extend(to: min(end + Self.scarceReserve, target)) ?? maker.files.scarcity
  }

  /// Writes zeros up to `target`, unless the file is as long already.
  /// - Returns: the error that prevented it.
  private mutating func extend(to target: Int) throws(VaultError) -> VaultError? {
    guard target > size else { return nil }
    do throws(VaultError) {
      try descriptor.write([UInt8](repeating: 0, count: target - size), at: size)
      size = target
      return nil
    } catch {
      size = Int(try descriptor.status().st_size)
      return error
    }
  }

  /// Checks whether a read can be logged.
  ///
  /// - Returns: the error that prevents extending the reserve, while there still is one, or handing over.
  /// - Throws: that error if what is left is too short for any read.
  mutating func examineReserve() throws(VaultError) -> VaultError? {
    var overdue: VaultError?
    if isHandOverDue {
      do throws(VaultError) { try maker.files.expectHandOver(of: file, as: header.file) } catch { overdue = error }
    }
    if endsWithHandOver {
      if let overdue { throw overdue }
      return nil
    }
    guard let failure = try makeRoom(until: header.end) else { return overdue }
    guard size - header.end >= Self.lastReserve + maker.leastCount else { throw failure }
    return failure
  }

  // MARK: Handing over

  /// Whether the file has reached its limit or ends with *hand over*.
  private var isHandOverDue: Bool { endsWithHandOver || header.end >= keys.limits.fileBytes }

  /// Hands over if that is due. A full file stays in use if it fails.
  /// - Returns: whether there is a new current file.
  mutating func handOverIfDue() throws(VaultError) -> Bool {
    guard isHandOverDue else { return false }
    do throws(VaultError) { try handOver() } catch {
      guard !endsWithHandOver else { throw error }
      return false
    }
    return true
  }

  /// Gives the file its name as a handed-over one and makes a new current file. The second name comes first, because it
  /// shows whether the directory can be written while the log can still go on in this file.
  mutating func handOver() throws(VaultError) {
    guard AuditHeader.files.contains(header.file + 1) else { throw AuditMaker.noFileLeft }
    try maker.files.expectHandOver(of: file, as: header.file)
    try maker.files.link(file, as: header.file, isWritten: !endsWithHandOver)
    hasSecondName = false  // for the event, which is part of handing over
    let made: AuditMaker.Made
    do throws(VaultError) {
      if !endsWithHandOver { try write([AuditLog.Event(action: .handOver)], lost: 0) }
      try synchronize()
      made = try maker.make(AuditHeader(after: header, epoch: keys.epoch), [], replacing: file)
    } catch {
      removeSecondName()
      throw error
    }
    defer { made.file.descriptor.unlock() }
    do throws(VaultError) { try prune(made) } catch {}  // tried again when the next file is handed over
  }

  /// Takes the second name from a file that goes on. What has that name is copied and moved as a file that is not
  /// written any more. If the directory cannot be written, the file goes on with both.
  private mutating func removeSecondName() {
    hasSecondName = false
    do throws(VaultError) { try maker.files.removeSecondName(of: file, header.file) } catch {}
  }

  /// The last event of a file that was handed over; `nil` if it cannot be opened.
  private func handOverEvent(of file: AuditFiles.Numbered) throws(VaultError) -> AuditEvent? {
    guard let open = try maker.files.readable(file) else { return nil }
    switch try AuditFiles.header(open.descriptor, keys, maker.sealer) {
    case .failure: return nil
    case .success(let header):
      let last = try AuditFrame.last(open.descriptor, before: header.end, header, keys, maker.sealer)
      return last?.action == .handOver ? last?.body?.event : nil
    }
  }

  /// Removes the oldest files whose last event is older than the settings say, after an event that says so.
  private func prune(_ made: AuditMaker.Made) throws(VaultError) {
    guard keys.limits.keptDays > 0 else { return }
    let oldest = maker.options.now() - Int64(keys.limits.keptDays) * 86_400_000
    var old: [AuditFiles.Numbered] = []
    var last: UInt64 = 0
    for file in try maker.files.handedOver() {
      guard let event = try handOverEvent(of: file), event.time < oldest else { break }
      old.append(file)
      last = event.number
    }
    guard last > 0 else { return }
    var next: AuditAppend
    switch try Self.open(made.file, maker, made.written, durable: durable, mayBeStale: false) {
    case .laterKey: return
    case .ready(let append): next = append
    }
    var range = ByteWriter()
    range.integer(UInt64(1))
    range.integer(last)
    try next.write([AuditLog.Event(action: .prune, item: (AuditBody.Tag.pruned, range.bytes))], lost: 0)
    try next.synchronize()
    for file in old { try maker.files.remove(file) }
    try maker.files.synchronize()
  }
}
