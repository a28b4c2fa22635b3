import Foundation
import Glibc
import Testing
import VaultSealing

@testable import VaultCore

/// A backup put back: only where nothing, or an earlier or later state of the same vault, is.
struct RestoreTests {
  /// A vault, a backup of it, and a directory for more.
  private struct Sample {
    let directory: String
    let vault: Vault
    let contents: [String: [RecordImage]]

    var path: String { directory + "/vault.spv" }
    var backup: String { directory + "/backup.spv" }

    @discardableResult
    func restore(
      to path: String? = nil, credential: Vault.Credential? = nil, replacing: Bool = false,
      options: Vault.Options = .sample(seed: "restore")
    ) throws -> VerificationReport {
      try Vault.restore(
        backup, to: path ?? self.path, credential: credential ?? .key(.sample()), replacing: replacing,
        options: options)
    }
  }

  private func with(_ body: (Sample) throws -> Void) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Vault.sample(at: path, groups: [.sample(), .sample("other")])
      for index in 0..<3 { try vault.set("value \(index)", forKey: "key-\(index)") }
      try vault.backUp(to: directory + "/backup.spv")
      try body(Sample(directory: directory, vault: vault, contents: vault.contents()))
    }
  }

  @Test func `a backup is put where nothing is, with the directories above`() throws {
    try with { sample in
      let path = sample.directory + "/a/b/new.spv"
      let backup = try FileBytes.read(sample.backup)

      let report = try sample.restore(to: path)

      #expect(report.values == 5)
      #expect(report.status.entryCount == 3)
      #expect(try Vault.opened(at: path).contents() == sample.contents)
      #expect(try mode(of: path) == 0o600)
      #expect(try mode(of: sample.directory + "/a") == 0o700)
      #expect(try FileBytes.read(sample.backup) == backup)
      try Vault.opened(at: path).set("new", forKey: "user")
    }
  }

  @Test func `a backup replaces a later state of the vault on request only`() throws {
    try with { sample in
      try sample.vault.set("later", forKey: "user")
      try sample.vault.compact()
      let backup = try FileBytes.read(sample.backup)

      try expectRefused(.alreadyExists, at: sample.path) { try sample.restore() }
      try sample.restore(replacing: true)

      #expect(try Vault.opened(at: sample.path).contents() == sample.contents)
      #expect(leavesNothing(beside: sample.path))
      #expect(try FileBytes.read(sample.backup) == backup)
    }
  }

  /// What may have become of a vault that a backup is to replace.
  enum Damage: String, CaseIterable, Sendable {
    case flippedByte, cutInside, cutBehindTheID, garbageBehindTheID, badVersion

    func apply(to bytes: [UInt8]) -> [UInt8] {
      switch self {
      case .flippedByte: bytes.flipping(bit: 0, at: 600)
      case .cutInside: Array(bytes[..<900])
      case .cutBehindTheID: Array(bytes[..<56])
      case .garbageBehindTheID: Array(bytes[..<32]) + [UInt8](repeating: 0xA5, count: 400)
      case .badVersion: bytes.flipping(bit: 3, at: 8)
      }
    }
  }

  @Test(arguments: Damage.allCases)
  func `a backup replaces the damaged vault`(damage: Damage) throws {
    try with { sample in
      try FileBytes.write(damage.apply(to: FileBytes.read(sample.path)), to: sample.path)
      try #require(refusal { try Vault.opened(at: sample.path) } != nil)

      try expectRefused(.alreadyExists, at: sample.path) { try sample.restore() }
      try sample.restore(replacing: true)

      #expect(try Vault.opened(at: sample.path).contents() == sample.contents)
    }
  }

  @Test func `an earlier state is replaced by a later backup`() throws {
    try with { sample in
      let earlier = try FileBytes.read(sample.path)
      try sample.vault.set("later", forKey: "user")
      try sample.vault.backUp(to: sample.directory + "/later.spv")
      try FileBytes.write(earlier, to: sample.path)

      try Vault.restore(
        sample.directory + "/later.spv", to: sample.path, credential: .key(.sample()), replacing: true)

      #expect(try Vault.opened(at: sample.path).text("user") == "later")
    }
  }

  @Test func `a vault that has become longer than the limit is replaced`() throws {
    try with { sample in
      var options = Vault.Options.sample(seed: "restore")
      options.limits.fileBytes = try FileBytes.read(sample.backup).count
      try sample.vault.set(String(repeating: "x", count: options.limits.fileBytes), forKey: "user")

      try sample.restore(replacing: true, options: options)

      #expect(try Vault.opened(at: sample.path).contents() == sample.contents)
    }
  }

  @Test(arguments: ["", "text", "vault", "start", "zeros", "long"])
  func `another user's file is never replaced`(kind: String) throws {
    try with { sample in
      let path = sample.directory + "/there"
      let own = try FileBytes.read(sample.path)
      switch kind {
      case "vault": _ = try Vault.sample(at: path, options: .sample(seed: "another vault"))
      // Less than a vault needs to say whose it is.
      case "start": try FileBytes.write(Array(own[..<31]), to: path)
      case "zeros": try FileBytes.write([UInt8](repeating: 0, count: own.count), to: path)
      case "long": try FileBytes.write(Array(repeatElement(0x20, count: 1 << 16)), to: path)
      default: try FileBytes.write(Array(kind.utf8), to: path)
      }

      try expectRefused(.alreadyExists, at: path) { try sample.restore(to: path) }
      try expectRefused(.alreadyExists, at: path) { try sample.restore(to: path, replacing: true) }
    }
  }

  @Test func `what is no file is never replaced`() throws {
    try with { sample in
      let path = sample.directory + "/there"
      try #require(mkdir(path, 0o700) == 0)
      #expect(refusal { try sample.restore(to: path) } == .alreadyExists)
      #expect(refusal { try sample.restore(to: path, replacing: true) } == .notAVault)
      try #require(rmdir(path) == 0 && mkfifo(path, 0o600) == 0)
      #expect(refusal { try sample.restore(to: path, replacing: true) } == .notAVault)
      try #require(unlink(path) == 0 && symlink(sample.path, path) == 0)
      try expectRefused(.insecurePermissions, at: sample.path) { try sample.restore(to: path, replacing: true) }
    }
  }

  @Test func `a damaged backup is refused and the vault stays`() throws {
    try with { sample in
      try sample.vault.set("later", forKey: "user")
      let backup = try FileBytes.read(sample.backup)
      for (offset, code) in [(3, .notAVault), (9, .unsupportedVersion), (400, .damaged), (1500, .damaged)]
        as [(Int, VaultError.Code)]
      {
        try FileBytes.write(backup.flipping(bit: 1, at: offset), to: sample.backup)
        try expectRefused(code, at: sample.path) { try sample.restore(replacing: true) }
        #expect(refusal { try sample.restore(to: sample.directory + "/new.spv") } == code)
        #expect(access(sample.directory + "/new.spv", F_OK) != 0)
      }
      #expect(try sample.vault.text("user") == "later")
    }
  }

  @Test func `a backup with one bad value, entry or section is refused and the vault stays`() throws {
    try with { sample in
      let file = try FileBytes.read(sample.backup)
      let position = try #require(
        try MemoryVault(file, key: .sample()).state.manifest?.groups.firstIndex { $0.name.text == "default" })
      let holder = try KeyHolder(file, group: position)
      var value = EntryDraft()
      value.generation = 5
      var record = RecordDraft("user", revision: 5)
      record.sealed = try holder.value([1], service: Array("db".utf8), key: Array("another".utf8), kind: 1, class: 0)
      value.changes = [.put(record)]
      var badValue = try Parts(file)
      badValue.entries.append(try holder.entry(value))
      var badEntry = try Parts(file)
      badEntry.entries[1] = badEntry.entries[1].flipping(bit: 0, at: 100).rechecked()
      var badSection = try Parts(file)
      badSection.sections[1].sealed[200] ^= 1

      for bad in [badValue, badEntry, badSection] {
        try FileBytes.write(bad.file, to: sample.backup)
        try expectRefused(.tampered, at: sample.path) { try sample.restore(replacing: true) }
        #expect(refusal { try sample.restore(to: sample.directory + "/new.spv") } == .tampered)
        #expect(access(sample.directory + "/new.spv", F_OK) != 0)
      }
    }
  }

  @Test func `a wrong credential, a missing backup and one that others may read are refused`() throws {
    try with { sample in
      try expectRefused(.credentialRejected, at: sample.path) {
        try sample.restore(credential: .key(.sample(from: 1)), replacing: true)
      }
      try setMode(0o644, of: sample.backup)
      try expectRefused(.insecurePermissions, at: sample.path) { try sample.restore(replacing: true) }
      try #require(unlink(sample.backup) == 0)
      try expectRefused(.notFound, at: sample.path) { try sample.restore(replacing: true) }
    }
  }

  @Test func `a vault with two names is not replaced`() throws {
    try with { sample in
      try #require(link(sample.path, sample.path + ".second") == 0)
      try expectRefused(.hardLinked, at: sample.path) { try sample.restore(replacing: true) }
    }
  }

  @Test func `a vault that another handle is writing is not replaced meanwhile`() throws {
    try with { sample in
      let lock = try ForeignLock(on: sample.path)
      var options = Vault.Options.sample()
      options.lockTimeout = .milliseconds(20)

      try expectRefused(.lockTimeout, at: sample.path) { try sample.restore(replacing: true, options: options) }

      lock.release()
      try sample.restore(replacing: true, options: options)
    }
  }

  @Test func `open handles read and write the restored state`() throws {
    try with { sample in
      let second = try Vault.opened(at: sample.path)
      try sample.vault.set("lost", forKey: "key-0")
      try second.set("lost", forKey: "user")

      try sample.restore(replacing: true)

      for vault in [sample.vault, second] {
        #expect(try vault.contents() == sample.contents)
        #expect(try vault.text("user") == nil)
      }
      try second.set("new", forKey: "user")
      try sample.vault.set("new", forKey: "other")
      try sample.vault.compact()
      let fresh = try Vault.opened(at: sample.path)
      #expect(try fresh.text("user") == "new")
      #expect(try fresh.text("other") == "new")
    }
  }

  @Test func `a handle whose slot the backup does not have is credentialRejected until it is unlocked`() throws {
    try with { sample in
      try sample.vault.replaceSlot(with: NewSlot(.key(.sample(from: 70))))

      try sample.restore(replacing: true)

      #expect(refusal { try sample.vault.text("password") } == .credentialRejected)
      try sample.vault.unlock(with: .key(.sample()))
      #expect(try sample.vault.contents() == sample.contents)
    }
  }

  @Test func `a torn tail of the backup is not copied, and there is a reserve`() throws {
    try with { sample in
      var parts = try Parts(FileBytes.read(sample.backup))
      parts.reserve = Array(parts.entries.removeLast().dropLast(40))
      try FileBytes.write(parts.file, to: sample.backup)

      let report = try sample.restore(replacing: true)

      #expect(report.status.hasTornTail)
      let restored = try FileBytes.read(sample.path)
      parts.reserve = [UInt8](repeating: 0, count: 64)
      #expect(restored == parts.file)
      #expect(try Vault.opened(at: sample.path).status().hasTornTail == false)
      #expect(try Vault.opened(at: sample.path).text("key-1") == "value 1")
    }
  }

  @Test func `the relaxed policy keeps owner, group and mode of the file that is replaced`() throws {
    try with { sample in
      var options = Vault.Options.sample()
      options.pathPolicy = .relaxed
      try setMode(0o640, of: sample.path)
      if isRoot { try #require(chown(sample.path, 65534, 65534) == 0) }
      let before = try FileBytes.status(sample.path)

      try sample.restore(replacing: true, options: options)

      let after = try FileBytes.status(sample.path)
      #expect(after.st_ino != before.st_ino)
      #expect(after.st_mode == before.st_mode)
      #expect(after.st_uid == before.st_uid && after.st_gid == before.st_gid)
    }
  }

  @Test func `the strict policy refuses to replace a file that others may read`() throws {
    try with { sample in
      try setMode(0o640, of: sample.path)
      try expectRefused(.insecurePermissions, at: sample.path) { try sample.restore(replacing: true) }
    }
  }

  @Test func `a group's holder restores the whole vault`() throws {
    try SharedVault.with { shared in
      try shared.owner.backUp(to: shared.path + ".backup")
      let contents = try shared.owner.contents()
      try shared.owner.set("lost", forKey: "password", in: "two")

      let report = try Vault.restore(
        shared.path + ".backup", to: shared.path, credential: shared.credential(of: "one"), replacing: true)

      #expect(report.values == 1)
      #expect(try shared.owner.contents() == contents)
    }
  }

  @Test func `a backup is put back over itself`() throws {
    try with { sample in
      try sample.restore(to: sample.backup, replacing: true)
      #expect(try Vault.opened(at: sample.backup).contents() == sample.contents)
    }
  }
}
