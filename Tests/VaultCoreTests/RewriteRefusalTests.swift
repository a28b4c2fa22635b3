import Foundation
import Glibc
import Testing
import VaultSealing
import VaultCore

/// Owners' rewrites where the system is against them: refused by class, nothing changed, and fine afterwards.
struct RewriteRefusalTests {
  enum Rewrite: String, CaseIterable, Sendable {
    case addSlot, replaceSlot, createGroup, renameGroup, rotate, rotateVault, compact

    func run(_ vault: Vault, _ group: AccessGroup) throws {
      switch self {
      case .addSlot: try vault.addSlot(NewSlot(.key(.sample(from: 200))))
      case .replaceSlot: try vault.replaceSlot(with: NewSlot(.key(.sample())))
      case .createGroup: try vault.createGroup("new")
      case .renameGroup: try vault.renameGroup(group, to: "renamed")
      case .rotate: try vault.rotate(group)
      case .rotateVault: try vault.rotateVault()
      case .compact: try vault.compact()
      }
    }
  }

  @Test(arguments: Rewrite.allCases)
  func `row 51: with a second hard link a rewrite is refused`(rewrite: Rewrite) throws {
    try SharedVault.with { shared in
      let group = try shared.owner.group()
      try #require(link(shared.path, shared.path + ".second") == 0)
      try expectRefused(.hardLinked, at: shared.path) { try rewrite.run(shared.owner, group) }

      unlink(shared.path + ".second")
      try rewrite.run(shared.owner, group)
      #expect(try Vault.refusal(at: shared.path, .key(.sample())) == nil)
    }
  }

  @Test(arguments: Rewrite.allCases)
  func `row 56: a rewrite of a vault that was deleted is not found and recreates nothing`(rewrite: Rewrite) throws {
    try SharedVault.with { shared in
      let group = try shared.owner.group()
      unlink(shared.path)

      #expect(refusal { try rewrite.run(shared.owner, group) } == .notFound)
      #expect(access(shared.path, F_OK) != 0)
      #expect(leavesNothing(beside: shared.path))
    }
  }

  @Test(arguments: Rewrite.allCases)
  func `row 46: a rewrite that waits too long for the lock is a lockTimeout, and a later one succeeds`(
    rewrite: Rewrite
  ) throws {
    try SharedVault.with { shared in
      var options = Vault.Options.sample(seed: "impatient")
      options.lockTimeout = .milliseconds(50)
      let vault = try Vault.opened(at: shared.path, options: options)
      let group = try vault.group()
      let lock = try ForeignLock(on: shared.path)
      try expectRefused(.lockTimeout, at: shared.path) { try rewrite.run(vault, group) }

      lock.release()
      try rewrite.run(vault, group)
      #expect(try Vault.refusal(at: shared.path, .key(.sample())) == nil)
    }
  }

  @Test(arguments: Rewrite.allCases)
  func `row J4: a rewrite refuses a journal damaged in the middle`(rewrite: Rewrite) throws {
    try SharedVault.with { shared in
      for number in 0..<2 { try shared.owner.set("entry", forKey: "key-\(number)") }
      let (owner, group) = try (shared.secondOwner(), shared.owner.group())
      _ = try owner.status()
      var parts = try shared.parts
      parts.entries[0] = parts.entries[0].flipping(bit: 0, at: 100)
      try FileBytes.write(parts.file, to: shared.path)

      try expectRefused(.damaged, at: shared.path) { try rewrite.run(owner, group) }
    }
  }

  @Test(arguments: Rewrite.allCases)
  func `row 53: a rewrite keeps mode 0600 and leaves no temporary file`(rewrite: Rewrite) throws {
    try SharedVault.with { shared in
      try rewrite.run(shared.owner, shared.owner.group())

      #expect(try mode(of: shared.path) == 0o600)
      #expect(leavesNothing(beside: shared.path))
    }
  }
}
