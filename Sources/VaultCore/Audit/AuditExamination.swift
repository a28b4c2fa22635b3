internal import DurableFiles
internal import VaultSealing

/// Reads a log from its first event to its last and collects what is wrong with it (`Docs/Format.md` F.6).
struct AuditExamination {
  private let keys: AuditKeys
  private let sealer: Sealer
  private var findings: [AuditFinding] = []
  private var eventCount = 0
  private var lostCount: UInt64 = 0

  /// The number that the next event should have, and the tag and epoch of the one before.
  private var next: UInt64 = 1
  private var tag = Vault.Tag.zero
  private var epoch: UInt32 = 0
  /// Whether `tag` and `next` are those of an event or of a header that opened.
  private var isKnown = false
  /// The last event of the files that are missing at the beginning.
  private var prunedEnd: UInt64?
  private var restarts: [(number: UInt64, synced: UInt64)] = []
  /// The last event that an event *prune* names.
  private var prunedUntil: UInt64 = 0
  /// Where the last event *acknowledge* with each finding stands.
  private var acknowledged: [AuditFinding.ID: AuditFinding.Place] = [:]
  /// How often the numbers began again, because an earlier file was not there.
  private var run = 0
  /// The last event *start* or *stop*, and where the last *start* stands.
  private var lastSwitch: AuditEvent.Action?
  private var lastStart = AuditFinding.Place(run: 0, number: 1)
  private var candidateCount = 0
  /// Whether the rest cannot be judged.
  private var hasEnded = false
  /// The findings of files that state a later key or version, and the numbers at which these begin, until a file goes
  /// on behind the known events.
  private var claims: [(finding: Int, start: UInt64)] = []
  /// Whether a key that the loaded vault does not have may open the rest.
  private(set) var needsLaterKey = false
  private let marked: RollbackMark.Log?
  private var markedTag: Vault.Tag?
  /// Whether a header counts the mark's event.
  private var isMarkedCounted = false
  /// Whether the current file cannot be read, because it states a later key or version.
  private var isCurrentUnknown = false

  /// The maximum number of places tried that look like an event but are not, because each costs a hash, and of
  /// findings, because each takes memory.
  private static let most = 10_000

  /// - Parameter marked: the mark's line of the log.
  init(_ keys: AuditKeys, _ sealer: Sealer, marked: RollbackMark.Log?) {
    self.keys = keys
    self.sealer = sealer
    self.marked = marked
  }

  /// - Parameter run: how often the numbers had begun again; `nil` for what is found where the reading is.
  private mutating func find(
    _ code: AuditFinding.Code, _ first: UInt64, _ last: UInt64, in run: Int? = nil, isCertain: Bool = true
  ) {
    guard !hasEnded else { return }
    var finding = AuditFinding(code, first...max(first, last), run: run ?? self.run)
    finding.isCertain = finding.isCertain && isCertain
    findings.append(finding)
    if findings.count >= Self.most { end(.notExamined) }
  }

  private mutating func findLost(_ first: UInt64, _ last: UInt64) {
    if let before = findings.last, before.code == .lostKey, before.events.upperBound == first - 1 {
      findings[findings.count - 1] = AuditFinding(.lostKey, before.events.lowerBound...last, run: run)
    } else {
      find(.lostKey, first, last)
    }
  }

  /// Ends the examination with a last finding.
  private mutating func end(_ code: AuditFinding.Code) {
    guard !hasEnded else { return }
    hasEnded = true
    findings.append(AuditFinding(code, next...next, run: run))
  }

  // MARK: A file

  /// One file of the log while it is read.
  private struct Part {
    let file: Descriptor
    let size: Int
    /// Whether no log has that length. Then nothing is searched behind the events.
    let isTooLong: Bool
    let header: AuditHeader?
    let isCurrent: Bool
    /// The epoch that the header states, if it is later than the reader's and nothing so far speaks against it.
    let statedEpoch: UInt32?
    /// What was read last.
    var last = Last.nothing
    /// The number of appends that the header does not count.
    var uncounted = 0
    /// Whether the last event that was taken is *hand over*, or cannot be opened.
    var endsWell = false
    var endsWithHandOver = false

    enum Last {
      case nothing
      /// An event of a key that the reader has, or has lost.
      case known
      /// A frame of a later epoch, behind others from this number on.
      case later(epoch: UInt32, first: UInt64)
    }

    /// The number of the first frame of a later epoch, unless a known event is behind it.
    var firstLater: UInt64? { if case .later(_, let first) = last { first } else { nil } }

    /// Whether what stands in the file is what writers with the stated key leave: their events are the last.
    var isLater: Bool {
      switch last {
      case .nothing: true
      case .known: false
      case .later(let epoch, _): epoch == statedEpoch
      }
    }
  }

  /// Reads the next file of the log.
  ///
  /// - Parameters:
  ///   - header: its first bytes.
  ///   - isFirst: whether it is the oldest one.
  ///   - path: that of a handed-over file; `nil` for the current one, and for one that was delivered.
  ///   - body: receives each event that verifies and is in its place, oldest first.
  mutating func read(
    _ file: Descriptor, size: Int, header: RawSpan, isFirst: Bool, isCurrent: Bool, path: String? = nil,
    _ body: (AuditEvent) -> Void
  ) throws(VaultError) {
    guard !hasEnded else { return }
    let opened = try AuditHeader.open(header, keys, sealer)
    let (place, start) = (findings.count, next)
    var found: AuditHeader?
    var statedEpoch: UInt32?
    switch opened {
    case .success(let header):
      found = header
      begin(header, isFirst: isFirst)
    case .failure(let refusal):
      switch refusal.code {
      case .laterVersion: return claim(.laterVersion, next, from: start, isCurrent: isCurrent, path)
      case .laterKey: statedEpoch = refusal.epoch
      default: find(refusal.code, next, next)
      }
      if refusal.code == .lostKey { isKnown = false }
    }
    var part = Part(
      file: file, size: min(size, AuditHeader.fileBytes), isTooLong: size > AuditHeader.fileBytes, header: found,
      isCurrent: isCurrent, statedEpoch: statedEpoch)
    let isBroken = try readEvents(&part, body) || part.isTooLong || part.firstLater != nil
    guard !hasEnded else { return }
    if statedEpoch != nil {
      if part.isLater {
        needsLaterKey = true
        return claim(.laterKey, part.firstLater ?? next, from: start, isCurrent: isCurrent, path)
      }
      findings.insert(AuditFinding(.badHeader, start...start, run: run), at: place)
    }
    if let found, found.count >= next {
      find(.missing, next, found.count)
      next = found.count + 1
      tag = found.last
      isKnown = true
    } else if isBroken {
      // An interrupted append, unless it is behind *hand over*, where no program appends.
      find(.debris, next, next, isCertain: part.endsWithHandOver)
    }
    guard let found else { return }
    if part.uncounted > 1 { find(.oldState, next, next) }
    if !isCurrent, !part.endsWell { find(.notHandedOver, max(1, next - 1), max(1, next - 1)) }
    if isCurrent, found.mayBeRestarted { restarts.append((.max, found.synced)) }
  }

  /// Finds that a file states a later key or version.
  private mutating func claim(
    _ code: AuditFinding.Code, _ number: UInt64, from start: UInt64, isCurrent: Bool, _ path: String?
  ) {
    let place = findings.count
    claims.append((place, start))
    find(code, number, number)
    findings[place].file = path
    if isCurrent { isCurrentUnknown = true }
  }

  /// Whether a handed-over file is of a later key than the reader has.
  static func isLater(_ file: Descriptor, _ keys: AuditKeys, _ sealer: Sealer) throws(VaultError) -> Bool {
    let image = try FileImage(file, 0..<AuditHeader.byteCount, limit: AuditHeader.byteCount)
    guard case .failure(let refusal) = try AuditHeader.open(image.span, keys, sealer), refusal.code == .laterKey else {
      return false
    }
    // What stands behind the header may contradict it.
    var examination = AuditExamination(keys, sealer, marked: nil)
    let size = Int(try file.status().st_size)
    try examination.read(file, size: size, header: image.span, isFirst: true, isCurrent: false) { _ in }
    return examination.needsLaterKey
  }

  /// Notes a file of the log that cannot be read. Its events count as missing.
  ///
  /// - Parameter file: the path of the file, or what a collection has it as.
  mutating func skip(_ file: String, _ error: VaultError) {
    guard !hasEnded else { return }
    var finding = AuditFinding(.unreadable, next...next, run: run)
    finding.file = file
    finding.reason = error.message(without: file)
    findings.append(finding)
  }

  private mutating func begin(_ header: AuditHeader, isFirst: Bool) {
    if isFirst {
      if header.first > 1 { prunedEnd = header.first - 1 }
    } else if header.first != next || header.before != tag {
      find(.fileMissing, next, max(next, header.first - 1))
      if header.first < next { beginAgain() }
    } else if next > 1 || header.file == 1 {
      // The log went on behind the last known event, or began here: no later key or version has written in between.
      for claim in claims { findings[claim.finding] = AuditFinding(.badHeader, claim.start...claim.start, run: run) }
    }
    claims = []
    if let marked, header.counts(marked.count) { isMarkedCounted = true }
    next = header.first
    tag = header.before
    isKnown = true
  }

  /// The mark's event is one of those that follow.
  private mutating func beginAgain() {
    run += 1
    markedTag = nil
    isMarkedCounted = false
  }

  /// - Returns: whether bytes that are no event are behind the last one.
  private mutating func readEvents(_ part: inout Part, _ body: (AuditEvent) -> Void) throws(VaultError) -> Bool {
    var offset = AuditHeader.byteCount
    var isBroken = false
    while offset < part.size, !hasEnded {
      switch try AuditFrame.find(part.file, at: offset, before: part.size, keys, sealer) {
      case .event(let frame):
        offset += frame.count
        // Behind what was sealed with a later key no program writes with an earlier one.
        if part.firstLater != nil { isBroken = true }
        part.last = .known
        if take(frame, endingAt: offset, &part, isBroken: isBroken, body) { isBroken = false }
      case .closed(let head, _) where isLater(head, part):
        part.last = .later(epoch: head.epoch, first: part.firstLater ?? head.number)
        offset += head.count
      case .closed(let head, let frameTag) where isTaken(head):
        part.last = .known
        findLost(next, head.number)
        if head.number == marked?.count { markedTag = frameTag }
        next = head.number + 1
        // The next event or header that opens proves the frame before it.
        tag = frameTag
        isKnown = true
        isBroken = false
        part.endsWell = true
        part.endsWithHandOver = false
        offset += head.count
      case let found:
        if case .closed(let head, _) = found, let header = part.header, part.isCurrent, head.epoch > keys.epoch,
          head.number == header.count + 1
        {
          needsLaterKey = true  // or it is what a writer left that was killed before it wrote the header
        }
        if part.isTooLong { return true }
        if !isBroken, try part.file.isZero(offset..<part.size) { return false }
        isBroken = true
        guard let candidate = try candidate(part, from: offset + 8) else { return true }
        offset = candidate
      }
    }
    return isBroken
  }

  /// Whether a frame can be of the later key that the header states.
  private func isLater(_ head: AuditFrame.Head, _ part: Part) -> Bool {
    guard let stated = part.statedEpoch else { return false }
    return head.epoch > keys.epoch && head.epoch <= stated
  }

  /// Whether a frame can be of a key that the reader has lost.
  private func isTaken(_ head: AuditFrame.Head) -> Bool {
    head.epoch <= keys.epoch && head.number >= next && head.epoch >= epoch
  }

  /// The next place at which an event or a frame that is taken stands.
  private mutating func candidate(_ part: Part, from start: Int) throws(VaultError) -> Int? {
    var start = start
    while start + AuditFrame.headCount <= part.size {
      let data = part.file.nextData(from: start)
      guard data < part.size else { return nil }
      start += (data - start) & ~7
      let image = try FileImage(part.file, start..<min(start + 65_536, part.size), limit: Int.max)
      if image.count == 65_536, image.span.isZero {
        start += image.count
        continue
      }
      var offset = 0
      while offset + AuditFrame.headCount <= image.count {
        defer { offset += 8 }
        guard AuditFrame.Head(image.span, at: offset, before: part.size - start) != nil else { continue }
        candidateCount += 1
        guard candidateCount <= Self.most else {
          end(.notExamined)
          return nil
        }
        switch try AuditFrame.find(part.file, at: start + offset, before: part.size, keys, sealer) {
        case .event: return start + offset
        case .closed(let head, _) where isTaken(head) || isLater(head, part): return start + offset
        default: break
        }
      }
      guard offset > 0 else { return nil }  // the file became shorter
      start += offset
    }
    return nil
  }

  // MARK: An event

  /// Compares an event with those before it.
  /// - Returns: whether it is in its place.
  private mutating func take(
    _ frame: AuditFrame, endingAt end: Int, _ part: inout Part, isBroken: Bool, _ body: (AuditEvent) -> Void
  ) -> Bool {
    let number = frame.number
    guard number >= next else {
      find(.outOfOrder, number, number)
      return false
    }
    if number > next {
      if isKnown {
        find(.missing, next, number - 1)
      } else if next == 1 {
        prunedEnd = number - 1
      } else {
        findLost(next, number - 1)
      }
    } else if isKnown, let body = frame.body, body.previous != tag {
      find(.notChained, number, number)
    } else if isBroken {
      find(.debris, number, number)
    }
    if let body = frame.body { note(body, number) } else { find(.malformed, number, number) }
    if frame.epoch < epoch { find(.earlierKey, number, number) }
    if let header = part.header {
      if number == header.count, frame.tag != header.last || end != header.end { find(.fork, number, number) }
      if number > header.count, frame.flags.contains(.first) { part.uncounted += 1 }
    }
    if number == marked?.count { markedTag = frame.tag }
    part.endsWithHandOver = frame.action == .handOver
    part.endsWell = part.endsWithHandOver
    next = number + 1
    tag = frame.tag
    epoch = frame.epoch
    isKnown = true
    eventCount += 1
    if let found = frame.body, !hasEnded {
      lostCount &+= found.event.lost
      body(found.event)
    }
    return true
  }

  private mutating func note(_ body: AuditBody, _ number: UInt64) {
    if body.flags.contains(.interrupted) { find(.interrupted, number, number) }
    if body.flags.contains(.oldState) { find(.oldState, number, number) }
    if body.flags.contains(.restarted) { restarts.append((number, body.synced)) }
    let action = body.event.action
    if action == .start || action == .stop { lastSwitch = action }
    if action == .start { lastStart = AuditFinding.Place(run: run, number: number) }
    if action == .continued { find(.continued, number, number) }
    if number == 1, action != .start, action != .continued { find(.noStart, 1, 1) }
    if action == .prune, let pruned = body.pruned { prunedUntil = max(prunedUntil, pruned.upperBound) }
    if action == .acknowledge {
      for id in body.acknowledged { acknowledged[id] = AuditFinding.Place(run: run, number: number) }
    }
  }

  // MARK: The end

  /// Finishes the report.
  ///
  /// - Parameters:
  ///   - isMissing: whether there is no current file although the group was logged.
  ///   - isOff: whether nothing is logged, although there is a log.
  ///   - isOther: whether the setting differs from the vault's.
  ///   - isOfOneMachine: whether other machines have logs of the same group.
  mutating func report(isMissing: Bool, isOff: Bool, isOther: Bool, isOfOneMachine: Bool) -> AuditReport {
    let isUnknown = hasEnded || isCurrentUnknown
    hasEnded = false
    if let prunedEnd, prunedUntil < prunedEnd { find(.earlierFiles, 1, prunedEnd, in: 0) }
    if isMissing { find(.noLog, next, next) }
    if isOff, !isUnknown, lastSwitch != .stop { find(.noStop, lastStart.number, lastStart.number, in: lastStart.run) }
    if isOther { find(.otherSetting, next, next) }
    if let marked, !isUnknown { compare(with: marked) }
    var report = AuditReport()
    report.eventCount = eventCount
    report.lostCount = lostCount
    report.findings = findings.map { finding in
      var finding = finding
      finding.isOfOneMachine = isOfOneMachine
      if finding.code.verdict == .certainOrPower, mayBePower(finding) { finding.isCertain = false }
      if finding.code.canBeAcknowledged, let place = acknowledged[finding.id] {
        finding.isAcknowledged = place > finding.place
      }
      return finding
    }
    return report
  }

  private mutating func compare(with marked: RollbackMark.Log) {
    if marked.count >= next {
      find(.behindMark, next, marked.count)
    } else if markedTag.map({ $0 != marked.tag }) ?? isMarkedCounted {
      find(.behindMark, marked.count, marked.count)
    }
  }

  /// Whether the machine may have stopped before the events were on the disk.
  private func mayBePower(_ finding: AuditFinding) -> Bool {
    // What a mark names was on the disk before.
    if finding.code == .missing, finding.place.run == run, let marked, finding.events.contains(marked.count) {
      return false
    }
    return restarts.contains { restart in
      finding.events.lowerBound > restart.synced && finding.events.upperBound < restart.number
    }
  }
}
