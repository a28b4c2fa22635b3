import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// A vault that locks by itself: `idleLimit` of its options, on a clock of the test's.
struct IdleLimitTests {}

extension IdleLimitTests {
  struct Fixture: Sendable {
    let vault: Vault
    let clock: ManualClock
    let path: String
    let group: AccessGroup

    static let limit = Duration.seconds(10)

    static func with(
      limit: Duration? = limit, unlockLimit: Duration? = nil, _ body: (Fixture) async throws -> Void
    ) async throws {
      try await TemporaryDirectory.with { directory in
        let (clock, path) = (ManualClock(), directory + "/vault.spv")
        var options = Vault.Options.sample(reserve: 32 << 10)
        (options.idleLimit, options.unlockLimit, options.clock) = (limit, unlockLimit, clock)
        let vault = try Vault.sample(at: path, options: options)
        try vault.set("kept", forKey: "kept", as: .afterFirstUnlock)
        try await body(Fixture(vault: vault, clock: clock, path: path, group: vault.group()))
      }
    }

    /// Whether the keys are wiped, without a call of the vault, which would read the clock.
    var isLocked: Bool { vault.handle.loaded.withLock { $0.isLocked } }

    /// Waits until the watch sleeps up to these times.
    func sleeps(until deadlines: Duration...) async throws {
      while clock.deadlines != deadlines { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Waits until the vault has locked by itself.
    func locks() async throws {
      while !isLocked { try await Task.sleep(for: .milliseconds(1)) }
    }

    func value(_ key: String) throws(VaultError) -> String? {
      try vault.withValue(service: Vault.Name("db"), key: key, in: group) { String($1) }
    }
  }

  @Test func `the vault locks by itself at the limit, and not before`() async throws {
    try await Fixture.with { fixture in
      try await fixture.sleeps(until: .seconds(10))
      fixture.clock.advance(by: .seconds(10) - .nanoseconds(1))
      #expect(!fixture.vault.isLocked)
      #expect(fixture.clock.deadlines == [.seconds(10)])

      fixture.clock.advance(by: .nanoseconds(1))

      try await fixture.locks()
      #expect(fixture.vault.isLocked)
      #expect(refusal { try fixture.value("password") } == .locked)
      #expect(try fixture.value("kept") == "kept")
      #expect(fixture.clock.deadlines.isEmpty)
    }
  }

  @Test func `a vault that is used all the time locks when it has been unlocked for so long`() async throws {
    try await Fixture.with(unlockLimit: .seconds(25)) { fixture in
      try await fixture.sleeps(until: .seconds(10), .seconds(25))
      for _ in 0..<4 {
        fixture.clock.jump(by: .seconds(6))
        #expect(try fixture.value("password") == "s3cret")
      }
      fixture.clock.jump(by: .seconds(1))

      #expect(refusal { try fixture.value("password") } == .locked)
      #expect(try fixture.value("kept") == "kept")
    }
  }

  @Test func `a vault that is unlocked while the watch finds its limit expired stays unlocked`() async throws {
    try await Fixture.with { fixture in
      try await fixture.sleeps(until: .seconds(10))
      let isUnlocked = Atomic<Bool>(false)
      fixture.clock.whenNextAsked {
        // The watch has read when the limit began, and not yet what time it is.
        do { try fixture.vault.unlock(with: .key(.sample())) } catch { Issue.record(error) }
        isUnlocked.store(true, ordering: .sequentiallyConsistent)
      }

      fixture.clock.advance(by: .seconds(10))

      while !isUnlocked.load(ordering: .sequentiallyConsistent) { try await Task.sleep(for: .milliseconds(1)) }
      try await fixture.sleeps(until: .seconds(20))
      #expect(!fixture.isLocked)
      #expect(try fixture.value("password") == "s3cret")
    }
  }

  @Test func `an unlock limit locks without a call, and unlocking starts it anew`() async throws {
    try await Fixture.with(limit: nil, unlockLimit: .seconds(25)) { fixture in
      try await fixture.sleeps(until: .seconds(25))
      fixture.clock.advance(by: .seconds(25))
      try await fixture.locks()

      try await fixture.vault.unlock(with: .key(.sample()))

      try await fixture.sleeps(until: .seconds(50))
      fixture.clock.advance(by: .seconds(24))
      #expect(try fixture.value("password") == "s3cret")
    }
  }

  @Test func `a limit that ends while a new credential is looked for leaves the vault locked`() async throws {
    try await Fixture.with { fixture in
      let key = try SealingKey.sample()

      let isUnlocked = try await fixture.vault.unlockAgain { () throws(VaultError) in
        fixture.clock.jump(by: .seconds(10))
        return .key(key)
      }

      #expect(!isUnlocked)
      #expect(fixture.isLocked)
    }
  }

  @Test func `unlocking again with a new credential restarts no limit`() async throws {
    try await Fixture.with(unlockLimit: .seconds(10)) { fixture in
      let key = try SealingKey.sample()

      let isUnlocked = try await fixture.vault.unlockAgain { () throws(VaultError) in
        fixture.clock.jump(by: .seconds(6))
        return .key(key)
      }

      #expect(isUnlocked)
      fixture.clock.jump(by: .seconds(4) - .nanoseconds(1))
      #expect(!fixture.vault.isLocked)
      fixture.clock.jump(by: .nanoseconds(1))
      #expect(fixture.vault.isLocked)
    }
  }

  /// Every kind of use of an unlocked vault.
  enum Use: String, CaseIterable, Sendable {
    case value, kind, record, absent, groupNamed, groups, records, keys, status, slots, verify, backUp
    case set, removeNothing, createGroup, renameGroup, removeGroup, compact, rotate, rotateVault
    case addSlot, replaceSlot, removeSlot, removeSlotWithoutRotation

    func run(_ fixture: Fixture, _ slot: Vault.Identifier) throws {
      let (vault, group, service) = (fixture.vault, fixture.group, try Vault.Name("db"))
      switch self {
      case .value: _ = try fixture.value("password")
      case .kind: _ = try vault.kind(service: service, key: "password", in: group)
      case .record: _ = try vault.record(service: service, key: "password", in: group)
      case .absent: _ = try fixture.value("nothing")
      case .groupNamed: _ = try vault.group()
      case .groups: _ = try vault.groups()
      case .records: _ = try vault.records(in: group)
      case .keys: _ = try vault.keys(service: service, in: group)
      case .status: _ = try vault.status()
      case .slots: _ = try vault.slots()
      case .verify: _ = try vault.verify()
      case .backUp: try vault.backUp(to: fixture.path + ".backup")
      case .set:
        try vault.transaction(service: service, in: group) { batch throws(VaultError) in
          try batch.set("v", forKey: "new")
        }
      case .removeNothing:
        try vault.transaction(service: service, in: group) { batch throws(VaultError) in try batch.remove("nothing") }
      case .createGroup: try vault.createGroup("new")
      case .renameGroup: try vault.renameGroup(group, to: "renamed")
      case .removeGroup: try vault.removeGroup(group)
      case .compact: try vault.compact()
      case .rotate: try vault.rotate(group)
      case .rotateVault: try vault.rotateVault()
      case .addSlot: try vault.addSlot(NewSlot(.key(.sample(from: 9))))
      case .replaceSlot: try vault.replaceSlot(slot, with: NewSlot(.key(.sample(from: 9))))
      case .removeSlot: try vault.removeSlot(slot)
      case .removeSlotWithoutRotation: try vault.removeSlotWithoutRotation(slot)
      }
    }
  }

  @Test(arguments: Use.allCases)
  func `every use postpones the lock`(use: Use) async throws {
    try await Fixture.with { fixture in
      let slot = try await fixture.vault.addSlot(NewSlot(.key(.sample(from: 40))))
      try await fixture.sleeps(until: .seconds(10))
      fixture.clock.advance(by: .seconds(6))
      try use.run(fixture, slot)

      fixture.clock.advance(by: .seconds(4))

      try await fixture.sleeps(until: .seconds(16))
      #expect(!fixture.vault.isLocked)
      fixture.clock.advance(by: .seconds(6))
      try await fixture.locks()
    }
  }

  @Test(arguments: Use.allCases)
  func `after the machine has slept through the limit every use is locked, and writes nothing`(use: Use) async throws {
    try await Fixture.with { fixture in
      let slot = try await fixture.vault.addSlot(NewSlot(.key(.sample(from: 40))))
      try await fixture.sleeps(until: .seconds(10))

      fixture.clock.jump(by: .seconds(10))

      #expect(!fixture.isLocked)
      try expectRefused(.locked, at: fixture.path) { try use.run(fixture, slot) }
      #expect(fixture.isLocked)
    }
  }

  @Test func `after the machine has slept through the limit isLocked is true`() async throws {
    try await Fixture.with { fixture in
      try await fixture.sleeps(until: .seconds(10))

      fixture.clock.jump(by: .seconds(10))

      #expect(fixture.vault.isLocked)
    }
  }

  @Test func `after the machine has slept for less than the limit the vault is used as before`() async throws {
    try await Fixture.with { fixture in
      try await fixture.sleeps(until: .seconds(10))

      fixture.clock.jump(by: .seconds(9))

      #expect(try fixture.value("password") == "s3cret")
      fixture.clock.advance(by: .seconds(1))
      try await fixture.sleeps(until: .seconds(19))
    }
  }

  @Test func `asking whether it is locked is no use`() async throws {
    try await Fixture.with { fixture in
      try await fixture.sleeps(until: .seconds(10))
      fixture.clock.advance(by: .seconds(9))
      #expect(!fixture.vault.isLocked)

      fixture.clock.advance(by: .seconds(1))

      try await fixture.locks()
    }
  }

  @Test func `unlocking starts the limit anew`() async throws {
    try await Fixture.with { fixture in
      try await fixture.sleeps(until: .seconds(10))
      fixture.clock.advance(by: .seconds(100))
      try await fixture.locks()

      try await fixture.vault.unlock(with: .key(.sample()))

      try await fixture.sleeps(until: .seconds(110))
      #expect(!fixture.vault.isLocked)
      #expect(try fixture.value("password") == "s3cret")
      fixture.clock.advance(by: .seconds(10))
      try await fixture.locks()
    }
  }

  @Test func `a watch of before an unlocking does not lock any more`() async throws {
    try await Fixture.with { fixture in
      try await fixture.sleeps(until: .seconds(10))
      fixture.clock.advance(by: .seconds(5))
      fixture.vault.lock()
      fixture.clock.advance(by: .seconds(1))

      try await fixture.vault.unlock(with: .key(.sample()))

      try await fixture.sleeps(until: .seconds(16))
      fixture.clock.advance(by: .seconds(4))
      #expect(!fixture.vault.isLocked)
      fixture.clock.advance(by: .seconds(6))
      try await fixture.locks()
    }
  }

  @Test func `a query while a handle is being unlocked does not lock it again`() async throws {
    try await Fixture.with { fixture in
      try await fixture.sleeps(until: .seconds(10))
      fixture.clock.advance(by: .seconds(10))
      try await fixture.locks()
      fixture.clock.whenNextAsked { _ = fixture.vault.isLocked }

      try await fixture.vault.unlock(with: .key(.sample()))

      #expect(!fixture.isLocked)
      #expect(try fixture.value("password") == "s3cret")
    }
  }

  @Test func `a released vault is freed although its limit is far away, and no thread watches it`() async throws {
    try await TemporaryDirectory.with { directory in
      let clock = ManualClock()
      var options = Vault.Options.sample()
      (options.idleLimit, options.clock) = (.seconds(1_000_000), clock)
      var vault: Vault? = try Vault.sample(at: directory + "/vault.spv", options: options)
      let isFreed = { [weak handle = vault?.handle] in handle == nil }
      while clock.deadlines.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
      #expect(!isFreed())

      vault = nil

      #expect(isFreed())
      while !clock.deadlines.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    }
  }

  @Test func `reading a revision for the observers is not a use`() async throws {
    try await Fixture.with { fixture throws in
      fixture.clock.advance(by: .seconds(9))
      #expect(try fixture.vault.revisions(service: Vault.Name("db"), keys: ["password"], in: fixture.group).count == 1)
      fixture.clock.advance(by: .seconds(1))

      #expect(fixture.vault.isLocked)
    }
  }

  @Test func `without a limit the vault never locks by itself and no thread watches it`() async throws {
    try await Fixture.with(limit: nil) { fixture throws in
      fixture.clock.advance(by: .seconds(1_000_000_000))

      #expect(!fixture.vault.isLocked)
      #expect(try fixture.value("password") == "s3cret")
      #expect(fixture.clock.deadlines.isEmpty)
    }
  }

  @Test func `a write that takes longer than the limit ends, and the vault is locked then`() throws {
    try TemporaryDirectory.with { directory in
      let (clock, path) = (ManualClock(), directory + "/vault.spv")
      var options = Vault.Options.sample()
      (options.idleLimit, options.clock) = (.seconds(10), clock)
      options.progress = { _ in clock.advance(by: .seconds(10)) }
      let vault = try Vault.sample(at: path, options: options)

      try vault.rotateVault()

      #expect(vault.isLocked)
      #expect(try Vault.opened(at: path).status().groups.map(\.epoch) == [2])
    }
  }
}
