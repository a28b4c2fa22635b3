public import VaultSealing

/// Keeps copies of the logs of all machines, at a place that each of them reaches (`Docs/Format.md` annex D).
///
/// A machine delivers what it has logged from time to time, in pieces of its log's files: the events, and the first 256
/// bytes of the file, which count them. A collection sees sealed bytes only, and **nothing that it returns is
/// trusted**: what was changed, left out or reordered before the newest piece is found. It can keep back the newest
/// pieces.
///
/// The methods may block and may be called by several threads at a time. No read and no write of a record calls one.
public protocol AuditLogCollection: Sendable {
  /// How often an open vault delivers what was logged; `nil` if only ``Vault/deliverAuditLogs()`` does.
  var interval: Duration? { get }

  /// What was delivered of all logs of an access group, in any order. An empty list if nothing was.
  /// - Throws: ``VaultError/Code/unreachable``, and other codes of the collection.
  func files(of group: Vault.Identifier) throws(VaultError) -> [CollectedAuditFile]

  /// What was delivered of the newest file of a log: the one with the highest number. `nil` if nothing was.
  ///
  /// - Parameter log: as in ``CollectedAuditFile/log``.
  /// - Throws: as ``files(of:)``.
  func newestFile(of log: String) throws(VaultError) -> CollectedAuditFile?

  /// The first 256 bytes of a file as they were when its ``CollectedAuditFile/end`` was reached, and the bytes behind
  /// them up to there. Empty if there is no such file.
  /// - Throws: ``VaultError/Code/limitExceeded`` if there is more than a log file can have, which is 1 GiB: checked
  ///   before memory is allocated. A verification reports the file, and goes on. Otherwise as ``files(of:)``.
  func bytes(of file: CollectedAuditFile) throws(VaultError) -> [UInt8]

  /// Adds bytes behind the ``CollectedAuditFile/end`` of a file, durably, and all or none of them.
  ///
  /// - Parameters:
  ///   - header: the first 256 bytes, which count the events of these bytes.
  ///   - file: what the collection has of the file; with an end of 256 if it has nothing.
  /// - Throws: ``VaultError/Code/conflict`` if it has other bytes there, and ``VaultError/Code/readOnly``, with nothing
  ///   added; ``VaultError/Code/unreachable`` if it is unknown whether they were added.
  func add(_ bytes: [UInt8], header: [UInt8], to file: CollectedAuditFile) throws(VaultError)
}

/// What an ``AuditLogCollection`` has of one file of a log.
public struct CollectedAuditFile: Sendable, Hashable {
  /// The name of the log: the id of the access group, a slash, and a random id of the log on its machine, both in
  /// hexadecimal digits.
  public let log: String
  /// The number of the file in its log, from 1.
  public let number: UInt64
  /// The offset in the file behind what was delivered; 256 if nothing was.
  public let end: Int
  /// The last 32 bytes before ``end``.
  public let tail: [UInt8]
  /// When the last of it was delivered, by the clock of the collection, in milliseconds since 1970-01-01 UTC.
  /// Zero if it is unknown.
  public let delivered: Int64

  /// Describes a file, for a collection to return. `end` is 256 and `tail` empty if nothing was delivered.
  public init(log: String, number: UInt64, end: Int, tail: [UInt8] = [], delivered: Int64 = 0) {
    self.log = log
    self.number = number
    self.end = end
    self.tail = tail
    self.delivered = delivered
  }

  /// The random id of the log on its machine.
  public var machine: String { String(log.drop { $0 != "/" }.dropFirst()) }

  /// The number of bytes in ``tail``.
  static let tailCount = 32
}
