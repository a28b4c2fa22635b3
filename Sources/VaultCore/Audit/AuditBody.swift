internal import VaultSealing

/// The body of an event: what is sealed (`Docs/Format.md` F.2).
struct AuditBody {
  /// What the writer found behind the event before this one.
  struct Flags: OptionSet {
    let rawValue: UInt8
    /// The first event of its append.
    static let first = Flags(rawValue: 1)
    /// Bytes that were no event, which this append erased.
    static let interrupted = Flags(rawValue: 2)
    /// Events of more than one append that the header did not count.
    static let oldState = Flags(rawValue: 4)
    /// A file shorter than the header counted.
    static let short = Flags(rawValue: 8)
    /// The machine may have been restarted since the header was written.
    static let restarted = Flags(rawValue: 16)
  }

  /// The tags of the items in the extension of an event.
  enum Tag {
    static let pruned: UInt16 = 1
    static let findings: UInt16 = 2
    static let why: UInt16 = 3
    static let policy: UInt16 = 5
    static let epoch: UInt16 = 6
    static let synced: UInt16 = 7

    /// All of these.
    static let known: Set<UInt16> = [pruned, findings, why, policy, epoch, synced]

    /// Whether an item with a known tag may have this length, in bytes.
    static func isRight(_ count: Int, of tag: UInt16) -> Bool {
      switch tag {
      case pruned: count == 16
      case findings:
        count % AuditFinding.ID.count == 0 && (1...AuditFinding.ID.most).contains(count / AuditFinding.ID.count)
      case epoch: count == 4
      case synced: count == 8
      default: count == 1
      }
    }

    /// The item that an action must have.
    static func required(_ action: AuditEvent.Action) -> UInt16? {
      switch action {
      case .start: policy
      case .rotate: epoch
      case .continued: why
      case .prune: pruned
      case .acknowledge: findings
      default: nil
      }
    }
  }

  static let step = 128
  static let longestProgram = 64

  let previous: Vault.Tag
  let flags: Flags
  let event: AuditEvent
  /// The events in the files that an event *prune* removed.
  private(set) var pruned: ClosedRange<UInt64>?
  /// What an event *acknowledge* lists.
  private(set) var acknowledged: [AuditFinding.ID] = []
  /// The last event that was on the disk when the header that the writer found was written.
  private(set) var synced: UInt64 = 0

  /// Parses a body strictly.
  init(_ body: RawSpan, number: UInt64) throws(VaultError) {
    var reader = ByteReader(body)
    previous = try reader.tag()
    let time = try reader.integer(Int64.self)
    let action = AuditEvent.Action(rawValue: try reader.integer())
    flags = Flags(rawValue: try reader.integer())
    guard action.rawValue > 0, try reader.integer(UInt16.self) == 0 else { throw Self.malformed }
    let (user, process) = (try reader.integer(UInt32.self), try reader.integer(Int32.self))
    let (slot, lost) = (try reader.identifier(), try reader.integer(UInt64.self))
    let program = try reader.lp16()
    guard program.byteCount <= Self.longestProgram, isUTF8(program) else { throw Self.malformed }
    let (service, key) = (try Self.name(&reader), try Self.name(&reader))
    guard !action.isOfRecord || (service != nil && key != nil), !action.isOfLog || (service == nil && key == nil) else {
      throw Self.malformed
    }
    event = AuditEvent(
      number: number, time: time, action: action, service: service, key: key, userID: user, processID: process,
      program: String(decoding: program.copy, as: UTF8.self), slot: slot, lost: lost)
    try take(try reader.lp32(), number)
    try reader.finish()
  }

  private static let malformed = VaultError.malformed("an event of a log")

  private static func name(_ reader: inout ByteReader) throws(VaultError) -> Vault.Name? {
    let bytes = try reader.lp16()
    return bytes.byteCount == 0 ? nil : try Vault.Name(verbatim: bytes.copy)
  }

  private mutating func take(_ field: RawSpan, _ number: UInt64) throws(VaultError) {
    var found: Set<UInt16> = []
    var items = Extension.Items(field)
    while let item = try items.next() {
      guard Tag.known.contains(item.tag) else { continue }
      guard Tag.isRight(item.data.byteCount, of: item.tag), found.insert(item.tag).inserted else {
        throw Self.malformed
      }
      var reader = ByteReader(item.data)
      switch item.tag {
      case Tag.pruned:
        let (first, last) = (try reader.integer(UInt64.self), try reader.integer(UInt64.self))
        guard first >= 1, first <= last, last < number else { throw Self.malformed }
        pruned = first...last
      case Tag.findings:
        while reader.remaining > 0 {
          let code = try reader.integer(UInt8.self)
          let (first, last) = (try reader.integer(UInt64.self), try reader.integer(UInt64.self))
          acknowledged.append(AuditFinding.ID(code: code, first: first, last: last))
        }
      case Tag.synced: synced = try reader.integer()
      default: break
      }
    }
    if let required = Tag.required(event.action), !found.contains(required) { throw Self.malformed }
  }
}
