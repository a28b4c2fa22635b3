import DurableFiles
import Foundation
import Glibc
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// Logs of a vault that is not a file, in a folder of each machine.
struct AuditPlaceTests {
  /// The storage of a different machine: the same bytes, with a folder of its own.
  private final class Machine: VaultStorage {
    private let base: MemoryStorage
    let auditLogs: AuditLogLocation?

    init(_ base: MemoryStorage, _ folder: String) throws {
      self.base = base
      auditLogs = try AuditLogLocation(folder: folder, name: "shop")
    }

    var name: String { base.name }
    func load(limit: Int) throws(VaultError) -> StoredVault { try base.load(limit: limit) }
    func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
      try base.changes(since: position, limit: limit)
    }
    func lock(until deadline: LockDeadline) throws(VaultError) -> any LockedStorage { try base.lock(until: deadline) }
    func create(_ bytes: [UInt8]) throws(VaultError) -> (storage: any LockedStorage, version: any StorageVersion) {
      try base.create(bytes)
    }
  }

  /// A vault without logging, and two machines that have it open.
  private struct Fleet {
    let folder: String
    let storage = MemoryStorage()
    let first: Vault
    let second: Vault

    init(in folder: String) throws {
      self.folder = folder
      _ = try Vault.create(
        in: storage, slots: [NewSlot(.key(try .sample()), label: "owner")], groups: [.sample()], options: .sample())
      first = try Self.opened(Machine(storage, folder + "/first"))
      second = try Self.opened(Machine(storage, folder + "/second"))
    }

    static func with(_ body: (Fleet) throws -> Void) throws {
      try TemporaryDirectory.with { directory in try body(Fleet(in: directory)) }
    }

    /// A machine that opens the vault.
    func machine(_ folder: String, _ options: Vault.Options = .sample(seed: "machine")) throws -> Vault {
      try Self.opened(Machine(storage, self.folder + "/" + folder), options)
    }

    private static func opened(
      _ machine: Machine, _ options: Vault.Options = .sample(seed: "machine")
    ) throws -> Vault {
      try Vault.open(in: machine, credential: .key(try .sample()), options: options)
    }

    func files(_ machine: String) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder + "/" + machine).sorted()
    }
  }

  private static func findings(_ vault: Vault) throws -> [AuditFinding] {
    try vault.readAuditLog(of: vault.group()).findings
  }

  @Test func `reads and writes are logged in a folder that the first log creates`() throws {
    try Fleet.with { fleet in
      try fleet.first.setAuditing(.failClosed)
      _ = try fleet.first.text("password")
      try fleet.first.set("new", forKey: "a")

      #expect(try fleet.first.auditedActions() == ["start", "read password", "write a"])
      #expect(try fleet.files("first") == ["shop.audit-\(fleet.first.group().id)"])
      let folder = fleet.folder + "/first"
      #expect(try FileBytes.status(folder).st_mode & 0o777 == 0o700)
      #expect(try FileBytes.status(folder + "/" + fleet.files("first")[0]).st_mode & 0o777 == 0o600)
      #expect(try fleet.first.unreadAuditLogs().isEmpty)
      guard case .ready = fleet.first.health() else {
        Issue.record("the vault is not ready")
        return
      }
    }
  }

  @Test func `each machine has its own log, and says that it began to use the vault`() throws {
    try Fleet.with { fleet in
      try fleet.first.setAuditing(.failClosed)
      #expect(try Self.findings(fleet.second).map(\.short) == ["noLog 1 possible"])
      #expect(try Self.findings(fleet.second)[0].description.hasSuffix("on this machine yet"))
      _ = try fleet.second.text("password")
      try fleet.first.set("new", forKey: "a")

      #expect(try fleet.first.auditedActions() == ["start", "write a"])
      let found = try fleet.second.acknowledgeAuditLog(of: fleet.second.group())
      #expect(found.map(\.short) == ["continued 1 acknowledged"])
      #expect(found[0].description.hasSuffix("; or this machine began to use the vault"))
      var actions: [String] = []
      let report = try fleet.second.readAuditLog(of: fleet.second.group()) { actions.append("\($0.action)") }
      #expect(actions == ["continue", "read", "acknowledge"])
      #expect(report.open.isEmpty)
    }
  }

  @Test func `rotating on one machine gives the others the key of their log`() throws {
    try Fleet.with { fleet in
      try fleet.first.setAuditing(.failClosed)
      _ = try fleet.second.text("password")
      try fleet.first.rotate(fleet.first.group())
      _ = try fleet.second.text("password")
      try fleet.second.handOverAuditLog(of: fleet.second.group())
      _ = try fleet.second.text("password")

      #expect(try Self.findings(fleet.second).map(\.short) == ["continued 1 possible"])
      let log = "shop.audit-\(try fleet.second.group().id)"
      #expect(try fleet.files("second") == [log, log + ".000001"])
      #expect(try fleet.first.auditedActions().allSatisfy { !$0.hasPrefix("read") })
    }
  }

  @Test func `switching logging off on one machine may be seen as a missing stop on another`() throws {
    try Fleet.with { fleet in
      try fleet.first.setAuditing(.failClosed)
      _ = try fleet.second.text("password")
      try fleet.second.acknowledgeAuditLog(of: fleet.second.group())
      try fleet.first.setAuditing(nil)
      _ = try fleet.second.text("password")

      #expect(try fleet.first.auditedActions() == ["start", "stop"])
      let open = try fleet.second.readAuditLog(of: fleet.second.group()).open
      #expect(open.map(\.short) == ["noStop 1 possible"])
      #expect(open[0].description.hasSuffix("; or another machine switched it off"))
    }
  }

  @Test(arguments: [AuditPolicy.failClosed, .failOpen])
  func `a folder that cannot be used refuses reads, unless they may go on`(policy: AuditPolicy) throws {
    try Fleet.with { fleet in
      try fleet.first.setAuditing(policy)
      try FileBytes.write([1], to: fleet.folder + "/file")
      let failures = Mutex<[VaultError.Code]>([])
      var options = Vault.Options.sample(seed: "file")
      options.auditFailure = { error in failures.withLock { $0.append(error.code) } }
      let vault = try fleet.machine("file", options)
      if policy == .failOpen {
        #expect(try vault.text("password") == "s3cret")
        #expect(failures.withLock(\.self) == [.io])
      } else {
        #expect(refusal { _ = try vault.text("password") } == .io)
        #expect(refusal { try vault.set("new", forKey: "a") } == .io)
        guard case .failing = vault.health() else {
          Issue.record("the vault is said to be ready")
          return
        }
      }
      #expect(try FileBytes.read(fleet.folder + "/file") == [1])
    }
  }

  @Test func `a folder that others may write to is refused`() throws {
    try Fleet.with { fleet in
      try fleet.first.setAuditing(.failClosed)
      mkdir(fleet.folder + "/open", 0o700)
      chmod(fleet.folder + "/open", 0o777)
      #expect(refusal { _ = try fleet.machine("open").text("password") } == .insecurePermissions)
      #expect(try fleet.files("open").isEmpty)
    }
  }

  @Test func `a mark of the machine refuses a log that was removed with its folder`() throws {
    try Fleet.with { fleet in
      try fleet.first.setAuditing(.failClosed)
      let mark = fleet.folder + "/mark"
      try fleet.first.createMark(at: mark)
      var options = Vault.Options.sample(seed: "marked")
      options.markPath = mark
      let vault = try fleet.machine("first", options)
      _ = try vault.text("password")
      try FileManager.default.removeItem(atPath: fleet.folder + "/first")
      #expect(refusal { _ = try fleet.machine("first", options).text("password") } == .rolledBack)
    }
  }

  @Test(arguments: [
    ("", VaultError.Code.invalidName), ("a/b", .invalidName), (String(repeating: "a", count: 151), .invalidName),
    ("a\0b", .io),
  ])
  func `a name that cannot be that of a file is refused`(name: String, code: VaultError.Code) {
    #expect(refusal { try AuditLogLocation(folder: "/nowhere", name: name) } == code)
  }

  @Test(arguments: ["", "a note", String(repeating: "a", count: 32), String(repeating: "a", count: 33) + "\n"])
  func `a file with the name of the delivery id that has none is not replaced`(text: String) throws {
    try TemporaryDirectory.with { directory in
      let group = Vault.Identifier([UInt8](repeating: 7, count: Vault.Identifier.count))
      let files = AuditFiles(of: group, in: try AuditLogLocation(folder: directory, name: "shop"))
      let path = "\(directory)/shop.delivered-\(group)"
      try FileBytes.write(Array(text.utf8), to: path)
      #expect(try files.deliveryID() == nil)
      #expect(refusal { try files.setDeliveryID(String(repeating: "b", count: 32)) } == .io)
      #expect(try FileBytes.read(path) == Array(text.utf8))

      try #require(unlink(path) == 0)
      for digit in ["b", "c"] {
        let id = String(repeating: digit, count: 32)
        try files.setDeliveryID(id)
        #expect(try files.deliveryID() == id)
      }
    }
  }

  @Test func `an empty path is no folder`() {
    #expect(refusal { try AuditLogLocation(folder: "", name: "shop") } == .io)
  }
}
