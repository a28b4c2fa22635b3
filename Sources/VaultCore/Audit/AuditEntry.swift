internal import VaultSealing

/// What happens to a read or write that cannot be logged.
public enum AuditPolicy: Sendable, Hashable, CaseIterable {
  /// It is refused, and nothing is lent or changed.
  case failClosed
  /// It proceeds. The number of events that were lost is written with the next one that can be logged.
  case failOpen

  /// The byte in the file; 0 for a vault that logs nothing.
  var number: UInt8 { self == .failClosed ? 1 : 2 }

  init?(number: UInt8) {
    guard let policy = Self.allCases.first(where: { $0.number == number }) else { return nil }
    self = policy
  }
}

/// A read or write of a record, as it was logged before it was made (`Docs/Format.md` annex F).
public struct AuditEntry: Sendable {
  /// The kind of action that is logged.
  public enum Action: UInt8, Sendable, Hashable, CaseIterable {
    /// The value, or an earlier value, was lent.
    case read = 1
    /// A value was set.
    case write
    /// The metadata was changed.
    case edit
    /// An earlier value was made the current one.
    case restore
    /// The record was copied; the next entry names the copy.
    case copy
    /// The record was removed.
    case remove
    /// Logging was switched on, or its policy was set.
    case start
    /// Logging was switched off.
    case stop
    /// The access group got a new key.
    case rotate
  }

  /// The position in the log, from 1.
  public let number: UInt64
  /// Milliseconds since 1970-01-01 UTC.
  public let time: Int64
  /// The requested action. It may have failed afterwards.
  public let action: Action
  /// The service of the record; `nil` for an action of the whole access group.
  public let service: Vault.Name?
  /// The key of the record; `nil` for an action of the whole access group.
  public let key: Vault.Name?
  /// The real user id of the process.
  public let userID: UInt32
  /// The id of the process.
  public let processID: Int32
  /// The file name of the process's program; empty if the system does not provide it.
  public let program: String
  /// The slot with which the process opened the vault.
  public let slot: Vault.Identifier
  /// How many events the process could not log before this one.
  public let lost: UInt64
}

/// A fault of a log.
public struct AuditProblem: Sendable, CustomStringConvertible {
  /// Whether the log was changed without its key, or is damaged. Otherwise a crash or a power failure may also have
  /// caused the fault.
  public let isCertain: Bool
  /// What is wrong, and at which entries. Without the names of records.
  public let description: String

  init(_ description: String, isCertain: Bool = true) {
    (self.description, self.isCertain) = (description, isCertain)
  }
}

/// The result of reading a log.
public struct AuditReport: Sendable {
  /// The number of entries that verify.
  public internal(set) var entryCount = 0
  /// The number of events that processes could not log.
  public internal(set) var lostCount: UInt64 = 0
  /// What is wrong with the log; empty if it is whole. A complete earlier copy of the log is whole.
  public internal(set) var problems: [AuditProblem] = []
}

/// The body of an entry: what is sealed.
struct AuditBody {
  /// What the writer found behind the entry before this one.
  struct Flags: OptionSet {
    let rawValue: UInt8
    /// The first entry of its append.
    static let first = Flags(rawValue: 1)
    /// Bytes that were not an entry, which this append replaced.
    static let torn = Flags(rawValue: 2)
    /// Entries of more than one append that the head did not count.
    static let oldHead = Flags(rawValue: 4)
    /// A file shorter than the head counted.
    static let short = Flags(rawValue: 8)
    /// The machine may have been restarted since the head was written: a power failure may explain ``oldHead`` and
    /// ``short``.
    static let restarted = Flags(rawValue: 16)
  }

  static let step = 128

  let previous: Vault.Tag
  let flags: Flags
  let entry: AuditEntry

  /// Parses a body strictly.
  init(_ body: RawSpan, number: UInt64) throws(VaultError) {
    var reader = ByteReader(body)
    previous = try reader.tag()
    let time = try reader.integer(Int64.self)
    guard let action = AuditEntry.Action(rawValue: try reader.integer()) else { throw .malformed("an audit entry") }
    flags = Flags(rawValue: try reader.integer())
    guard try reader.integer(UInt16.self) == 0 else { throw .malformed("an audit entry") }
    let (user, process) = (try reader.integer(UInt32.self), try reader.integer(Int32.self))
    let (slot, lost) = (try reader.identifier(), try reader.integer(UInt64.self))
    let program = String(decoding: try reader.lp16().copy, as: UTF8.self)
    let (service, key) = (try Self.name(&reader), try Self.name(&reader))
    try Extension.check(try reader.lp32())
    try reader.finish()
    entry = AuditEntry(
      number: number, time: time, action: action, service: service, key: key, userID: user, processID: process,
      program: program, slot: slot, lost: lost)
  }

  private static func name(_ reader: inout ByteReader) throws(VaultError) -> Vault.Name? {
    let bytes = try reader.lp16()
    return bytes.byteCount == 0 ? nil : try Vault.Name(verbatim: bytes.copy)
  }
}
