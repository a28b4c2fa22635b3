import Foundation
import Glibc
import Testing
import VaultCore

/// A vault that the members of a Unix group share.
struct SharedPathTests {
  /// Numbers that no user and no group of a machine has.
  private static let (alice, bob, carol, team) = (uid_t(60_001), uid_t(60_002), uid_t(60_003), gid_t(60_010))

  private static func options(_ seed: String, _ policy: PathPolicy = .sharedWithGroup) -> Vault.Options {
    var options = Vault.Options.sample(seed: seed)
    options.pathPolicy = policy
    return options
  }

  /// Runs `body` in a separate process (an exit test) of root, in a directory of the group, and ends the process.
  private static func inTeam(_ body: (_ directory: String, _ path: String) throws -> Bool) throws -> Never {
    var isRight = false
    try TemporaryDirectory.with { directory in
      chown(directory, alice, team)
      chmod(directory, 0o2770)
      do { isRight = try body(directory, directory + "/vault.spv") } catch { Issue.record(error) }
      become(0)
    }
    exit(isRight ? 42 : 1)
  }

  /// Makes the process one of the user. All but carol are members of the group.
  private static func become(_ user: uid_t) {
    seteuid(0)
    var groups = user == carol ? [] : [team]
    setgroups(groups.count, &groups)
    setegid(user)
    seteuid(user)
  }

  private static func expectShared(_ path: String, by user: uid_t) throws {
    let status = try FileBytes.status(path)
    #expect(status.st_uid == user)
    #expect(status.st_gid == team)
    #expect(status.st_mode & 0o7777 == 0o660)
  }

  @Test(.enabled(if: isRoot, "only root becomes other users"))
  func `row 53: two users write and fold one vault in turn, which keeps its group and mode`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try Self.inTeam { _, path in
        Self.become(Self.alice)
        let vault = try Vault.sample(at: path, options: Self.options("alice"))
        try Self.expectShared(path, by: Self.alice)
        Self.become(Self.bob)
        let other = try Vault.opened(at: path, options: Self.options("bob"))
        try other.set("appended", forKey: "a")
        try Self.expectShared(path, by: Self.alice)
        try other.compact()
        try Self.expectShared(path, by: Self.bob)
        Self.become(Self.alice)
        try #require(try vault.text("a") == "appended")
        try vault.set("by alice", forKey: "a")
        try vault.compact()
        try Self.expectShared(path, by: Self.alice)
        Self.become(Self.bob)
        return try other.text("a") == "by alice"
      }
    }
  }

  @Test(.enabled(if: isRoot, "only root becomes other users"))
  func `row 53: two users write to one audit log`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try Self.inTeam { directory, path in
        Self.become(Self.alice)
        let vault = try Vault.sample(at: path, options: Self.options("alice"))
        try vault.setAuditing(.failClosed)
        Self.become(Self.bob)
        let other = try Vault.opened(at: path, options: Self.options("bob"))
        try #require(try other.text("password") == "s3cret")
        try other.set("new", forKey: "password")
        Self.become(Self.alice)
        try #require(try vault.text("password") == "new")
        let names = try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.contains(".audit-") }
        try #require(names.count == 1)
        let log = try FileBytes.status(directory + "/" + names[0])
        let report = try vault.readAuditLog(of: vault.group())
        return log.st_gid == Self.team && log.st_mode & 0o7777 == 0o660 && report.findings.isEmpty
      }
    }
  }

  @Test(.enabled(if: isRoot, "only root becomes other users"))
  func `row 52: a user who is no member is refused, and a file of another group`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try Self.inTeam { directory, path in
        Self.become(Self.alice)
        _ = try Vault.sample(at: path, options: Self.options("alice"))
        Self.become(0)
        // So that the system lets each open the file.
        chmod(directory, 0o2775)
        chmod(path, 0o600)
        chown(path, Self.carol, Self.team)
        Self.become(Self.carol)
        let foreign = refusal { try Vault.opened(at: path, options: Self.options("carol")) }
        Self.become(0)
        chmod(path, 0o660)
        chown(path, Self.bob, gid_t(Self.bob))
        Self.become(Self.bob)
        let otherGroup = refusal { try Vault.opened(at: path, options: Self.options("bob")) }
        Self.become(0)
        chown(path, Self.alice, Self.team)
        Self.become(Self.bob)
        let strict = refusal { try Vault.opened(at: path, options: Self.options("bob", .strict)) }
        let text = try Vault.opened(at: path, options: Self.options("bob")).text("password")
        return foreign == .insecurePermissions && otherGroup == .insecurePermissions && strict == .insecurePermissions
          && text == "s3cret"
      }
    }
  }

  @Test func `row 53: a new file is for the group only where the group may write to the directory`() throws {
    try TemporaryDirectory.with { directory in
      _ = try Vault.sample(at: directory + "/own.spv", options: Self.options("own"))
      try setMode(0o2770, of: directory)
      let vault = try Vault.sample(at: directory + "/shared.spv", options: Self.options("shared"))
      try vault.backUp(to: directory + "/copy.spv")

      #expect(try mode(of: directory + "/own.spv") == 0o600)
      #expect(try mode(of: directory + "/shared.spv") == 0o660)
      #expect(try mode(of: directory + "/copy.spv") == 0o660)
    }
  }
}
