import Foundation
import Glibc
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Owners that change slots, groups and keys while others read and write.
  struct RotationRaceTests {}
}

extension EveryStorage.RotationRaceTests {
  @Test(arguments: [false, true])
  func `a slot that another owner adds in between is not dropped unless others may be`(isRemoval: Bool) throws {
    try SharedVault.with { shared in
      try shared.owner.addSlot(NewSlot(.key(.sample(from: 9)), label: "removed"))
      let removed = try shared.slot("removed")
      let other = try shared.secondOwner()
      _ = try shared.owner.slots()
      try other.addSlot(NewSlot(.key(.sample(from: 8)), label: "new"))
      let rotate = { (mayDrop: Bool) in
        isRemoval
          ? try shared.owner.removeSlot(removed, droppingOthers: mayDrop)
          : try shared.owner.rotateVault(keeping: [.key(.sample(from: 9))], droppingOthers: mayDrop)
      }

      try expectRefused(.conflict, at: shared.path) { try rotate(false) }

      #expect(try rotate(true).droppedSlots.map(\.label) == ["new"])
    }
  }

  @Test(arguments: EveryStorage.RotationTests.Rotation.allCases)
  func `row 45: rotations lose no write of three holders, whose credentials still open`(
    rotation: EveryStorage.RotationTests.Rotation
  ) throws {
    try SharedVault.with(groups: ["default", "one", "two"], reserve: 4096) { shared in
      let writers = shared.groups.count
      let busy = Atomic<Int>(writers)
      let rotations = Atomic<Int>(0)
      try onThreads(writers + 3) { number in
        switch number {
        case 0..<writers:
          defer { busy.subtract(1, ordering: .releasing) }
          let group = shared.groups[number]
          let holder = try shared.holder(of: group, reserve: 4096)
          for value in 1...60 {
            try holder.set("\(value)", forKey: "counter", in: group)
            try holder.set("\(value)", forKey: "key-\(value)", in: group)
            if value % 20 == 0 { try holder.compact() }
          }
        case writers:
          // At least two, however busy the machine is.
          while busy.load(ordering: .acquiring) > 0 || rotations.load(ordering: .relaxed) < 2 {
            try rotation.run(shared.owner)
            rotations.add(1, ordering: .relaxed)
            // Some writes come between two rotations, as in life.
            usleep(2000)
          }
        default:
          let reader = number == writers + 1 ? try shared.secondOwner() : try shared.holder(of: "one", seed: "reader")
          var last = 0
          while busy.load(ordering: .acquiring) > 0 {
            let value = Int(try reader.text("counter", in: "one") ?? "0") ?? -1
            #expect(value >= last)
            last = value
          }
        }
      }

      #expect(rotations.load(ordering: .relaxed) > 1)
      let fresh = try Vault.opened(at: shared.path)
      for group in shared.groups {
        #expect(try fresh.text("counter", in: group) == "60")
        for value in 1...60 { #expect(try fresh.text("key-\(value)", in: group) == "\(value)") }
        #expect(try shared.holder(of: group).allKeys(in: group).count == 62)
        #expect(Int(try shared.epoch(of: group)) == rotations.load(ordering: .relaxed) + 1)
      }
    }
  }

  @Test func `synchronous and asynchronous updates of one handle lose nothing to rewrites of the same handle`()
    async throws
  {
    try await SharedVault.with(reserve: 4096) { shared in
      let owner = shared.owner
      async let blocking: Void = Task.detached {
        try onThreads(3) { writer in
          let group = shared.groups[writer]
          for number in 0..<20 { try owner.set("sync", forKey: "sync-\(number)", in: group) }
        }
      }.value
      async let rewrites: Void = Task.detached {
        try onThreads(2) { number in
          for round in 0..<6 {
            if number == 0 {
              try owner.rotate(owner.group(named: "one"))
              try owner.compact()
              try owner.createGroup("rotating \(round)")
            } else {
              let group = try owner.createGroup("new \(round)")
              let slot = try owner.addSlot(NewSlot(.key(.sample(from: 200)), label: "\(round)"), granting: group)
              try owner.renameGroup(group, to: "renamed \(round)")
              try owner.removeSlotWithoutRotation(slot)
            }
          }
        }
      }.value
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        for writer in 0..<4 {
          tasks.addTask {
            for number in 0..<10 {
              try await owner.transaction(service: Vault.Name("db"), in: owner.group(named: "one")) {
                batch throws(VaultError) in
                try batch.set("async", forKey: "async-\(writer)-\(number)")
              }
            }
          }
        }
        try await tasks.waitForAll()
      }
      try await blocking
      try await rewrites

      for vault in [owner, try Vault.opened(at: shared.path)] {
        for group in shared.groups { #expect(try vault.allKeys(in: group).count == (group == "one" ? 61 : 21)) }
        #expect(try vault.groups().count == 3 + 12)
        #expect(try vault.slots().count == 4)
      }
      #expect(try shared.epoch(of: "one") == 7)
    }
  }

  @Test func `owners on several handles lose nothing of each other's changes`() throws {
    try SharedVault.with(reserve: 4096) { shared in
      try onThreads(4) { number in
        let owner = try shared.secondOwner(seed: "owner \(number)")
        for round in 0..<5 {
          let group = try owner.createGroup("\(number) \(round)")
          try owner.addSlot(NewSlot(.key(.sample(from: UInt8(160 + number)))), granting: group)
          try owner.set("value", forKey: "a", in: group.name.text)
          if number == 0 { try owner.rotateVault() }
        }
      }

      let fresh = try Vault.opened(at: shared.path)
      #expect(try fresh.groups().count == 3 + 20)
      #expect(try fresh.slots().count == 4 + 20)
      for number in 0..<4 {
        for round in 0..<5 { #expect(try fresh.text("a", in: "\(number) \(round)") == "value") }
      }
    }
  }

  /// Runs both at once on one handle, the second queued behind the first, both behind a foreign lock.
  private static func inOrder(
    _ shared: SharedVault, _ first: @escaping @Sendable () throws -> Void,
    _ second: @escaping @Sendable () throws -> Void
  ) throws {
    let lock = try ForeignLock(on: shared.path)
    try onThreads(3) { number in
      switch number {
      case 0: try first()
      case 1:
        usleep(150_000)
        try second()
      default:
        usleep(300_000)
        lock.release()
      }
    }
  }

  @Test(arguments: EveryStorage.RotationTests.Rotation.allCases)
  func `a rotation that waits behind a replacement of the handle's own slot keeps slot and handle`(
    rotation: EveryStorage.RotationTests.Rotation
  ) throws {
    try SharedVault.with { shared in
      let new = try Vault.Credential.key(.sample(from: 200))
      try Self.inOrder(shared) {
        try shared.owner.replaceSlot(with: NewSlot(new))
      } _: {
        try rotation.run(shared.owner)
      }

      #expect(Vault.refusal(at: shared.path, new) == nil)
      try shared.owner.createGroup("later")
      #expect(try shared.owner.slots().count { $0.isCurrent } == 1)
    }
  }

  @Test(arguments: EveryStorage.RotationTests.Rotation.allCases)
  func `an update that waits behind a rotation is sealed again under the new key`(
    rotation: EveryStorage.RotationTests.Rotation
  ) throws {
    try SharedVault.with { shared in
      try Self.inOrder(shared) {
        try rotation.run(shared.owner)
      } _: {
        try shared.owner.set("after", forKey: "password", in: "one")
      }

      #expect(try Vault.opened(at: shared.path).text("password", in: "one") == "after")
      #expect(try shared.holder(of: "one").text("password", in: "one") == "after")
    }
  }

  @Test func `an update that waits behind the removal of its group is not granted`() throws {
    try SharedVault.with { shared in
      let group = try shared.owner.group(named: "one")
      let code = Mutex<VaultError.Code?>(nil)
      try Self.inOrder(shared) {
        try shared.owner.removeGroup(group)
      } _: {
        let found = refusal {
          try shared.owner.transaction(service: Vault.Name("db"), in: group) { batch throws(VaultError) in
            try batch.set("lost", forKey: "password")
          }
        }
        code.withLock { $0 = found }
      }

      #expect(code.withLock { $0 } == .groupNotGranted)
      #expect(try Vault.opened(at: shared.path).groupNames() == ["default", "two"])
    }
  }

  @Test func `an owner slot added while a rotation waits is kept or reported as dropped`() throws {
    try SharedVault.with { shared in
      let (other, new) = (try shared.secondOwner(), try Vault.Credential.key(.sample(from: 200)))
      let added = Mutex<Vault.Identifier?>(nil)
      let dropped = Mutex<[Vault.Identifier]>([])
      try Self.inOrder(shared) {
        let id = try other.addSlot(NewSlot(new))
        added.withLock { $0 = id }
      } _: {
        let report = try shared.owner.rotateVault()
        dropped.withLock { $0 = report.droppedSlots.map(\.id) }
      }

      let id = try #require(added.withLock { $0 })
      let isReported = dropped.withLock { $0.contains(id) }
      #expect(isReported != (Vault.refusal(at: shared.path, new) == nil))
    }
  }
}
