import Foundation
import Testing
import VaultSealing

@testable import VaultCore

/// A vault whose reads and writes are logged, with a holder for each of its groups.
enum AuditedVault {
  static func with<R>(
    _ policy: AuditPolicy = .failClosed, groups: [String] = ["default", "one"], _ body: (SharedVault) throws -> R
  ) throws -> R {
    try SharedVault.with(groups: groups) { shared in
      #expect(try shared.owner.setAuditing(policy) == [])
      return try body(shared)
    }
  }
}

extension SharedVault {
  /// The path of a group's log.
  func log(of group: String = "default") throws -> String { path + ".audit-\(try owner.group(named: group).id)" }

  func logBytes(of group: String = "default") throws -> LogBytes { try LogBytes(FileBytes.read(log(of: group))) }

  func write(_ log: LogBytes, of group: String = "default") throws {
    try FileBytes.write(log.file, to: self.log(of: group))
  }

  /// What is wrong with a group's log.
  func problems(of group: String = "default") throws -> [AuditProblem] {
    try owner.readAuditLog(of: owner.group(named: group)).problems
  }

  /// Reads db/password so many times.
  func read(_ count: Int, by vault: Vault? = nil) throws {
    for _ in 0..<count { #expect(try (vault ?? owner).text("password") == "s3cret") }
  }
}

extension Vault {
  /// The entries of a log that is whole.
  func auditEntries(of group: String = "default") throws -> [AuditEntry] {
    var entries: [AuditEntry] = []
    let report = try readAuditLog(of: self.group(named: group)) { entries.append($0) }
    #expect(report.problems.map(\.description) == [])
    #expect(report.entryCount == entries.count)
    #expect(entries.map(\.number) == (0..<entries.count).map { UInt64($0) + 1 })
    return entries
  }

  /// Their actions and keys: `read password`.
  func auditedActions(of group: String = "default") throws -> [String] {
    try auditEntries(of: group).map { "\($0.action)" + ($0.key.map { " " + $0.text } ?? "") }
  }
}

/// The parts of a log, to be changed and put together again.
struct LogBytes {
  var head: [UInt8]
  var entries: [[UInt8]] = []

  init(_ file: [UInt8]) throws {
    head = Array(file[..<AuditHead.byteCount])
    var rest = file[AuditHead.byteCount...]
    while !rest.isEmpty {
      let bytes = Array(rest)
      let count = Int(bytes.span.bytes.integer(at: 0, UInt32.self))
      try #require(AuditFrame.counts.contains(count))
      entries.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
  }

  var file: [UInt8] { head + entries.joined() }
}
