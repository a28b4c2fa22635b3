/// The verification of annex F.6, written from its text.
struct LogVerification {
  /// What a reader knows besides the files.
  struct Knowledge {
    let place: LogPlace
    /// That of the group, after changes 3.
    let policy: UInt8
    /// Whether the section has a log item.
    let hasItem: Bool
    /// That of the manifest's default; `nil` for holders.
    var defaultPolicy: UInt8?
    var mark: (number: UInt64, tag: Bytes)?
    /// Of the present boot, as states have it.
    var boot: Bytes?
  }

  private let knowledge: Knowledge
  private(set) var findings: [LogFinding] = []
  /// The events that were taken, in order.
  private(set) var events: [(number: UInt64, epoch: UInt32, tag: Bytes, event: LogEvent?, run: Int)] = []

  private var next: UInt64 = 1
  private var tag = Bytes.zeros(32)
  private var epoch: UInt32 = 0
  private var isKnown = false
  private var pruned: UInt64?
  /// The number of the first event behind each restart, and up to which number all was on the disk then.
  private var restarts: [(number: UInt64, synced: UInt64)] = []
  /// Those of the last run.
  private var tags: [UInt64: Bytes] = [:]
  private var isUnknown = false
  /// How often the numbers began again, and what it was for each finding.
  private var run = 0
  private var runs: [Int] = []
  /// Whether a file of the last run counts the mark's event.
  private var isMarkCounted = false
  /// Where the findings are of files that state a later key or version, and where these files begin.
  private var claims: [(finding: Int, start: UInt64)] = []

  init(handedOver: [Bytes], current: Bytes?, _ knowledge: Knowledge) {
    self.knowledge = knowledge
    var earlier = handedOver
    if let current, let last = earlier.last, isState(last, of: current) { earlier.removeLast() }
    for (index, file) in earlier.enumerated() { read(file, isFirst: index == 0, isCurrent: false) }
    if let current { read(current, isFirst: earlier.isEmpty, isCurrent: true) }
    judge(hasCurrent: current != nil)
  }

  /// Whether one file is another in the same or an earlier state.
  private func isState(_ earlier: Bytes, of current: Bytes) -> Bool {
    if earlier == current { return true }
    let place = knowledge.place
    guard case .success(let old) = LogHeader.read(earlier, place),
      case .success(let new) = LogHeader.read(current, place),
      old.file == new.file, old.count <= new.count, min(earlier.count, current.count) >= Int(old.end)
    else { return false }
    return earlier[LogHeader.count..<Int(old.end)] == current[LogHeader.count..<Int(old.end)]
  }

  private mutating func found(
    _ code: LogFinding.Code, _ first: UInt64, _ last: UInt64? = nil, certain: Bool? = nil, run: Int? = nil
  ) {
    findings.append(LogFinding(code, first, last, certain: certain))
    runs.append(run ?? self.run)
  }

  private mutating func foundLost(_ last: UInt64) {
    if let index = findings.indices.last, findings[index].code == .lostKey, findings[index].last == next - 1 {
      findings[index].last = last
    } else {
      found(.lostKey, next, last)
    }
  }

  // MARK: A file

  private mutating func read(_ file: Bytes, isFirst: Bool, isCurrent: Bool) {
    var header: LogHeader?
    var stated: UInt32?
    let start = next
    switch LogHeader.read(file, knowledge.place) {
    case .success(let found):
      header = found
      begin(found, isFirst: isFirst)
    case .failure(.laterKey(let epoch)): stated = epoch
    case .failure(.laterVersion): return claim(.laterVersion, next, start, isCurrent: isCurrent)
    case .failure(let refused):
      found(refused.code, next)
      if refused.code == .lostKey { isKnown = false }
    }
    var walk = walk(file, header, stated)
    if let stated {
      let isLater = walk.later.map { $0.epoch == stated } ?? !walk.hasKnown
      guard !isLater else { return claim(.laterKey, walk.later?.first ?? next, start, isCurrent: isCurrent) }
      found(.badHeader, start)
    }
    if walk.later != nil { walk.hasGap = true }
    end(header, walk, isCurrent: isCurrent)
  }

  /// A file that states a later key or version. Only the current one hides what comes behind.
  private mutating func claim(_ code: LogFinding.Code, _ number: UInt64, _ start: UInt64, isCurrent: Bool) {
    claims.append((findings.count, start))
    found(code, number)
    isUnknown = isUnknown || isCurrent
  }

  private mutating func begin(_ header: LogHeader, isFirst: Bool) {
    if isFirst {
      if header.first > 1 { pruned = header.first - 1 }
    } else if header.first != next || header.before != tag {
      found(.fileMissing, next, max(next, header.first - 1))
      if header.first < next { (run, tags, isMarkCounted) = (run + 1, [:], false) }
    } else if next > 1 || header.file == 1 {
      for claim in claims { findings[claim.finding] = LogFinding(.badHeader, claim.start) }
    }
    claims = []
    if let mark = knowledge.mark, header.first <= mark.number, mark.number <= header.count { isMarkCounted = true }
    (next, tag, isKnown) = (header.first, header.before, true)
  }

  /// What a file's events leave for its end.
  private struct Walk {
    var hasGap = false
    var appends = 0
    /// Whether an event, or a frame of a lost key, was met.
    var hasKnown = false
    /// The frames of later epochs behind the last of those: the first one's number, and the last one's epoch.
    var later: (first: UInt64, epoch: UInt32)?
    /// What was taken last.
    var last = Last.nothing

    enum Last { case nothing, event, handOver, closed }
  }

  private mutating func walk(_ file: Bytes, _ header: LogHeader?, _ stated: UInt32?) -> Walk {
    var walk = Walk()
    var position = LogHeader.count
    while position < file.count {
      guard let part = acceptable(file, position, stated) else {
        if file[position...].allSatisfy({ $0 == 0 }) { break }
        walk.hasGap = true
        repeat {
          position += 8
        } while position < file.count && acceptable(file, position, stated) == nil
        continue
      }
      switch part {
      case .event(let frame, let event):
        position += frame.count
        if walk.later != nil { walk.hasGap = true }
        walk.later = nil
        walk.hasKnown = true
        guard frame.number >= next else {
          found(.outOfOrder, frame.number)
          continue
        }
        take(frame, event, end: position, header, &walk)
      case .closed(let frame) where frame.epoch > knowledge.place.epoch:
        position += frame.count
        walk.later = (walk.later?.first ?? frame.number, frame.epoch)
      case .closed(let frame):
        position += frame.count
        walk.later = nil
        walk.hasKnown = true
        foundLost(frame.number)
        tags[frame.number] = frame.tag
        (next, tag, isKnown) = (frame.number + 1, frame.tag, true)
        (walk.hasGap, walk.last) = (false, .closed)
      }
    }
    return walk
  }

  /// What stands at a place: closed frames only where a log can have them.
  private func acceptable(_ file: Bytes, _ position: Int, _ stated: UInt32?) -> LogPart? {
    let part = LogPart(file, at: position, knowledge.place)
    guard case .closed(let frame) = part else { return part }
    let isLater = frame.epoch > knowledge.place.epoch && frame.epoch <= stated ?? 0
    let isLost = frame.number >= next && frame.epoch >= epoch && frame.epoch <= knowledge.place.epoch
    return isLater || isLost ? part : nil
  }

  // MARK: An event

  private mutating func take(
    _ frame: LogFrame, _ event: LogEvent?, end: Int, _ header: LogHeader?, _ walk: inout Walk
  ) {
    let number = frame.number
    if number > next {
      skip(to: number)
    } else if isKnown, let event, event.previous != tag {
      found(.notChained, number)
    } else if walk.hasGap {
      found(.debris, number)
    }
    if let event { judge(event, number) } else { found(.malformed, number) }
    if frame.epoch < epoch { found(.earlierKey, number) }
    if let header, header.count == number, header.last != frame.tag || header.end != UInt64(end) {
      found(.fork, number)
    }
    if let header, let event, number > header.count, event.flags & 1 != 0 { walk.appends += 1 }
    walk.last = event?.action == LogEvent.Action.handOver ? .handOver : .event
    walk.hasGap = false
    events.append((number, frame.epoch, frame.tag, event, run))
    tags[number] = frame.tag
    (next, tag, epoch, isKnown) = (number + 1, frame.tag, frame.epoch, true)
  }

  private mutating func skip(to number: UInt64) {
    if isKnown {
      found(.missing, next, number - 1)
    } else if next == 1 {
      pruned = number - 1
    } else {
      foundLost(number - 1)
    }
  }

  private mutating func judge(_ event: LogEvent, _ number: UInt64) {
    if event.flags & 2 != 0 { found(.interrupted, number) }
    if event.flags & 4 != 0 { found(.oldState, number) }
    if event.flags & 16 != 0 { restarts.append((number, event.item(7)?.word(0) ?? 0)) }
    if event.action == LogEvent.Action.proceed { found(.continued, number) }
    if number == 1, ![LogEvent.Action.start, LogEvent.Action.proceed].contains(event.action) { found(.noStart, 1) }
  }

  // MARK: Ends

  private mutating func end(_ header: LogHeader?, _ walk: Walk, isCurrent: Bool) {
    if let header, header.count >= next {
      found(.missing, next, header.count)
      (next, tag, isKnown) = (header.count + 1, header.last, true)
    } else if walk.hasGap {
      found(.debris, next, certain: walk.last == .handOver)
    }
    guard let header else { return }
    if walk.appends > 1 { found(.oldState, next) }
    if !isCurrent, walk.last == .nothing || walk.last == .event { found(.notHandedOver, max(1, next - 1)) }
    if isCurrent, header.boot == .zeros(32) || header.boot != knowledge.boot {
      restarts.append((.max, header.synced))
    }
  }

  private mutating func judge(hasCurrent: Bool) {
    let prunes = events.compactMap { $0.event?.action == LogEvent.Action.prune ? $0.event?.range : nil }
    if let pruned, !prunes.contains(where: { $0.last >= pruned }) { found(.earlierFiles, 1, pruned, run: 0) }
    let policy = LogItem.effective(knowledge.policy)
    if knowledge.hasItem, !hasCurrent { found(.noLog, next) }
    let switches = events.filter { [LogEvent.Action.start, LogEvent.Action.stop].contains($0.event?.action) }
    if policy == 0, hasCurrent, !isUnknown, switches.last?.event?.action != LogEvent.Action.stop {
      let start = switches.last
      found(.noStop, start?.number ?? 1, run: start?.run ?? 0)
    }
    if let other = knowledge.defaultPolicy, LogItem.effective(other) != policy { found(.otherSetting, next) }
    if let mark = knowledge.mark, !isUnknown {
      if mark.number >= next {
        found(.behindMark, next, mark.number)
      } else if tags[mark.number].map({ $0 != mark.tag }) ?? isMarkCounted {
        found(.behindMark, mark.number)
      }
    }
    for index in findings.indices {
      let (finding, place) = (findings[index], runs[index])
      if finding.code.isExplainedByPower, !isOfMark(finding, in: place),
        restarts.contains(where: { finding.first > $0.synced && finding.last < $0.number })
      {
        findings[index].isCertain = false
      }
      findings[index].isAcknowledged =
        finding.code.canBeAcknowledged
        && events.contains { event in
          guard event.run > place || event.run == place && event.number > finding.last else { return false }
          return event.event?.action == LogEvent.Action.acknowledge
            && event.event?.acknowledged.contains { $0 == (finding.code.rawValue, finding.first, finding.last) } == true
        }
    }
    findings.sort(by: LogFinding.precedes)
  }

  /// Whether the event that the mark names is among those that are missing.
  private func isOfMark(_ finding: LogFinding, in place: Int) -> Bool {
    guard finding.code == .missing, place == run, let number = knowledge.mark?.number else { return false }
    return finding.first <= number && number <= finding.last
  }
}
