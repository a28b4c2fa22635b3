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
  private var acknowledged: [AuditFinding.ID: UInt64] = [:]
  private var candidateCount = 0
  /// The findings of bytes behind the last event of a file, which an interrupted append explains.
  private var possibleDebris: Set<UInt64> = []
  /// Whether the rest cannot be judged.
  private(set) var hasEnded = false
  /// Whether it ended because of a key that the loaded vault does not have.
  private(set) var needsLaterKey = false
  private let marked: RollbackMark.Log?
  private var markedTag: Vault.Tag?

  /// The maximum number of places tried that look like an event but are not, because each costs a hash, and of
  /// findings, because each takes memory.
  private static let most = 10_000

  /// - Parameter marked: the mark's line of the log.
  init(_ keys: AuditKeys, _ sealer: Sealer, marked: RollbackMark.Log?) {
    self.keys = keys
    self.sealer = sealer
    self.marked = marked
  }

  private mutating func find(_ code: AuditFinding.Code, _ first: UInt64, _ last: UInt64) {
    guard !hasEnded else { return }
    findings.append(AuditFinding(code, first...max(first, last)))
    if findings.count >= Self.most { end(.notExamined) }
  }

  private mutating func findLost(_ first: UInt64, _ last: UInt64) {
    if let before = findings.last, before.code == .lostKey, before.events.upperBound == first - 1 {
      findings[findings.count - 1] = AuditFinding(.lostKey, before.events.lowerBound...last)
    } else {
      find(.lostKey, first, last)
    }
  }

  /// Ends the examination with a last finding.
  private mutating func end(_ code: AuditFinding.Code, at number: UInt64? = nil) {
    guard !hasEnded else { return }
    hasEnded = true
    needsLaterKey = code == .laterKey
    findings.append(AuditFinding(code, (number ?? next)...(number ?? next)))
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
    /// The number of appends that the header does not count.
    var uncounted = 0
    /// Whether the last event that was taken is *hand over*, or cannot be opened.
    var endsWell = false
    var endsWithHandOver = false
  }

  /// Reads the next file of the log.
  ///
  /// - Parameters:
  ///   - header: its first bytes.
  ///   - isFirst: whether it is the oldest one.
  ///   - body: receives each event that verifies and is in its place, oldest first.
  mutating func read(
    _ file: Descriptor, size: Int, header: RawSpan, isFirst: Bool, isCurrent: Bool, _ body: (AuditEvent) -> Void
  ) throws(VaultError) {
    guard !hasEnded else { return }
    let opened = try AuditHeader.open(header, keys, sealer)
    var found: AuditHeader?
    switch opened {
    case .success(let header):
      found = header
      begin(header, isFirst: isFirst)
    case .failure(let refusal):
      if refusal.code == .laterKey || refusal.code == .laterVersion { return end(refusal.code) }
      find(refusal.code, next, next)
      if refusal.code == .lostKey { isKnown = false }
    }
    var part = Part(
      file: file, size: min(size, AuditHeader.fileBytes), isTooLong: size > AuditHeader.fileBytes, header: found,
      isCurrent: isCurrent)
    let isBroken = try readEvents(&part, body) || part.isTooLong
    guard !hasEnded else { return }
    if let found, found.count >= next {
      find(.missing, next, found.count)
      next = found.count + 1
      tag = found.last
      isKnown = true
    } else if isBroken {
      // No program appends behind *hand over*.
      if !part.endsWithHandOver { possibleDebris.insert(next) }
      find(.debris, next, next)
    }
    guard let found else { return }
    if part.uncounted > 1 { find(.oldState, next, next) }
    if !isCurrent, !part.endsWell { find(.notHandedOver, max(1, next - 1), max(1, next - 1)) }
    if isCurrent, found.mayBeRestarted { restarts.append((.max, found.synced)) }
  }

  private mutating func begin(_ header: AuditHeader, isFirst: Bool) {
    if isFirst {
      if header.first > 1 { prunedEnd = header.first - 1 }
    } else if header.first != next || header.before != tag {
      find(.fileMissing, next, max(next, header.first - 1))
    }
    next = header.first
    tag = header.before
    isKnown = true
  }

  /// - Returns: whether bytes that are no event are behind the last one.
  private mutating func readEvents(_ part: inout Part, _ body: (AuditEvent) -> Void) throws(VaultError) -> Bool {
    var offset = AuditHeader.byteCount
    var isBroken = false
    while offset < part.size, !hasEnded {
      switch try AuditFrame.place(part.file, at: offset, before: part.size, keys, sealer) {
      case .event(let frame):
        offset += frame.count
        if take(frame, endingAt: offset, &part, isBroken: isBroken, body) { isBroken = false }
      case .closed(let head, let frameTag) where isTaken(head, part):
        if head.epoch > keys.epoch {
          end(.laterKey, at: head.number)
          return false
        }
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
      default:
        if part.isTooLong { return true }
        if !isBroken, try part.file.isZero(offset..<part.size) { return false }
        isBroken = true
        guard let candidate = try candidate(part, from: offset + 8) else { return true }
        offset = candidate
      }
    }
    return isBroken
  }

  private func isTaken(_ head: AuditFrame.Head, _ part: Part) -> Bool {
    // No program appends to a file that was handed over, so no later key can have sealed its last event.
    if head.epoch > keys.epoch { return part.isCurrent && (part.header.map { head.number > $0.count } ?? true) }
    return head.number >= next && head.epoch >= epoch
  }

  /// The next place at which an event or a frame that is taken stands.
  private mutating func candidate(_ part: Part, from start: Int) throws(VaultError) -> Int? {
    var start = start
    while start + AuditFrame.headCount <= part.size {
      let image = try FileImage(part.file, start..<min(start + 65_536, part.size), limit: Int.max)
      var offset = 0
      while offset + AuditFrame.headCount <= image.count {
        defer { offset += 8 }
        guard AuditFrame.Head(image.span, at: offset, before: part.size - start) != nil else { continue }
        candidateCount += 1
        guard candidateCount <= Self.most else {
          end(.notExamined)
          return nil
        }
        switch try AuditFrame.place(part.file, at: start + offset, before: part.size, keys, sealer) {
        case .event: return start + offset
        case .closed(let head, _) where isTaken(head, part): return start + offset
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
    if action == .continued { find(.continued, number, number) }
    if number == 1, action != .start, action != .continued { find(.noStart, 1, 1) }
    if action == .prune, let pruned = body.pruned { prunedUntil = max(prunedUntil, pruned.upperBound) }
    if action == .acknowledge {
      for id in body.acknowledged { acknowledged[id] = number }
    }
  }

  // MARK: The end

  /// Finishes the report.
  ///
  /// - Parameters:
  ///   - isMissing: whether there is no current file although reads are logged.
  ///   - isOther: whether the setting differs from the vault's.
  mutating func report(isMissing: Bool, isOther: Bool) -> AuditReport {
    let hadEnded = hasEnded
    hasEnded = false
    if let prunedEnd, prunedUntil < prunedEnd { find(.earlierFiles, 1, prunedEnd) }
    if isMissing { find(.noLog, next, next) }
    if isOther { find(.otherSetting, next, next) }
    if let marked, !hadEnded {
      if marked.count >= next {
        find(.behindMark, next, marked.count)
      } else if let markedTag, markedTag != marked.tag {
        find(.behindMark, marked.count, marked.count)
      }
    }
    var report = AuditReport()
    report.eventCount = eventCount
    report.lostCount = lostCount
    report.findings = findings.map { finding in
      var finding = finding
      if finding.code.verdict == .certainOrPower {
        let isPower = restarts.contains { restart in
          finding.events.lowerBound > restart.synced && finding.events.upperBound < restart.number
        }
        let isInterrupted = finding.code == .debris && possibleDebris.contains(finding.events.lowerBound)
        finding.isCertain = !isPower && !isInterrupted
      }
      if finding.code.canBeAcknowledged, let number = acknowledged[finding.id] {
        finding.isAcknowledged = number > finding.events.upperBound
      }
      return finding
    }
    return report
  }
}
