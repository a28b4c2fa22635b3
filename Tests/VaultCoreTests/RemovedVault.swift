import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// A vault whose writes keep what a person may want back, with a clock that a test sets.
struct RemovedVault {
  /// Milliseconds since 1970-01-01 UTC.
  final class Time: Sendable {
    private let now = Mutex<Int64>(1_700_000_000_000)
    var value: Int64 { now.withLock(\.self) }
    func advance(days: Int64) { now.withLock { $0 += days * 86_400_000 } }
  }

  let vault: Vault
  let path: String
  let time: Time
  let service: Vault.Name

  var group: AccessGroup { get throws { try vault.group() } }

  static func with(
    keeping: Vault.Keeping = .forPeople, reserve: Int = 64, _ body: (RemovedVault) throws -> Void
  ) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let time = Time()
      var options = try Vault.Options.device(reserve: reserve)
      options.keeping = keeping
      options.now = { time.value }
      try body(
        RemovedVault(
          vault: Vault.sample(at: path, options: options), path: path, time: time, service: Vault.Name("db")))
    }
  }

  func update(_ body: (inout Vault.Transaction) throws(VaultError) -> Void) throws {
    try vault.transaction(service: service, in: group, body)
  }

  func record(_ key: String = "password") throws -> RecordInfo? {
    try vault.record(service: service, key: key, in: group)
  }

  func removed(_ key: String = "password") throws -> RemovedRecord? {
    try vault.removedRecord(service: service, key: key, in: group)
  }

  /// The keys of all removed records that are kept.
  func removedKeys(in handle: Vault? = nil) throws -> [String] {
    try (handle ?? vault).removedRecords(in: group).map(\.key.text)
  }

  func restore(_ key: String = "password", _ revision: UInt64? = nil) throws {
    let newest = try removed(key)?.previous.first?.revision
    try update { batch throws(VaultError) in try batch.restore(key, revision: revision ?? newest ?? 0) }
  }

  /// The current value and the earlier ones, newest first.
  func values(_ key: String = "password") throws -> [String?] {
    let record = try #require(try record(key))
    return try ([record.revision] + record.previous.map(\.revision)).map { revision in
      try vault.withValue(of: record, previous: revision, in: group) { String($1) }
    }
  }

  /// A handle that shares nothing with this one, as of a different process.
  func other(_ keeping: Vault.Keeping = .nothing) throws -> Vault {
    var options = try Vault.Options.device(seed: "other")
    options.keeping = keeping
    let time = time
    options.now = { time.value }
    return try Vault.opened(at: path, options: options)
  }
}
