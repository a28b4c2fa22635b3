import DurableFiles
import Glibc
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// Locking, unlocking, and others at work meanwhile.
extension EveryStorage.LockTests {
  @Test func `isLocked is true after locking, and locking twice is locking once`() throws {
    try Fixture.with { fixture in
      #expect(!fixture.vault.isLocked)
      fixture.vault.lock()
      #expect(fixture.vault.isLocked)
      fixture.vault.lock()
      #expect(fixture.vault.isLocked)
      #expect(fixture.answers() == Fixture.locked)

      try fixture.vault.unlock(with: fixture.credential)

      #expect(!fixture.vault.isLocked)
      #expect(fixture.answers() == Fixture.unlocked)
      try fixture.set("written")
      #expect(try fixture.other().text("new") == "written")
    }
  }

  @Test(arguments: [true, false])
  func `others may have changed anything before the vault is unlocked`(isLocked: Bool) throws {
    try Fixture.with { fixture in
      let other = try fixture.other()
      let group = try fixture.vault.group()
      fixture.vault.recordChangesOfOthers(true)
      try other.set("x", forKey: "first")

      if isLocked { fixture.vault.lock() }
      try fixture.vault.unlock(with: fixture.credential)
      #expect(try fixture.vault.takeChangesOfOthers()[group] == .any)
      _ = try fixture.vault.allKeys()
      try other.set("x", forKey: "second")

      #expect(try fixture.vault.takeChangesOfOthers()[group] == .some([Vault.Name("db"): ["second"]]))
    }
  }

  @Test func `one handle's lock does not lock another`() throws {
    try Fixture.with { fixture in
      let other = try fixture.other()
      fixture.vault.lock()

      #expect(!other.isLocked)
      #expect(try other.text("whenUnlocked") == "loaded")
    }
  }

  @Test func `unlocking with a wrong credential is rejected and leaves what was kept`() throws {
    try Fixture.with { fixture in
      fixture.vault.lock()

      #expect(refusal { try fixture.vault.unlock(with: .passphrase("wrong")) } == .credentialRejected)
      #expect(refusal { try fixture.vault.unlock(with: .key(.sample(from: 1))) } == .credentialRejected)
      #expect(fixture.vault.isLocked)
      #expect(fixture.answers() == Fixture.locked)
    }
  }

  @Test func `unlocking an unlocked handle with a wrong credential leaves it unlocked`() throws {
    try Fixture.with { fixture in
      #expect(refusal { try fixture.vault.unlock(with: .key(.sample(from: 1))) } == .credentialRejected)

      #expect(!fixture.vault.isLocked)
      #expect(fixture.answers() == Fixture.unlocked)
    }
  }

  @Test(.filesOnly("removes the file"), arguments: [true, false])
  func `unlocking is tampered when another vault of the same key is at the path`(isLocked: Bool) throws {
    try Fixture.with { fixture in
      let original = try VaultBytes.read(fixture.path)
      try #require(unlink(fixture.path) == 0)
      let other = try Vault.sample(at: fixture.path, options: .sample(seed: "another vault"))
      try #require(try other.text("password") == "s3cret")
      if isLocked { fixture.vault.lock() }

      #expect(refusal { try fixture.vault.unlock(with: fixture.credential) } == .tampered)

      #expect(fixture.vault.isLocked == isLocked)
      if isLocked { #expect(fixture.answers() == Fixture.locked) }
      try VaultBytes.write(original, to: fixture.path)
      try fixture.vault.unlock(with: fixture.credential)
      #expect(fixture.answers() == Fixture.unlocked)
    }
  }

  @Test func `unlocking with another credential grants what that one grants`() throws {
    try SharedVault.with { shared in
      let vault = try shared.secondOwner()
      let groups = try vault.groups()
      for group in ["one", "two"] {
        vault.lock()
        try vault.unlock(with: shared.credential(of: group))
        #expect(try vault.groupNames() == [group])
        #expect(try vault.text("password", in: group) == "s3cret")
        #expect(refusal { try vault.slots() } == .ownerRequired)
        #expect(refusal { try vault.rotateVault() } == .ownerRequired)
        let codes = groups.map { group in refusal { try vault.records(in: group) } }
        #expect(codes.count { $0 == .groupNotGranted } == 2)
      }

      try vault.unlock(with: .key(.sample()))
      #expect(try vault.groupNames() == ["default", "one", "two"])
      #expect(try vault.slots().count == 4)
    }
  }

  @Test(arguments: [true, false])
  func `row 69: a handle whose slot was replaced reads what is afterFirstUnlock, and unlocks with the new credential`(
    isLocked: Bool
  ) throws {
    try Fixture.with { fixture in
      let (vault, new) = (fixture.vault, try Vault.Credential.passphrase("new"))
      let owner = try fixture.other()
      try owner.replaceSlot(with: NewSlot(new, cost: .throwaway))
      try owner.set("now", forKey: "afterFirstUnlock", as: nil)
      if isLocked { vault.lock() }

      // Others' writes are not seen, and nothing is written.
      let code = isLocked ? "locked" : "credentialRejected"
      #expect(fixture.answers() == [code, "loaded", code, "loaded"])
      #expect(fixture.answers(in: fixture.unused) == [code, "loaded", code, "loaded"])
      try expectRefused(VaultError.Code(rawValue: code), at: fixture.path) { try fixture.set("lost") }
      #expect(refusal { try vault.records(in: fixture.group) } == VaultError.Code(rawValue: code))
      #expect(refusal { try vault.unlock(with: fixture.credential) } == .credentialRejected)
      #expect(fixture.answers() == [code, "loaded", code, "loaded"])
      #expect(vault.isLocked == isLocked)

      try vault.unlock(with: new)

      #expect(fixture.answers() == ["loaded", "now", "loaded", "loaded"])
      try fixture.set("written")
      #expect(try owner.text("new") == "written")
    }
  }

  @Test func `row 69: a holder whose slot a rotation dropped reads what is afterFirstUnlock`() throws {
    try SharedVault.with { shared in
      try shared.owner.set("loaded", forKey: "kept", in: "one", as: .afterFirstUnlock)
      let holder = try shared.holder(of: "one")
      let (group, service) = (try holder.group(named: "one"), try Vault.Name("db"))
      _ = try holder.status()
      try shared.owner.removeSlot(shared.slot("one"))

      let value = try holder.withValue(service: service, key: "kept", in: group) { String($1) }
      #expect(value == "loaded")
      #expect(
        refusal { try holder.withValue(service: service, key: "password", in: group) { _, _ in } }
          == .credentialRejected)
      #expect(refusal { try holder.kind(service: service, key: "nothing", in: group) } == .credentialRejected)
    }
  }

  // MARK: While others are at work

  @Test func `a value that is lent when lock() comes stays readable until it is given back`() throws {
    try Fixture.with { fixture in
      let lent = try fixture.vault.withValue(service: fixture.service, key: "whenUnlocked", in: fixture.group) {
        fixture.vault.lock()
        return String($1)
      }

      #expect(lent == "loaded")
      #expect(fixture.answers() == Fixture.locked)
    }
  }

  @Test func `lock() while eight threads read and write loses no acknowledged write`() throws {
    try Fixture.with { fixture in
      let written = Mutex([Int](repeating: 0, count: 5))
      let reads = Atomic<Int>(0)
      let hasLocked = Atomic<Bool>(false)
      try onThreads(9) { number throws in
        /// Waits until the lock is taken.
        func repeating(_ body: () throws -> Void) {
          while !hasLocked.load(ordering: .acquiring) {
            guard let code = refusal(of: body) else { continue }
            #expect(code == .locked)
            hasLocked.store(true, ordering: .releasing)
          }
        }
        switch number {
        case 0..<5:
          repeating {
            let count = written.withLock { $0[number] } + 1
            try fixture.set("\(count)", forKey: "writer \(number)")
            written.withLock { $0[number] = count }
            // One of them by full writes, too.
            if number == 4 { try fixture.vault.compact() }
          }
        case 5..<8:
          repeating { () throws in
            #expect(try fixture.value("afterFirstUnlock") == "loaded")
            #expect(try fixture.value("whenUnlocked") == "loaded")
            reads.add(1, ordering: .relaxed)
          }
        default:
          while !hasLocked.load(ordering: .acquiring),
            written.withLock({ $0.contains { $0 < 5 } }) || reads.load(ordering: .relaxed) < 10
          { usleep(500) }
          fixture.vault.lock()
          hasLocked.store(true, ordering: .releasing)
        }
      }

      #expect(fixture.vault.isLocked)
      #expect(fixture.answers() == Fixture.locked)
      try fixture.vault.unlock(with: fixture.credential)
      for (number, count) in written.withLock({ $0 }).enumerated() {
        #expect(try fixture.value("writer \(number)") == "\(count)")
      }
    }
  }

  /// Runs `body` while a rotation of the handle is under way: the keys are made, and nothing is written yet.
  static func duringRotation(
    _ body: @escaping @Sendable (Fixture) throws -> Void, _ after: (Fixture) throws -> Void
  ) throws {
    let (began, goesOn) = (Gate<Bool>(), Gate<Bool>())
    let isFirst = Atomic<Bool>(true)
    try Fixture.with({ options in
      options.progress = { _ in
        guard isFirst.exchange(false, ordering: .relaxed) else { return }
        began.open(true)
        _ = goesOn.wait()
      }
    }) { fixture in
      try onThreads(2) { number in
        if number == 0 {
          defer { began.open(true) }
          try fixture.vault.rotateVault()
        } else {
          _ = began.wait()
          defer { goesOn.open(true) }
          try body(fixture)
        }
      }
      try after(fixture)
    }
  }

  @Test func `a full write that is under way when lock() comes ends, and the handle stays locked`() throws {
    try Self.duringRotation({ fixture in
      fixture.vault.lock()
      #expect(fixture.vault.isLocked)
    }) { fixture in
      #expect(fixture.vault.isLocked)
      #expect(fixture.answers() == Fixture.locked)
      let other = try fixture.other()
      #expect(try other.status().groups.map(\.epoch) == [2, 2])
      try fixture.vault.unlock(with: fixture.credential)
      #expect(fixture.answers() == Fixture.unlocked)
    }
  }

  @Test func `a full write that is under way when the handle is locked and unlocked ends, and the handle works`()
    throws
  {
    try Self.duringRotation({ fixture in
      fixture.vault.lock()
      try fixture.vault.unlock(with: fixture.credential)
    }) { fixture in
      #expect(fixture.answers() == Fixture.unlocked)
      #expect(try fixture.vault.status().groups.map(\.epoch) == [2, 2])
      try fixture.set("written")
      #expect(try fixture.other().text("new") == "written")
    }
  }

  @Test(arguments: [true, false])
  func `a full write that is under way does not undo an unlocking with another credential`(locks: Bool) throws {
    let (began, goesOn) = (Gate<Bool>(), Gate<Bool>())
    try SharedVault.with { shared in
      var options = Vault.Options.sample(seed: "rotating")
      options.progress = { _ in
        began.open(true)
        _ = goesOn.wait()
      }
      let vault = try Vault.opened(at: shared.path, options: options)
      try onThreads(2) { number throws in
        if number == 0 {
          defer { began.open(true) }
          try vault.rotateVault()
        } else {
          _ = began.wait()
          defer { goesOn.open(true) }
          if locks { vault.lock() }
          try vault.unlock(with: shared.credential(of: "one"))
        }
      }

      #expect(try vault.groupNames() == ["one"])
      #expect(refusal { try vault.slots() } == .ownerRequired)
      #expect(try shared.epoch(of: "one") == 2)
    }
  }
}
