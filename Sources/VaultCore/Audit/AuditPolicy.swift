/// What happens to a read or write that cannot be logged.
public enum AuditPolicy: Sendable, Hashable, CaseIterable {
  /// It is refused, and nothing is lent or changed.
  case failClosed
  /// It proceeds. The number of events that were lost is written with the next one that can be logged.
  case failOpen

  /// The byte in the file.
  var number: UInt8 { self == .failClosed ? 1 : 2 }

  /// The byte for no logging.
  static let off: UInt8 = 0

  /// `nil` for ``off``. A policy of a later version is treated as fail-closed.
  init?(number: UInt8) {
    guard number != Self.off else { return nil }
    self = number == 2 ? .failOpen : .failClosed
  }
}

/// When a file of a log is handed over to the next one, and how long handed-over files are kept.
public struct AuditLimits: Sendable, Hashable {
  /// The size at which a file is handed over, in KiB: 16 to 524,288, and the nearest of these for a number outside.
  public var fileKibibytes: UInt32
  /// The number of days for which handed-over files are kept; 0 for ever.
  public var keptDays: UInt32

  /// 64 MiB, kept for ever.
  public init(fileKibibytes: UInt32 = 65_536, keptDays: UInt32 = 0) {
    self.fileKibibytes = fileKibibytes
    self.keptDays = keptDays
  }

  /// The size at which a file is handed over, in bytes.
  var fileBytes: Int {
    let stated = fileKibibytes == 0 ? Self().fileKibibytes : fileKibibytes
    return Int(min(max(stated, 16), 524_288)) << 10
  }
}
