import Foundation
import Testing
import VaultSealing

@testable import VaultCore

/// A vault whose reads and writes are logged, with a holder for each of its groups.
enum AuditedVault {
  static func with<R>(
    _ policy: AuditPolicy = .failClosed, limits: AuditLimits? = nil, groups: [String] = ["default", "one"],
    _ body: (SharedVault) throws -> R
  ) throws -> R {
    try SharedVault.with(groups: groups) { shared in
      let change = try shared.owner.setAuditing(policy, limits: limits)
      #expect(change.setAside == [] && change.isComplete)
      return try body(shared)
    }
  }
}

extension SharedVault {
  /// The path of the current file of a group's log.
  func log(of group: String = "default") throws -> String { path + ".audit-\(try owner.group(named: group).id)" }

  /// The path of a file that was handed over.
  func log(_ number: Int, of group: String = "default") throws -> String {
    try log(of: group) + "." + String(repeating: "0", count: 6 - "\(number)".count) + "\(number)"
  }

  func logBytes(of group: String = "default") throws -> LogBytes { try LogBytes(FileBytes.read(log(of: group))) }

  func write(_ log: LogBytes, of group: String = "default") throws {
    try FileBytes.write(log.file, to: self.log(of: group))
  }

  /// What is found in a group's log.
  func findings(of group: String = "default") throws -> [AuditFinding] {
    try owner.readAuditLog(of: owner.group(named: group)).findings
  }

  /// The findings in short: `missing 3-4 certain`.
  func found(of group: String = "default") throws -> [String] { try findings(of: group).map(\.short) }

  /// Reads db/password so many times.
  func read(_ count: Int, by vault: Vault? = nil) throws {
    for _ in 0..<count { #expect(try (vault ?? owner).text("password") == "s3cret") }
  }

  /// The keys of a group's log.
  func keys(of group: String = "default") throws -> AuditKeys {
    try AuditKeys(loaded.content(owner.group(named: group).id), Sealer())
  }
}

extension AuditFinding {
  var short: String {
    let range = events.count == 1 ? "\(events.lowerBound)" : "\(events.lowerBound)-\(events.upperBound)"
    return "\(code) \(range)" + (isAcknowledged ? " acknowledged" : isCertain ? " certain" : " possible")
  }
}

extension Vault {
  /// The events of a log in which nothing is found.
  func auditEvents(of group: String = "default") throws -> [AuditEvent] {
    var events: [AuditEvent] = []
    let report = try readAuditLog(of: self.group(named: group)) { events.append($0) }
    #expect(report.findings.map(\.short) == [])
    #expect(report.eventCount == events.count)
    #expect(events.map(\.number) == (0..<events.count).map { UInt64($0) + 1 })
    return events
  }

  /// Their actions and keys: `read password`.
  func auditedActions(of group: String = "default") throws -> [String] {
    try auditEvents(of: group).map { "\($0.action)" + ($0.key.map { " " + $0.text } ?? "") }
  }
}

/// The parts of a file of a log, to be changed and put together again.
struct LogBytes {
  var header: [UInt8]
  var events: [[UInt8]] = []
  var reserve: [UInt8]

  init(_ file: [UInt8]) throws {
    header = Array(file[..<AuditHeader.byteCount])
    var rest = file[AuditHeader.byteCount...]
    while rest.count >= 4 {
      let bytes = Array(rest.prefix(4096))
      let count = Int(bytes.span.bytes.integer(at: 0, UInt32.self))
      guard AuditFrame.counts.contains(count), count <= rest.count else { break }
      events.append(Array(bytes.prefix(count)))
      rest = rest.dropFirst(count)
    }
    reserve = Array(rest)
  }

  var file: [UInt8] { header + events.joined() + reserve }

  /// Opens the header, changes it and seals it again.
  mutating func reseal(_ keys: AuditKeys, _ change: (inout AuditHeader) -> Void) throws {
    let sealer = try Sealer()
    var opened = try AuditHeader.open(header.span.bytes, keys, sealer).get()
    change(&opened)
    header = opened.bytes(keys, try keys.presentKey(sealer), sealer)
  }
}
