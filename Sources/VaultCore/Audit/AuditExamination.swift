internal import DurableFiles
internal import VaultSealing

/// Reads a log from its first entry to its last and collects what is wrong with it (`Docs/Format.md` annex F).
struct AuditExamination {
  private(set) var report = AuditReport()
  private let file: Descriptor
  private let size: Int
  private let keys: AuditKeys
  private let sealer: Sealer
  /// The last entry that is in its place.
  private var last: (number: UInt64, tag: Vault.Tag, epoch: UInt32) = (0, .zero, 0)
  /// The number of appends whose entries are behind the last one that the head counts.
  private var appendsBehindHead = 0

  /// The maximum number of places tried that look like an entry but are not, because each costs a hash, and of
  /// problems that are reported, because each takes memory.
  private static let maximumFaults = 10_000

  init(_ file: Descriptor, _ size: Int, _ keys: AuditKeys, _ sealer: Sealer) {
    (self.file, self.size, self.keys, self.sealer) = (file, size, keys, sealer)
  }

  /// - Parameter body: receives each entry that verifies and is in its place, oldest first.
  mutating func run(_ head: AuditHead?, _ body: (AuditEntry) -> Void) throws(VaultError) {
    if size < AuditHead.byteCount {
      return note("the log has no head: its first append was interrupted, or the log was cut off", isCertain: false)
    }
    if head == nil { note("the head does not verify: it was changed, or belongs to a different log") }
    var offset = AuditHead.byteCount
    var faults = 0
    var isBroken = false
    while offset < size {
      guard report.problems.count < Self.maximumFaults else {
        return note("the rest of the log was not examined: too many problems were found")
      }
      if let found = try AuditFrame(file, at: offset, before: size, keys, sealer) {
        if examine(found, isBroken: isBroken, head) { body(found.body.entry) }
        isBroken = false
        offset += found.count
        continue
      }
      isBroken = true
      faults += 1
      guard faults <= Self.maximumFaults else {
        note("the rest of the log was not examined: too much of it is no entry")
        return
      }
      guard let next = try candidate(from: offset + 8) else { break }
      offset = next
    }
    if let head { examineEnd(head, isBroken: isBroken) }
  }

  private mutating func note(_ text: String, isCertain: Bool = true) {
    report.problems.append(AuditProblem(text, isCertain: isCertain))
  }

  /// The next place that looks like the start of an entry.
  private func candidate(from start: Int) throws(VaultError) -> Int? {
    var start = start
    while start + AuditFrame.headCount <= size {
      let image = try FileImage(file, start..<min(start + 65_536, size), limit: Int.max)
      var offset = 0
      while offset + AuditFrame.headCount <= image.count {
        if AuditFrame.isPlausible(image.span, at: offset, before: size - start) { return start + offset }
        offset += 8
      }
      guard offset > 0 else { return nil }  // the file became shorter
      start += offset
    }
    return nil
  }

  /// Compares an entry with those before it.
  ///
  /// - Parameter isBroken: whether bytes that are not an entry are before it.
  /// - Returns: whether the entry is in its place.
  private mutating func examine(_ found: AuditFrame, isBroken: Bool, _ head: AuditHead?) -> Bool {
    let (number, flags) = (found.body.entry.number, found.body.flags)
    guard number > last.number else {
      note("entry \(number) is behind entry \(last.number)")
      return false
    }
    if number > last.number + 1 {
      let missing = Self.entries(last.number + 1, number - 1)
      if flags.contains(.short) {
        noteCut(missing, mayBeRestarted: flags.contains(.restarted))
      } else {
        note("\(missing): \(isBroken ? "changed" : "removed")")
      }
    } else if found.body.previous != last.tag {
      note("entry \(number) was not written behind the entry before it")
    } else if flags.contains(.torn) {
      note("before entry \(number): an append was interrupted, or an entry was changed", isCertain: false)
    } else if isBroken {
      note("before entry \(number) are bytes that are no entry")
    }
    if found.epoch < last.epoch { note("entry \(number) is sealed with an earlier key than the entry before it") }
    if flags.contains(.oldHead) {
      noteOldHead("before entry \(number), the head", mayBeRestarted: flags.contains(.restarted))
    }
    if let head, number > head.count, flags.contains(.first) { appendsBehindHead += 1 }
    report.entryCount += 1
    report.lostCount &+= found.body.entry.lost
    last = (number, found.tag, found.epoch)
    return true
  }

  /// Compares the last entry with the head.
  private mutating func examineEnd(_ head: AuditHead, isBroken: Bool) {
    if last.number < head.count {
      noteCut(Self.entries(last.number + 1, head.count), mayBeRestarted: head.mayBeRestarted)
    } else if last.number == head.count, last.tag != head.tag {
      note("the head is not that of entry \(head.count)")
    } else if isBroken {
      note(
        "behind entry \(last.number): an append was interrupted, or an entry was changed; the log does not show which",
        isCertain: false)
    }
    // One append may be there whose writer was killed before it wrote the head.
    if appendsBehindHead > 1 { noteOldHead("the head", mayBeRestarted: head.mayBeRestarted) }
    if head.epoch < last.epoch { note("the head is sealed with an earlier key than the last entry", isCertain: false) }
  }

  private mutating func noteCut(_ entries: String, mayBeRestarted: Bool) {
    note(
      "\(entries): cut off" + (mayBeRestarted ? ", or lost when the machine stopped" : ""), isCertain: !mayBeRestarted)
  }

  private mutating func noteOldHead(_ head: String, mayBeRestarted: Bool) {
    note(
      "\(head) is of an earlier state than the entries"
        + (mayBeRestarted ? ", or its new state was lost when the machine stopped" : ""), isCertain: !mayBeRestarted)
  }

  private static func entries(_ first: UInt64, _ last: UInt64) -> String {
    first == last ? "entry \(first)" : "entries \(first) to \(last)"
  }
}
