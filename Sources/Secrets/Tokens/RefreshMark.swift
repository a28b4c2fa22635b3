internal import DurableFiles
internal import FoundationEssentials
internal import VaultCore

/// The lease of the process that refreshes a token, or the pause after the last refresh.
///
/// In a vault, it is an attribute of the token's record. Attributes are metadata: they are changed by compare-and-set
/// of the record, and neither writing nor reading one opens the tokens. 25 bytes, little-endian: phase u8 ‖ id u64 ‖
/// since i64 ‖ length i64 (times in milliseconds).
struct RefreshMark: Sendable {
  enum Phase: UInt8 {
    case underWay = 1
    case rejected, timedOut, failed
    /// The refresh has succeeded, and its tokens are due at once.
    case succeeded
  }

  static let attribute = "secretpreferences.refresh"

  let phase: Phase
  /// Identifies one lease. The pause after it keeps the id.
  let id: UInt64
  /// When the lease or the pause began, in milliseconds since 1970-01-01 UTC, by the clock of its machine. Pauses
  /// are counted from it; leases are not, ``LeaseWatch`` measures them.
  let since: Int64
  /// The length of the lease or of the pause.
  let length: Duration

  /// A lease of a new refresh. It has whole milliseconds, for its holder as for those who read it.
  init(leaseFor length: Duration, at now: Int64) {
    self.init(.underWay, .random(in: 0 ... .max), since: now, .milliseconds(length.milliseconds))
  }

  /// The pause after a refresh that has this lease and whose tokens are due before the pause is over.
  func succeeded(pause: Duration, at now: Int64) -> RefreshMark { RefreshMark(.succeeded, id, since: now, pause) }

  /// The failure of the refresh that has this lease, and the pause after it.
  func failed(_ code: RefreshFailure.Code, pause: Duration, at now: Int64) -> RefreshMark {
    let phase: Phase =
      switch code {
      case .rejected: .rejected
      case .timedOut: .timedOut
      default: .failed
      }
    return RefreshMark(phase, id, since: now, pause)
  }

  private init(_ phase: Phase, _ id: UInt64, since: Int64, _ length: Duration) {
    self.phase = phase
    self.id = id
    self.since = since
    self.length = length
  }

  init?(in info: RecordInfo) {
    guard let attribute = info.attributes.first(where: { $0.name.text == Self.attribute }) else { return nil }
    self.init(attribute.data)
  }

  /// The mark of ``text``.
  init?(text: UnsafeRawBufferPointer) {
    guard let data = [UInt8](hexadecimal: Substring(decoding: text, as: UTF8.self)) else { return nil }
    self.init(data)
  }

  private init?(_ data: [UInt8]) {
    guard data.count == 25, let phase = Phase(rawValue: data[0]) else { return nil }
    func word(_ offset: Int) -> UInt64 { data[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(phase, word(1), since: Int64(bitPattern: word(9)), .milliseconds(Int64(bitPattern: word(17))))
  }

  private var data: [UInt8] {
    let words = [id, UInt64(bitPattern: since), UInt64(bitPattern: length.milliseconds)]
    return [phase.rawValue] + words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
  }

  /// The 25 bytes in hexadecimal digits, for a store without attributes.
  var text: String { data.hexadecimal }

  /// A change of a record's attributes that sets `mark`, or removes the present one. Other attributes are kept, and a
  /// value that is replaced is not, whatever the record's history depth.
  static func edit(_ info: RecordInfo?, to mark: RefreshMark?) throws(VaultError) -> RecordEdit {
    var attributes = (info?.attributes ?? []).filter { $0.name.text != attribute }
    if let mark { attributes.append(try RecordEdit.Attribute(attribute, mark.data)) }
    var edit = RecordEdit()
    edit.attributes = .set(attributes)
    edit.keepsReplacedValue = false
    return edit
  }

  /// Whether the pause lasts. A clock that was set back to before its beginning ends it. Not for leases, because the
  /// clocks of two processes may differ.
  func isPause(at now: Int64) -> Bool {
    phase != .underWay && now >= since && .milliseconds(now) - .milliseconds(since) < length
  }

  /// The failure; `nil` for a lease, and after a success.
  var failure: RefreshFailure? {
    switch phase {
    case .underWay, .succeeded: nil
    case .rejected: RefreshFailure(.rejected)
    case .timedOut: RefreshFailure(.timedOut)
    case .failed: RefreshFailure(.failed)
    }
  }
}

extension Duration {
  /// Whole milliseconds, limited to the integers that a `Double` represents exactly.
  var milliseconds: Int64 { Int64(limiting: self / .milliseconds(1)) }
}
