/// What a verification found: a code and a range of event numbers (annex F.6).
struct LogFinding: Equatable {
  enum Code: UInt8, CaseIterable {
    case noHeader = 1
    case badHeader, laterVersion, laterKey, lostKey, fileMissing, earlierFiles, outOfOrder, missing, notChained, debris
    case interrupted, oldState, malformed, earlierKey, continued, noStart, fork, notHandedOver, noLog, otherSetting
    case behindMark, notExamined, unreadable, noStop

    /// What a crash cannot have left.
    var isCertain: Bool {
      switch self {
      case .noHeader, .badHeader, .outOfOrder, .missing, .notChained, .debris, .malformed, .earlierKey, .fork: true
      default: false
      }
    }

    /// What the loss of power can have left, too.
    var isExplainedByPower: Bool { [.missing, .notChained, .debris].contains(self) }

    var canBeAcknowledged: Bool {
      ![.laterVersion, .laterKey, .noLog, .otherSetting, .behindMark, .notExamined, .unreadable].contains(self)
    }
  }

  /// What a file has in place of a header.
  enum Refused: Error {
    case noHeader, badHeader, laterVersion, lostKey
    /// The header states this epoch.
    case laterKey(UInt32)

    var code: Code {
      switch self {
      case .noHeader: .noHeader
      case .badHeader: .badHeader
      case .laterVersion: .laterVersion
      case .laterKey: .laterKey
      case .lostKey: .lostKey
      }
    }
  }

  let code: Code
  let first: UInt64
  var last: UInt64
  var isCertain: Bool
  var isAcknowledged = false

  init(_ code: Code, _ first: UInt64, _ last: UInt64? = nil, certain: Bool? = nil, acknowledged: Bool = false) {
    (self.code, self.first, self.last) = (code, first, last ?? first)
    isCertain = certain ?? code.isCertain
    isAcknowledged = acknowledged
  }

  var json: JSON {
    .object([
      ("code", .text("\(code)")), ("first", .number(first)), ("last", .number(last)),
      ("verdict", .text(isCertain ? "certain" : "possible")), ("acknowledged", .bool(isAcknowledged)),
    ])
  }

  /// The order in which manifests list findings.
  static func precedes(_ a: LogFinding, _ b: LogFinding) -> Bool {
    (a.code.rawValue, a.first, a.last, a.isCertain ? 0 : 1) < (b.code.rawValue, b.first, b.last, b.isCertain ? 0 : 1)
  }

  /// The class that a verification with these findings ends with; `nil` if all is well.
  static func exit(_ findings: [LogFinding]) -> String? {
    let open = findings.filter { !$0.isAcknowledged }
    if findings.contains(where: { $0.code == .behindMark }) { return "rolledBack" }
    if open.contains(where: \.isCertain) { return "tampered" }
    return open.isEmpty ? nil : "problems"
  }
}
