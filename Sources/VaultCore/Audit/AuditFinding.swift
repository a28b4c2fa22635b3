/// Something that a verification of a log found (`Docs/Format.md` F.6).
public struct AuditFinding: Sendable, Hashable, CustomStringConvertible {
  /// The kind of a finding, by its number in the format.
  public enum Code: UInt8, Sendable, Hashable, CaseIterable {
    /// A file of the log is shorter than its header.
    case noHeader = 1
    /// The header is damaged, or that of a different log.
    case badHeader
    /// A later version has written the log.
    case laterVersion
    /// The vault is older than its log.
    case laterKey
    /// The vault does not have the key of these events any more.
    case lostKey
    /// A file between two others is missing.
    case fileMissing
    /// The oldest files are missing, and no event says that they were removed.
    case earlierFiles
    /// The event is behind a later one.
    case outOfOrder
    /// The events were changed, removed or cut off.
    case missing
    /// The event was not written behind the one before it.
    case notChained
    /// Bytes that are no event.
    case debris
    /// An append was interrupted, or the event that was the last one was changed.
    case interrupted
    /// The header was of an earlier state than the events.
    case oldState
    /// A holder of the key wrote a faulty event.
    case malformed
    /// The event is sealed with an earlier key than the one before it.
    case earlierKey
    /// A log began here because the earlier file was missing, too short, or set aside.
    case continued
    /// The log does not begin with *start*.
    case noStart
    /// The header belongs to a different continuation of the log.
    case fork
    /// A file that was handed over does not end with *hand over*.
    case notHandedOver
    /// There is no log, although reads and writes are logged.
    case noLog
    /// The access group has a different policy than the vault.
    case otherSetting
    /// The log is older than the mark.
    case behindMark
    /// Too much is wrong to go on.
    case notExamined
    /// A file of the log cannot be read: see ``AuditFinding/file``.
    case unreadable
    /// Logging is off, and the log does not end with *stop*.
    case noStop
  }

  /// A finding as an event *acknowledge* lists it.
  struct ID: Hashable {
    let code: UInt8
    let first: UInt64
    let last: UInt64

    /// The length, in bytes.
    static let count = 17
    /// The maximum number of findings in one event.
    static let most = 60
  }

  /// The kind of the finding.
  public let code: Code
  /// The numbers of the events that it concerns.
  public let events: ClosedRange<UInt64>
  /// Whether the bytes are certainly not those that the writers left. Otherwise a crash, a power failure, a moved file
  /// or a restored vault may also be the cause.
  public internal(set) var isCertain: Bool
  /// Whether a later event of the log acknowledges exactly this finding.
  public internal(set) var isAcknowledged = false
  /// The path of the file that cannot be read, or which of a delivered log it is; of a handed-over file that states a
  /// later key or version, its path; `nil` for a finding about events.
  public internal(set) var file: String?
  /// Why it cannot be read.
  var reason: String?
  /// Whether other machines have logs of the same group, which explains more.
  var isOfOneMachine = false
  /// Where the last event of the finding stands.
  let place: Place

  /// The place of an event in the order of reading.
  struct Place: Hashable, Comparable {
    /// How often the numbers had begun again.
    let run: Int
    let number: UInt64

    static func < (a: Place, b: Place) -> Bool { (a.run, a.number) < (b.run, b.number) }
  }

  init(_ code: Code, _ events: ClosedRange<UInt64>, run: Int) {
    self.code = code
    self.events = events
    place = Place(run: run, number: events.upperBound)
    isCertain = code.verdict != .possible
  }

  var id: ID { ID(code: code.rawValue, first: events.lowerBound, last: events.upperBound) }

  /// What is wrong, and at which events. Without the names of records. It can contain the path of a file.
  public var description: String {
    let events =
      events.count == 1 ? "event \(events.lowerBound)" : "events \(events.lowerBound) to \(events.upperBound)"
    return "\(events): \(code.words)" + (isOfOneMachine ? code.wordsOfMachines : "")
      + (file.map { ": \($0)" } ?? "") + (reason.map { ": \($0)" } ?? "")
  }
}

extension AuditFinding.Code {
  enum Verdict {
    case certain, possible
    /// Certain, unless the machine may have stopped before the events were on the disk.
    case certainOrPower
  }

  var verdict: Verdict {
    switch self {
    case .noHeader, .badHeader, .outOfOrder, .malformed, .earlierKey, .fork: .certain
    case .missing, .notChained, .debris: .certainOrPower
    case .laterVersion, .laterKey, .lostKey, .fileMissing, .earlierFiles, .interrupted, .oldState, .continued, .noStart,
      .notHandedOver, .noLog, .otherSetting, .behindMark, .notExamined, .unreadable, .noStop:
      .possible
    }
  }

  /// Whether an event can acknowledge it. The others describe the present state, which has to be put right.
  public var canBeAcknowledged: Bool {
    switch self {
    case .laterVersion, .laterKey, .noLog, .otherSetting, .behindMark, .notExamined, .unreadable: false
    default: true
    }
  }

  fileprivate var words: String {
    switch self {
    case .noHeader: "a log file is shorter than its header"
    case .badHeader: "the header is damaged, or that of a different log"
    case .laterVersion: "the log was written by a later version"
    case .laterKey: "the vault is older than its log: a restored backup, or put back"
    case .lostKey: "the vault no longer has the key of these events: after a salvage or a repair"
    case .fileMissing: "a file of the log is missing: moved away or removed"
    case .earlierFiles: "the oldest files are missing, and no event says that they were removed as the settings say"
    case .outOfOrder: "stands behind a later event"
    case .missing: "missing: changed, removed, or cut off"
    case .notChained: "was not written behind the event before it"
    case .debris: "bytes that are no event: an interrupted append, or a changed event"
    case .interrupted: "before it an append was interrupted, or the last event at that time was changed"
    case .oldState:
      "the header was of an earlier state than the events: put back, lost with the power, or a copy of a log in use"
    case .malformed: "a holder of the key wrote a faulty event"
    case .earlierKey: "sealed with an earlier key than the event before it"
    case .continued: "the log began anew here: the file before was missing, too short, or set aside"
    case .noStart: "the log does not begin with its start"
    case .fork: "the header belongs to another continuation of the log"
    case .notHandedOver: "a file ends here that was not handed over: renamed by hand, or cut off"
    case .noLog: "there is no log: it was removed, or the vault was moved without it"
    case .otherSetting: "the access group has a different setting than the vault"
    case .behindMark: "the log is older than the mark"
    case .notExamined: "the rest was not examined: too much is wrong"
    case .unreadable: "a file of the log cannot be read"
    case .noStop: "logging is off, and the log does not say so: put back or cut off, or it could not be written"
    }
  }
}

extension AuditFinding.Code {
  /// What also explains a finding if each machine has a log of its own.
  fileprivate var wordsOfMachines: String {
    switch self {
    case .noLog: "; or nothing was read or written on this machine yet"
    case .continued: "; or this machine began to use the vault"
    case .noStop: "; or another machine switched it off"
    default: ""
    }
  }
}

/// The result of reading a log.
public struct AuditReport: Sendable {
  /// The number of events that verify.
  public internal(set) var eventCount = 0
  /// The number of events that processes could not log.
  public internal(set) var lostCount: UInt64 = 0
  /// What was found; empty if the log is whole. Without a mark, a complete earlier copy of the log is whole.
  public internal(set) var findings: [AuditFinding] = []

  /// The findings that no event acknowledges.
  public var open: [AuditFinding] { findings.filter { !$0.isAcknowledged } }
}
