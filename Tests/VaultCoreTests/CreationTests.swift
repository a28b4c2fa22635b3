import Foundation
import Glibc
import Testing
import VaultCore
import VaultSealing

/// How a vault comes to be, and when it does not.
struct CreationTests {
  private func withPath(_ body: (_ path: String) throws -> Void) throws {
    try TemporaryDirectory.with { directory in try body(directory + "/vault.spv") }
  }

  private static let groupNames = ["default", "other"]

  @Test func `row 68: a vault without slots is refused and nothing is made`() throws {
    try withPath { path in
      #expect(refusal { try Vault.create(at: path, slots: []) } == .lastOwnerSlot)
      #expect(access(path, F_OK) != 0)
    }
  }

  @Test(arguments: ["vault", "other file", "directory", "dangling link"])
  func `creation refuses a path where anything is`(thing: String) throws {
    try withPath { path in
      switch thing {
      case "vault": _ = try Vault.sample(at: path)
      case "other file": try FileBytes.write([1], to: path)
      case "directory": try #require(mkdir(path, 0o700) == 0)
      default: try #require(symlink("nothing", path) == 0)
      }
      let before = try FileBytes.status(path)

      #expect(refusal { try Vault.sample(at: path) } == .alreadyExists)
      #expect(try FileBytes.status(path).st_ino == before.st_ino)
      #expect(try FileBytes.status(path).st_size == before.st_size)
      #expect(leavesNothing(beside: path))
    }
  }

  @Test func `row 53: under umask 0 the file is 0600 and new directories 0700`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      // The umask belongs to the process, so this test has one of its own.
      umask(0)
      var modes: [mode_t] = []
      try TemporaryDirectory.with { directory in
        let path = directory + "/new/newer/vault.spv"
        _ = try Vault.sample(at: path)
        modes = try [path, directory + "/new", directory + "/new/newer"].map(mode)
        try Vault.opened(at: path).fold()
        modes.append(try mode(of: path))
      }
      exit(modes == [0o600, 0o700, 0o700, 0o600] ? 42 : 1)
    }
  }

  @Test func `row 53: under umask 0777 the file is 0600 and new directories 0700 all the same`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      // As a user to whom permission bits apply: root may enter a directory of mode 0.
      try asUser { directory, _ in
        umask(0o777)
        let path = directory + "/new/newer/vault.spv"
        _ = try Vault.sample(at: path)
        var modes = try [path, directory + "/new", directory + "/new/newer"].map(mode)
        try Vault.opened(at: path).fold()
        modes.append(try mode(of: path))
        return modes == [0o600, 0o700, 0o700, 0o600]
      }
    }
  }

  @Test func `creation in a directory that others may write to is refused`() throws {
    try TemporaryDirectory.with { directory in
      try setMode(0o777, of: directory)
      defer { chmod(directory, 0o700) }

      #expect(refusal { try Vault.sample(at: directory + "/vault.spv") } == .insecurePermissions)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }
  }

  @Test func `a created vault is open, empty of entries and owned`() throws {
    try withPath { path in
      let vault = try Vault.create(
        at: path, slots: [NewSlot(.key(.sample()))], groups: Self.groupNames.map { NewGroup($0) })

      let status = try vault.status()
      #expect(status.isOwner)
      #expect(status.generation == 1)
      #expect(status.entryCount == 0)
      #expect(!status.hasTornTail)
      #expect(!status.isFrozen)
      #expect(try vault.groups().map(\.name.text).sorted() == Self.groupNames)
      #expect(refusal { try vault.group(named: "absent") } == .groupNotGranted)
    }
  }

  @Test func `a vault without groups grants none`() throws {
    try withPath { path in
      let vault = try Vault.sample(at: path, groups: [])

      #expect(try vault.groups().isEmpty)
      #expect(refusal { try vault.group() } == .groupNotGranted)
      #expect(try Vault.opened(at: path).status().groups.isEmpty)
    }
  }

  @Test(arguments: ["", "a\nb", String(repeating: "n", count: 1025)])
  func `row 35: a group of an invalid name is refused and nothing is made`(name: String) throws {
    try withPath { path in
      #expect(refusal { try Vault.sample(at: path, groups: [NewGroup(name)]) } == .invalidName)
      #expect(access(path, F_OK) != 0)
    }
  }

  @Test(arguments: ["", "a\nb"])
  func `row 35: an invalid service of a new group's records is refused`(service: String) throws {
    try withPath { path in
      let group = NewGroup("default", service: service) { batch throws(VaultError) in
        try batch.set("value", forKey: "key")
      }

      #expect(refusal { try Vault.sample(at: path, groups: [group]) } == .invalidName)
      #expect(access(path, F_OK) != 0)
    }
  }

  @Test(arguments: [["same", "same"], ["caf\u{E9}", "cafe\u{301}"]])
  func `two groups of one name are refused`(names: [String]) throws {
    try withPath { path in
      #expect(refusal { try Vault.sample(at: path, groups: names.map { NewGroup($0) }) } == .alreadyExists)
      #expect(access(path, F_OK) != 0)
    }
  }

  @Test func `a label of more than 1024 bytes is refused`() throws {
    try withPath { path in
      let slot = NewSlot(.key(try .sample()), label: String(repeating: "l", count: 1025))

      #expect(refusal { try Vault.create(at: path, slots: [slot]) } == .invalidName)
      #expect(access(path, F_OK) != 0)
    }
  }

  @Test(arguments: [(64, nil), (65, VaultError.Code.limitExceeded)])
  func `row 8: a vault is created with up to 64 slots, or not at all`(
    count: Int, code: VaultError.Code?
  ) throws {
    try withPath { path in
      let slots = try (0..<count).map { NewSlot(.key(try .sample(from: UInt8($0)))) }

      #expect(refusal { try Vault.create(at: path, slots: slots) } == code)
      #expect((access(path, F_OK) == 0) == (code == nil))
    }
  }

  @Test func `row 11: a vault is not created with nine passphrases`() throws {
    try withPath { path in
      let slots = try (0..<9).map { NewSlot(try .passphrase("\($0)"), cost: .throwaway) }

      #expect(refusal { try Vault.create(at: path, slots: slots) } == .limitExceeded)
      #expect(access(path, F_OK) != 0)
    }
  }

  @Test(arguments: [
    PassphraseCost(passes: 2, kibibytes: 64 << 10), PassphraseCost(passes: 3, kibibytes: 63 << 10),
    PassphraseCost(passes: 2, kibibytes: 8 << 10), PassphraseCost(passes: 5, kibibytes: 1 << 20),
  ])
  func `a cost below the minimum or above the bounds is not written`(cost: PassphraseCost) throws {
    try withPath { path in
      let slot = NewSlot(try .passphrase("right"), cost: cost)

      #expect(refusal { try Vault.create(at: path, slots: [slot]) } == .kdfRefused)
      #expect(access(path, F_OK) != 0)
    }
  }

  @Test func `a value that is too large for a new group makes no vault`() throws {
    try withPath { path in
      let group = NewGroup("default", service: "db") { batch throws(VaultError) in
        try batch.set([UInt8](repeating: 0, count: 1 << 20 + 1), forKey: "key")
      }

      #expect(refusal { try Vault.sample(at: path, groups: [group]) } == .valueTooLarge)
      #expect(access(path, F_OK) != 0)
    }
  }

  @Test func `two creations from the system's random bytes share nothing`() throws {
    try TemporaryDirectory.with { directory throws in
      let files = try ["a", "b"].map { name in
        _ = try Vault.sample(at: directory + "/" + name, options: Vault.Options())
        return try VaultInfo(at: directory + "/" + name)
      }

      #expect(files[0].vaultID != files[1].vaultID)
      #expect(files[0].slots[0].id != files[1].slots[0].id)
    }
  }
}
