import Foundation
import Glibc
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// Logs that cannot be written, under both policies.
struct AuditFailureTests {
  /// A way to keep the log from being written, and the error.
  enum Obstacle: String, CaseIterable {
    case directory, link, hardLink, mode, foreign, damagedHeader

    func put(at log: String) throws {
      switch self {
      case .directory:
        try FileManager.default.removeItem(atPath: log)
        try FileManager.default.createDirectory(atPath: log, withIntermediateDirectories: false)
      case .link:
        try FileManager.default.moveItem(atPath: log, toPath: log + ".moved")
        try FileManager.default.createSymbolicLink(atPath: log, withDestinationPath: log + ".moved")
      case .hardLink: try FileManager.default.linkItem(atPath: log, toPath: log + ".name")
      case .mode: try setMode(0o620, of: log)
      case .foreign:
        try FileManager.default.removeItem(atPath: log)
        let note = Array(repeatElement([UInt8]("a note of somebody\n".utf8), count: 20).joined())
        try FileBytes.write(note, to: log)
      case .damagedHeader: try FileBytes.write(FileBytes.read(log).flipping(bit: 0, at: 150), to: log)
      }
    }

    var code: VaultError.Code {
      switch self {
      case .directory, .link: .io
      case .hardLink: .hardLinked
      case .mode: .insecurePermissions
      case .foreign, .damagedHeader: .tampered
      }
    }
  }

  @Test(arguments: Obstacle.allCases) func `fail-closed: nothing is lent or changed, and the error names the log`(
    _ obstacle: Obstacle
  ) throws {
    try AuditedVault.with(.failClosed) { shared in
      // A new handle, because an open log is not judged again.
      let vault = try shared.secondOwner()
      try obstacle.put(at: shared.log())
      let before = try shared.bytes

      let error = #expect(throws: VaultError.self) { _ = try vault.text("password") }
      #expect(error?.code == obstacle.code)
      let log = try shared.log()
      #expect(error?.message.contains(log) == true)
      #expect(error?.message.contains("password") == false)
      #expect(refusal { try vault.set("new", forKey: "password") } == obstacle.code)
      #expect(refusal { try vault.remove("password") } == obstacle.code)
      #expect(try shared.bytes == before)
    }
  }

  @Test(arguments: Obstacle.allCases) func `fail-open: it goes on, and the next event has the number of lost events`(
    _ obstacle: Obstacle
  ) throws {
    try AuditedVault.with(.failOpen) { shared in
      let failures = Mutex<[VaultError.Code]>([])
      var options = Vault.Options.sample(seed: "open")
      options.auditFailure = { error in failures.withLock { $0.append(error.code) } }
      let vault = try Vault.opened(at: shared.path, options: options)
      try obstacle.put(at: shared.log())
      try shared.read(2, by: vault)
      try vault.set("x", forKey: "a")
      #expect(failures.withLock(\.self) == [obstacle.code])

      try FileManager.default.moveItem(atPath: shared.log(), toPath: shared.path + ".away")
      try shared.read(2, by: vault)
      var lost: [UInt64] = []
      let report = try vault.readAuditLog(of: vault.group()) { lost.append($0.lost) }
      #expect(lost == [3, 0, 0] && report.lostCount == 3)
      #expect(report.findings.map(\.short) == ["continued 1 possible"])
    }
  }

  @Test func `events that were lost before a log is set aside are counted once`() throws {
    try AuditedVault.with(.failOpen, groups: ["default"]) { shared in
      let vault = try shared.secondOwner()
      try Obstacle.damagedHeader.put(at: shared.log())
      try shared.read(2, by: vault)
      #expect(try vault.setAuditing(.failOpen).setAside.count == 1)
      try shared.read(1, by: vault)

      #expect(try vault.readAuditLog(of: vault.group()).lostCount == 2)
    }
  }

  @Test func `fail-open does not wait long for a process that holds the log`() throws {
    try AuditedVault.with(.failOpen) { shared in
      let lock = try ForeignLock(on: shared.log())
      let start = ContinuousClock.now
      try shared.read(1)
      #expect(ContinuousClock.now - start < .seconds(20))  // of the 30 of the options
      lock.release()
      try shared.read(1)
      #expect(try shared.owner.auditEvents().map(\.lost) == [0, 1])
    }
  }

  @Test func `fail-open waits for a process that holds the log once in a second, not for each read`() throws {
    try AuditedVault.with(.failOpen) { shared in
      let now = Mutex<Int64>(0)
      var options = Vault.Options.sample(seed: "busy")
      options.now = { now.withLock(\.self) }
      let vault = try Vault.opened(at: shared.path, options: options)
      let lock = try ForeignLock(on: shared.log())
      let start = ContinuousClock.now
      try shared.read(200, by: vault)
      #expect(ContinuousClock.now - start < .seconds(40))  // of the 50 that 200 waits take
      lock.release()
      // The lock is free: no wait is needed, and nothing more is lost.
      try shared.read(1, by: vault)
      #expect(try shared.owner.auditEvents().map(\.lost) == [0, 200])
    }
  }

  @Test func `a disk that is full is warned of, then refuses, and the log can be switched off and to fail-open`() async
  {
    await #expect(processExitsWith: .exitCode(42)) {
      try TemporaryDirectory.with { directory in
        let vault = try Vault.sample(at: directory + "/vault.spv", options: .sample(reserve: 64 << 10))
        try vault.set("v", forKey: "k", service: "s")
        try vault.setAuditing(.failClosed)
        let log = directory + "/vault.spv.audit-\(try vault.group().id)"
        signal(SIGXFSZ, SIG_IGN)
        let size = max(try FileBytes.read(log).count, try FileBytes.read(vault.path).count)
        // No file can grow: neither the log's reserve nor, because a file is written anew, the vault.
        try limitFiles(to: size)
        var read = 0
        var warned: Int?
        var refused: VaultError.Code?
        while refused == nil, read < 1_000 {
          refused = refusal { try vault.text("password") }
          if refused == nil { read += 1 }
          if warned == nil, case .degraded = vault.health() { warned = read }
        }
        // A shorter event may still find space.
        var (isTold, fits) = (true, true)
        while fits {
          let isReady = vault.health().isReady
          fits = refusal(of: { try vault.text("k", service: "s") }) == nil
          isTold = isTold && isReady == fits
        }
        let isFailing = "\(vault.health())" == "failing: io"
        let noWrite = refusal { try vault.set("new", forKey: "password") }
        // Not even another file of the vault's length; an append into its reserve is possible.
        try limitFiles(to: try FileBytes.read(vault.path).count - 1)
        let open = try vault.setAuditing(.failOpen)
        let isOpen = try vault.text("password") == "s3cret" && vault.auditing() == .failOpen
        let off = try vault.setAuditing(nil)
        let isOff = try vault.text("password") == "s3cret"
        try limitFiles(to: nil)

        let actions = try vault.readAuditLog(of: vault.group())
        let isWhole = actions.findings.allSatisfy { $0.code == .otherSetting }
        let isRight =
          (100..<400).contains(read) && (50..<read).contains(warned ?? 0) && refused == .io && isTold && isFailing
          && noWrite == .io && !open.isComplete && isOpen && !off.isComplete && isOff && isWhole
        if !isRight {
          print(read, warned as Any, refused as Any, isTold, isFailing, noWrite as Any, open, off, actions)
        }
        exit(isRight ? 42 : 1)
      }
    }
  }

  @Test func `a directory that cannot be written refuses with readOnly until it can`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try asUser { directory, path in
        let vault = try Vault.sample(at: path)
        try vault.setAuditing(.failClosed)
        let log = path + ".audit-\(try vault.group().id)"
        unlink(log)
        try setMode(0o500, of: directory)
        let refused = refusal { try vault.text("password") }
        try setMode(0o700, of: directory)
        let value = try vault.text("password")
        return refused == .readOnly && value == "s3cret"
      }
    }
  }

  @Test(arguments: [0, 1, 255]) func `what is shorter than a header is set aside by the next read`(count: Int) throws {
    try AuditedVault.with { shared in
      try shared.read(1)
      try #require(truncate(shared.log(), count) == 0)
      let short = try FileBytes.read(shared.log())
      try shared.read(1)

      let aside = try shared.log() + ".aside-1"
      #expect(FileManager.default.fileExists(atPath: aside) == (count > 0))
      if count > 0 { #expect(try FileBytes.read(aside) == short) }
      #expect(try shared.found() == ["continued 1 possible"])
    }
  }

  @Test func `a file in the place of the next one is left alone, and said to be there`() throws {
    try AuditedVault.with(limits: AuditLimits(fileKibibytes: 16), groups: ["default"]) { shared in
      try FileBytes.write(Array("note".utf8), to: shared.log(1))
      let vault = shared.owner
      try shared.read(30)
      #expect("\(vault.health())" == "ready")
      try shared.read(120)
      guard case .degraded(_, let error) = vault.health() else {
        Issue.record("\(vault.health())")
        return
      }
      #expect(error.errno == EEXIST && error.message.contains(".000001 is not of the log"), "\(error.message)")
      #expect(try FileBytes.read(shared.log(1)) == Array("note".utf8))

      try #require(unlink(shared.log(1)) == 0)
      try shared.read(1)
      #expect("\(vault.health())" == "ready")
      #expect(try shared.found() == [])
    }
  }

  @Test func `a restored older vault cannot go on with the log of later keys until it is switched on again`() throws {
    try AuditedVault.with(groups: ["default"]) { shared in
      try shared.owner.backUp(to: shared.path + ".backup")
      try shared.owner.rotateVault()
      _ = try Vault.restore(
        shared.path + ".backup", to: shared.path, credential: .key(try .sample()), replacing: true)
      let vault = try shared.secondOwner()
      #expect(refusal { try vault.text("password") } == .rolledBack)
      let report = try vault.readAuditLog(of: vault.group())
      #expect(report.findings.map(\.short) == ["laterKey 3 possible"])

      #expect(try vault.setAuditing(.failClosed).setAside.count == 1)
      try shared.read(1, by: vault)
    }
  }

  @Test func `a handle that is locked cannot log under keys that were replaced`() throws {
    try AuditedVault.with { shared in
      try shared.owner.set("kept", forKey: "kept", as: .afterFirstUnlock)
      let holder = try shared.holder(of: "default")
      try shared.read(1, by: holder)
      let group = try holder.group()
      let read = { try holder.withValue(service: Vault.Name("db"), key: "kept", in: group) { String($1) } }
      holder.lock()
      #expect(try read() == "kept")
      try shared.owner.rotate(group)

      #expect(refusal { try read() } == .locked)
      try holder.unlock(with: shared.credential(of: "default"))
      #expect(try read() == "kept")
    }
  }

  @Test func `fail-open, a handle that is locked reads what stays readable, with keys that were replaced`() throws {
    try AuditedVault.with(.failOpen) { shared in
      try shared.owner.set("kept", forKey: "kept", as: .afterFirstUnlock)
      let failures = Mutex<[VaultError.Code]>([])
      var options = Vault.Options.sample(seed: "holder")
      options.auditFailure = { error in failures.withLock { $0.append(error.code) } }
      let holder = try Vault.open(at: shared.path, credential: shared.credential(of: "default"), options: options)
      let group = try holder.group()
      holder.lock()
      try shared.owner.rotate(group)

      let read = try holder.withValue(service: Vault.Name("db"), key: "kept", in: group) { String($1) }
      #expect(read == "kept")
      #expect(failures.withLock(\.self) == [.locked])
      try holder.unlock(with: shared.credential(of: "default"))
      try shared.read(1, by: holder)
      #expect(try shared.owner.readAuditLog(of: group).lostCount == 1)
    }
  }

  @Test func `a health check makes no file, hands none over and writes no event`() throws {
    try AuditedVault.with(limits: AuditLimits(fileKibibytes: 16), groups: ["default"]) { shared in
      var before = try shared.logBytes()
      while before.file.count - before.reserve.count < 16 << 10 {
        try shared.read(1)
        before = try shared.logBytes()
      }
      #expect("\(shared.owner.health())" == "ready")
      #expect(try shared.logBytes().events == before.events)
      #expect(try !FileManager.default.fileExists(atPath: shared.log(1)))

      try FileBytes.write([1], to: shared.log())
      #expect("\(try shared.secondOwner().health())" == "ready")
      #expect(try FileBytes.read(shared.log()) == [1])
    }
  }

  @Test func `a log that another process holds is no log that is ready`() throws {
    try AuditedVault.with(groups: ["default"]) { shared in
      let lock = try ForeignLock(on: shared.log())
      #expect("\(shared.owner.health())" == "degraded: lockTimeout")
      lock.release()
      #expect("\(shared.owner.health())" == "ready")
    }
  }

  @Test func `a log of a shared vault may be written by the vault's group`() throws {
    try TemporaryDirectory.with { directory in
      var options = Vault.Options.sample()
      options.pathPolicy = .relaxed
      let vault = try Vault.sample(at: directory + "/vault.spv", options: options)
      try setMode(0o640, of: directory + "/vault.spv")
      try vault.setAuditing(.failClosed)

      #expect(try mode(of: directory + "/vault.spv.audit-\(try vault.group().id)") == 0o660)
    }
  }
}

/// Limits the length of files that this process writes; `nil` for none.
func limitFiles(to count: Int?) throws {
  var limit = rlimit(rlim_cur: count.map { rlim_t($0) } ?? rlim_t.max, rlim_max: rlim_t.max)
  try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
}
