import Foundation
import Testing
import VaultCore
import VaultSealing

/// The answer of a vault to a health check.
struct VaultHealthTests {}

extension VaultHealthTests {
  private func withVault(_ body: (_ vault: Vault, _ path: String) throws -> Void) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      try body(try Vault.sample(at: path), path)
    }
  }

  private func status(_ health: VaultHealth) throws -> VaultStatus {
    guard case .ready(let status) = health else {
      throw VaultError(.locked, "the vault is not ready: \(health)")
    }
    return status
  }

  @Test func `an unlocked vault is ready, with the state that other handles wrote`() throws {
    try withVault { vault, path in
      #expect(try status(vault.health()).groups.map(\.recordCount) == [1])
      try Vault.opened(at: path).set("x", forKey: "another")

      let health = vault.health()

      #expect(health.isReady)
      #expect("\(health)" == "ready")
      #expect(try status(health).groups.map(\.recordCount) == [2])
    }
  }

  @Test func `a locked vault is locked until it is unlocked, whatever happens to its file`() throws {
    try withVault { vault, path in
      vault.lock()
      #expect("\(vault.health())" == "locked")
      #expect(!vault.health().isReady)
      let bytes = try Data(contentsOf: URL(filePath: path))
      unlink(path)
      #expect("\(vault.health())" == "locked")

      try bytes.write(to: URL(filePath: path))
      try setMode(0o600, of: path)
      try vault.unlock(with: .key(.sample()))

      #expect(vault.health().isReady)
    }
  }

  enum Damage: CaseIterable { case removed, accessible, cutShort, changed, otherVault }

  @Test(
    arguments: zip(Damage.allCases, ["notFound", "insecurePermissions", "damaged", "damaged", "credentialRejected"]))
  func `a file that cannot be read fails with its code, and is ready when it is back`(
    damage: Damage, code: String
  ) throws {
    try withVault { vault, path in
      let (kept, new) = (path + ".kept", path + ".new")
      try FileManager.default.copyItem(atPath: path, toPath: kept)
      var bytes = try Data(contentsOf: URL(filePath: path))
      switch damage {
      case .removed: unlink(path)
      case .accessible, .cutShort, .changed:
        if damage == .cutShort { bytes = Data(bytes.prefix(10)) }
        if damage == .changed { bytes[100] ^= 1 }
        try bytes.write(to: URL(filePath: new))
        try setMode(damage == .accessible ? 0o666 : 0o600, of: new)
        try #require(rename(new, path) == 0)
      case .otherVault:
        _ = try Vault.sample(at: new, options: .sample(seed: "other"))
        try #require(rename(new, path) == 0)
      }

      #expect("\(vault.health())" == "failing: \(code)")
      #expect(!vault.health().isReady)

      try #require(rename(kept, path) == 0)
      #expect(vault.health().isReady)
    }
  }

  @Test func `a holder whose slot was removed fails as credentialRejected`() throws {
    try SharedVault.with { shared in
      let holder = try shared.holder(of: "one")
      #expect(try status(holder.health()).groups.map(\.name) == [Vault.Name("one")])
      #expect(try status(shared.owner.health()).groups.count == 3)
      let slot = try #require(shared.owner.slots().first { $0.label == "one" })

      try shared.owner.removeSlot(slot.id)

      #expect("\(holder.health())" == "failing: credentialRejected")
      #expect(shared.owner.health().isReady)
    }
  }

  @Test func `a health check does not count as a use for the idle limit`() async throws {
    try await IdleLimitTests.Fixture.with { fixture in
      fixture.clock.jump(by: .seconds(6))
      #expect(fixture.vault.health().isReady)
      fixture.clock.jump(by: .seconds(6))

      #expect("\(fixture.vault.health())" == "locked")
      #expect(fixture.isLocked)
    }
  }

  @Test func `a look at the end of the journal does not count as a use for the idle limit`() async throws {
    try await IdleLimitTests.Fixture.with { fixture in
      fixture.clock.jump(by: .seconds(6))
      let isTorn = try fixture.vault.hasTornTail
      #expect(!isTorn)
      fixture.clock.jump(by: .seconds(6))

      #expect(refusal { _ = try fixture.vault.hasTornTail } == .locked)
      #expect(fixture.isLocked)
    }
  }
}
