import Foundation
import Glibc
import Synchronization
import Testing
import VaultCore
import VaultSealing

/// The asynchronous forms of the calls that may wait.
struct AsyncFormTests {}

extension AsyncFormTests {
  /// A vault with a group holder and a backup, made with the same random bytes each time.
  struct Sample: Sendable {
    let directory: String
    let vault: Vault
    let group: AccessGroup
    let slot: Vault.Identifier

    var path: String { directory + "/vault.spv" }

    init(in directory: String, timeout: Duration = .seconds(600)) throws {
      self.directory = directory
      var options = Vault.Options.sample()
      options.lockTimeout = timeout
      vault = try Vault.sample(at: directory + "/vault.spv", groups: [.sample(), .sample("ci")], options: options)
      group = try vault.group(named: "ci")
      slot = try vault.addSlot(NewSlot(.key(.sample(from: 40)), label: "holder"), granting: group)
      try vault.addSlot(NewSlot(.key(.sample(from: 80)), label: "second owner"))
      try vault.backUp(to: directory + "/backup.spv")
    }

    func new(_ first: UInt8 = 120) throws -> NewSlot { NewSlot(.key(try .sample(from: first)), label: "new") }

    func bundle() throws -> Vault {
      let credential = try Vault.Credential.key(.sample(from: 160))
      return try Vault.create(
        at: directory + "/bundle.spv", slots: [NewSlot(credential)],
        groups: [NewGroup(service: "db") { batch throws(VaultError) in try batch.set("new", forKey: "imported") }],
        options: .sample(seed: "bundle"))
    }

    /// All files, by name.
    func files() throws -> [String: [UInt8]] {
      var files: [String: [UInt8]] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
        files[name] = try FileBytes.read(directory + "/" + name)
      }
      return files
    }
  }

  /// A call in both forms.
  struct Call: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let blocking: @Sendable (Sample) throws -> Void
    let suspending: @Sendable (Sample) async throws -> Void

    init(
      _ name: String, _ blocking: @escaping @Sendable (Sample) throws -> Void,
      _ suspending: @escaping @Sendable (Sample) async throws -> Void
    ) { (testDescription, self.blocking, self.suspending) = (name, blocking, suspending) }
  }

  /// The calls that take the writer's lock.
  static let writes = [
    Call("createGroup") {
      try $0.vault.createGroup("new")
    } _: {
      try await $0.vault.createGroup("new")
    },
    Call("renameGroup") {
      try $0.vault.renameGroup($0.group, to: "new")
    } _: {
      try await $0.vault.renameGroup($0.group, to: "new")
    },
    Call("removeGroup") {
      try $0.vault.removeGroup($0.group)
    } _: {
      try await $0.vault.removeGroup($0.group)
    },
    Call("rotate") {
      try $0.vault.rotate($0.group)
    } _: {
      try await $0.vault.rotate($0.group)
    },
    Call("rotateVault") {
      try $0.vault.rotateVault(keeping: [.key(.sample(from: 80))])
    } _: {
      try await $0.vault.rotateVault(keeping: [.key(.sample(from: 80))])
    },
    Call("compact") {
      try $0.vault.compact()
    } _: {
      try await $0.vault.compact()
    },
    Call("addSlot") {
      try $0.vault.addSlot($0.new(), granting: $0.group)
    } _: {
      try await $0.vault.addSlot($0.new(), granting: $0.group)
    },
    Call("replaceSlot") {
      try $0.vault.replaceSlot($0.slot, with: $0.new())
    } _: {
      try await $0.vault.replaceSlot($0.slot, with: $0.new())
    },
    Call("removeSlot") {
      try $0.vault.removeSlot($0.slot)
    } _: {
      try await $0.vault.removeSlot($0.slot)
    },
    Call("removeSlotWithoutRotation") {
      try $0.vault.removeSlotWithoutRotation($0.slot)
    } _: {
      try await $0.vault.removeSlotWithoutRotation($0.slot)
    },
    Call("importBundle") {
      try $0.vault.importBundle($0.bundle(), into: $0.group)
    } _: {
      try await $0.vault.importBundle($0.bundle(), into: $0.group)
    },
    Call("restore") {
      try Vault.restore(
        $0.directory + "/backup.spv", to: $0.path, credential: .key(.sample()), replacing: true,
        options: $0.vault.options)
    } _: {
      try await Vault.restore(
        $0.directory + "/backup.spv", to: $0.path, credential: .key(.sample()), replacing: true,
        options: $0.vault.options)
    },
  ]

  static let reads = [
    Call("open") {
      _ = try Vault.open(at: $0.path, credential: .key(.sample()))
    } _: {
      _ = try await Vault.open(at: $0.path, credential: .key(.sample()))
    },
    Call("unlock") {
      try $0.vault.unlock(with: .key(.sample(from: 80)))
    } _: {
      try await $0.vault.unlock(with: .key(.sample(from: 80)))
    },
    Call("verify") { sample in
      let report = try sample.vault.verify()
      #expect(report.values == 2)
    } _: { sample in
      let report = try await sample.vault.verify()
      #expect(report.values == 2)
    },
    Call("backUp") {
      try $0.vault.backUp(to: $0.directory + "/copy.spv")
    } _: {
      try await $0.vault.backUp(to: $0.directory + "/copy.spv")
    },
    Call("readAuditLog") { sample in
      let report = try sample.vault.readAuditLog(of: sample.group)
      #expect(report.findings.isEmpty)
    } _: { sample in
      let report = try await sample.vault.readAuditLog(of: sample.group)
      #expect(report.findings.isEmpty)
    },
    Call("handOverAuditLog") { sample in
      try sample.vault.setAuditing(.failClosed)
      try sample.vault.handOverAuditLog(of: sample.group)
    } _: { sample in
      try await sample.vault.setAuditing(.failClosed)
      try await sample.vault.handOverAuditLog(of: sample.group)
    },
    Call("acknowledgeAuditLog") { sample in
      let acknowledged = try sample.vault.acknowledgeAuditLog(of: sample.group)
      #expect(acknowledged.isEmpty)
    } _: { sample in
      let acknowledged = try await sample.vault.acknowledgeAuditLog(of: sample.group)
      #expect(acknowledged.isEmpty)
    },
    Call("createMark") {
      try $0.vault.createMark(at: $0.directory + "/mark")
    } _: {
      try await $0.vault.createMark(at: $0.directory + "/mark")
    },
    Call("exportBundle") {
      try $0.vault.exportBundle(
        $0.vault.records(in: $0.group), of: $0.group, to: $0.directory + "/out.spv", slot: $0.new())
    } _: {
      try await $0.vault.exportBundle(
        $0.vault.records(in: $0.group), of: $0.group, to: $0.directory + "/out.spv", slot: $0.new())
    },
    Call("salvage") {
      _ = try Vault.salvage(
        at: $0.path, credential: .key(.sample()), to: $0.directory + "/saved.spv", options: .sample())
    } _: {
      _ = try await Vault.salvage(
        at: $0.path, credential: .key(.sample()), to: $0.directory + "/saved.spv", options: .sample())
    },
  ]

  @Test(arguments: writes + reads)
  func `the asynchronous form leaves the same files as the blocking form`(call: Call) async throws {
    let blocking = try TemporaryDirectory.with { directory in
      let sample = try Sample(in: directory)
      try call.blocking(sample)
      return try sample.files()
    }
    let suspending = try await TemporaryDirectory.with { directory in
      let sample = try Sample(in: directory)
      try await call.suspending(sample)
      return try sample.files()
    }
    #expect(blocking == suspending)
  }

  @Test(arguments: writes + reads)
  func `the asynchronous form has the same error as the blocking form`(call: Call) async throws {
    try await TemporaryDirectory.with { directory in
      let sample = try Sample(in: directory)
      unlink(sample.path)
      unlink(directory + "/backup.spv")
      let code = refusal { try call.blocking(sample) }
      #expect(code == .notFound)
      unlink(directory + "/bundle.spv")
      #expect(await awaitedRefusal { try await call.suspending(sample) } == code)
    }
  }

  @Test(arguments: writes)
  func `an asynchronous call that waits too long for the lock is a lockTimeout`(call: Call) async throws {
    try await TemporaryDirectory.with { directory in
      let sample = try Sample(in: directory, timeout: .milliseconds(50))
      let lock = try ForeignLock(on: sample.path)
      #expect(await awaitedRefusal { try await call.suspending(sample) } == .lockTimeout)
      lock.release()
    }
  }

  @Test func `an asynchronous form creates a vault that opens, and a mark that is accepted`() async throws {
    try await TemporaryDirectory.with { directory in
      let (path, mark) = (directory + "/vault.spv", directory + "/mark")
      let vault = try await Vault.create(
        at: path, slots: [NewSlot(.passphrase("correct horse"), cost: .throwaway)], groups: [.sample()])
      try await vault.createMark(at: mark)
      try await vault.commit("new", forKey: "password")
      try await vault.acceptMark(at: mark)
      var options = Vault.Options()
      options.markPath = mark
      let opened = try await Vault.open(at: path, credential: .passphrase("correct horse"), options: options)
      #expect(try opened.text("password") == "new")
      #expect(
        await awaitedRefusal { _ = try await Vault.open(at: path, credential: .passphrase("wrong")) }
          == .credentialRejected)
    }
  }

  @Test func `an asynchronous form repairs a group`() async throws {
    try await TemporaryDirectory.with { directory in
      let sample = try Sample(in: directory)
      #expect(await awaitedRefusal { try await sample.vault.repair([sample.group], .empty) } == .conflict)
    }
  }

  @Test func `calls that wait for a lock stop no other task`() async throws {
    try await TemporaryDirectory.with { directory in
      let sample = try Sample(in: directory)
      let lock = try ForeignLock(on: sample.path)
      let count = ProcessInfo.processInfo.activeProcessorCount + 4
      let begun = Tally()
      try await withThrowingTaskGroup { group in
        for number in 0..<count {
          group.addTask {
            begun.count.add(1, ordering: .relaxed)
            try await sample.vault.createGroup("group \(number)")
          }
        }
        // If the calls blocked the cooperative pool, this task would go on only after they have timed out.
        while begun.count.load(ordering: .relaxed) < count { await Task.yield() }
        lock.release()
        try await group.waitForAll()
      }
      #expect(try sample.vault.groups().count == 2 + count)
    }
  }

  @Test func `vaults open with passphrases while others wait for the lock to be restored`() async throws {
    try await TemporaryDirectory.with { directory in
      let (path, backup) = (directory + "/vault.spv", directory + "/backup.spv")
      let credential = try Vault.Credential.passphrase("correct horse")
      let vault = try await Vault.create(
        at: path, slots: [NewSlot(credential, cost: .throwaway)], groups: [.sample()])
      try await vault.backUp(to: backup)
      let lock = try ForeignLock(on: path)
      let verified = Tally()
      var options = Vault.Options()
      options.lockTimeout = .seconds(600)
      options.progress = { _ in verified.count.add(1, ordering: .relaxed) }
      try await withThrowingTaskGroup { [options] group in
        defer { lock.release() }
        for _ in 0..<2 {
          group.addTask {
            _ = try await Vault.restore(backup, to: path, credential: credential, replacing: true, options: options)
          }
        }
        while verified.count.load(ordering: .relaxed) < 2 { try await Task.sleep(for: .milliseconds(1)) }
        // Two calls at a time derive keys. Those that wait for the lock have derived theirs.
        #expect(try await Vault.open(at: backup, credential: credential).text("password") == "s3cret")
        lock.release()
        try await group.waitForAll()
      }
    }
  }

  @Test func `many tasks that open a vault with a passphrase make few threads`() async {
    let ended = await #expect(processExitsWith: .failure) {
      let peak = Tally()
      try await TemporaryDirectory.with { directory in
        let path = directory + "/vault.spv"
        let done = Tally()
        let credential = try Vault.Credential.passphrase("correct horse")
        _ = try await Vault.create(at: path, slots: [NewSlot(credential, cost: .throwaway)])
        let sampler = Thread {
          while done.count.load(ordering: .acquiring) == 0 {
            peak.count.max(entries(of: "/proc/self/task"), ordering: .relaxed)
          }
        }
        sampler.start()
        try await withThrowingTaskGroup { group in
          for _ in 0..<300 { group.addTask { try await Vault.open(at: path, credential: credential).lock() } }
          try await group.waitForAll()
        }
        done.count.store(1, ordering: .releasing)
      }
      exit(CInt(clamping: peak.count.load(ordering: .relaxed)))
    }
    // The main thread, the sampler, one for each core, two that derive keys, and what the system adds for a while when
    // other programs keep the cores busy: one thread for ten tasks at most.
    #expect((3...30).contains { ended?.exitStatus == .exitCode($0) }, "\(String(describing: ended?.exitStatus))")
  }

  @Test func `cancellation does not stop a call: a rotation of a cancelled task is durable`() async throws {
    try await TemporaryDirectory.with { directory in
      let sample = try Sample(in: directory)
      let before = try FileBytes.read(sample.path)
      let lock = try ForeignLock(on: sample.path)
      let rotation = Task { try await sample.vault.rotate(sample.group) }
      rotation.cancel()
      lock.release()
      _ = try await rotation.value
      #expect(try FileBytes.read(sample.path) != before)
      #expect(try Vault.opened(at: sample.path).text("password", in: "ci") == "s3cret")
    }
  }
}

/// The class that an asynchronous `body` is refused with; `nil` when it is not refused.
private func awaitedRefusal(of body: () async throws -> Void) async -> VaultError.Code? {
  do {
    try await body()
    return nil
  } catch let error as VaultError {
    return error.code
  } catch {
    Issue.record(error)
    return nil
  }
}
