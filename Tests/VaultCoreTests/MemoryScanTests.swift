import CVaultSodium
import Foundation
import Glibc
import VaultMemorySearching
import Synchronization
import Testing

@testable import VaultCore
@testable import VaultSealing

/// Rows 61 and 66: what a process that uses a vault leaves in its memory. Each test has a process of its own, which has
/// seen nothing of the vault before.
struct MemoryScanTests {
  /// The keys that an unlocked handle holds.
  private static let keys = ["vault key", "slot key", "default ", "other ", "device key"]

  @Test func `a secret that is left in memory is found, and a piece of eight bytes, too`() async throws {
    try await SearchedVault.with { directory in
      await #expect(processExitsWith: .success) { [directory = directory as String] in
        let searched = try SearchedVault(directory)
        let before = try searched.strays()
        let copy = try #require(mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        let file = Glibc.open(directory + "/passphrase", O_RDONLY)
        let count = Glibc.read(file, copy + 100, 24)
        let whole = try searched.strays()
        memset(copy + 100, 0, 4)
        memset(copy + 112, 0, 12)
        let piece = try searched.strays()
        memset(copy + 104, 0, 1)
        let nothing = try searched.strays()

        #expect(before == [], "\(before)")
        #expect(count == 24)
        #expect(whole.map(\.secret) == ["passphrase"], "\(whole)")
        #expect(whole.map(\.count) == [16], "\(whole)")
        #expect(piece.map(\.count) == [8], "\(piece)")
        #expect(nothing == [], "\(nothing)")
      }
    }
  }

  @Test func `item 120: an unlocked vault has its keys on a guarded page, and no passphrase and no value anywhere`()
    async throws
  {
    try await SearchedVault.with { directory in
      await #expect(processExitsWith: .success) { [directory = directory as String] in
        let searched = try SearchedVault(directory)
        var strays: [String] = []
        func look(after step: String) throws {
          // Names are wiped when they are released; while the vault is unlocked they are in memory.
          for find in try searched.strays(except: MemoryScanTests.keys) where find.secret != "name of a record" {
            strays.append("after \(step): \(find)")
          }
        }
        let vault = try searched.open()
        try look(after: "opening")
        for value in SearchedVault.values {
          try searched.read(value.key, value.count, vault)
          try look(after: "reading")
        }
        // The stack of a thread that has ended stays in memory.
        try onThreads(1) { _ in try searched.read("short", 12, vault) }
        try look(after: "reading in a thread")
        try searched.set(vault, searched.fresh("new value"))
        try look(after: "setting")
        _ = try vault.verify()
        try look(after: "verifying")
        try vault.compact()
        try look(after: "compacting")
        try searched.readAll(vault)
        let found = try searched.found()
        let flags = Mapping.flags(at: try searched.keyPage())

        #expect(strays == [], "\(strays)")
        let expected: Set = ["vault key", "slot key", "default group key", "default class key 0", "device key"]
        #expect(found.isSuperset(of: expected), "\(found)")
        // Locked in memory, and left out of core dumps.
        #expect(flags.contains("lo") && flags.contains("dd"), "\(flags)")
        withExtendedLifetime(vault) {}
      }
    }
  }

  @Test func `a full write has the keys of group slots in locked memory only`() async {
    await #expect(processExitsWith: .success) {
      try TemporaryDirectory.with { directory in
        let search = MemorySearch()
        let isArmed = Atomic(false)
        let searches = Tally()
        let strays = Mutex<[String]>([])
        var options = Vault.Options()
        // Called for each seal, while its message is in memory.
        options.random = RandomSource { bytes in
          RandomSource.system.fill(bytes)
          guard isArmed.load(ordering: .relaxed) else { return }
          searches.count.add(1, ordering: .relaxed)
          for find in (try? search.finds()) ?? [] where !Mapping.flags(at: find.address).contains("lo") {
            strays.withLock { $0.append("\(find)") }
          }
        }
        let vault = try Vault.create(
          at: directory + "/vault.spv", slots: [NewSlot(.key(SealingKey(from: .system)))], options: options)
        let credential = try Vault.Credential.key(SealingKey(from: .system))
        let slot = try vault.addSlot(NewSlot(credential), granting: vault.group())
        let stored = try vault.handle.loaded.withLock { try $0.state.snapshot.slots }.first { $0.id == slot }
        try search.note { search in
          try search.addCredential(credential, of: #require(stored), in: vault, prefix: "holder ")
        }

        isArmed.store(true, ordering: .relaxed)
        try vault.createGroup("new")
        isArmed.store(false, ordering: .relaxed)

        #expect(searches.count.load(ordering: .relaxed) >= 2)
        #expect(strays.withLock(\.self) == [])
      }
    }
  }

  @Test func `an asynchronous update leaves nothing of its value`() async throws {
    try await SearchedVault.with { directory in
      await #expect(processExitsWith: .success) { [directory = directory as String] in
        let searched = try SearchedVault(directory)
        let vault = try searched.open()
        let (service, group) = (try Vault.Name("db"), try vault.group())
        let value = try searched.fresh("new value")
        try await vault.transaction(service: service, in: group) { (batch) throws(VaultError) in
          try value.bytes.withSpan { (bytes) throws(VaultError) in
            try batch.set(bytes, kind: .data, forKey: "new")
          }
        }
        let own = value.bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress!) }
        let strays = try searched.strays(except: MemoryScanTests.keys).filter {
          $0.secret != "name of a record" && $0.address & ~4095 != own & ~4095
        }

        #expect(strays == [], "\(strays)")
        withExtendedLifetime(vault) {}
      }
    }
  }

  @Test func `row 61: a locked vault has the keys of what stays readable, and no other secret and no name`()
    async throws
  {
    try await SearchedVault.with { directory in
      await #expect(processExitsWith: .success) { [directory = directory as String] in
        let searched = try SearchedVault(directory)
        let kept = ["default class key 1", "default class key 3", "device key"]
        let vault = try searched.open()
        var strays: [MemorySearch.Find] = []
        var found: [Set<String>] = []
        // Locking wipes what was taken, too.
        var taken: [ServiceRecords] = []
        for round in 0..<2 {
          if round > 0 { try vault.unlock(with: searched.key()) }
          try searched.readAll(vault)
          try searched.set(vault, searched.fresh("new value"))
          taken.append(try vault.takeRecords(service: Vault.Name("db"), in: vault.group()))
          vault.lock()
          strays += try searched.strays(except: kept)
          found.append(try searched.found())
        }

        #expect(strays == [], "\(strays)")
        #expect(found == [Set(kept), Set(kept)], "\(found)")
        withExtendedLifetime((vault, taken)) {}
      }
    }
  }

  @Test func `item 120: after the last reference is released nothing is left`() async throws {
    try await SearchedVault.with { directory in
      await #expect(processExitsWith: .success) { [directory = directory as String] in
        let searched = try SearchedVault(directory)
        for isLocked in [false, true] {
          let vault = try searched.open()
          try searched.readAll(vault)
          try searched.set(vault, searched.fresh("new value"))
          if isLocked { vault.lock() }
        }
        let strays = try searched.strays()

        #expect(strays == [], "\(strays)")
      }
    }
  }

  @Test func `after a wrong passphrase nothing of it is left`() async throws {
    try await SearchedVault.with { directory in
      await #expect(processExitsWith: .success) { [directory = directory as String] in
        let searched = try SearchedVault(directory)
        let code = try searched.refusal("wrong")
        let strays = try searched.strays()

        #expect(code == .credentialRejected)
        #expect(strays == [], "\(strays)")
      }
    }
  }

  @Test func `after a rotation and a change of the passphrase only the new keys are left`() async throws {
    try await SearchedVault.with { directory in
      await #expect(processExitsWith: .success) { [directory = directory as String] in
        let searched = try SearchedVault(directory)
        let vault = try searched.open()
        try searched.readAll(vault)
        try vault.rotateVault()
        try searched.replaceSlot(vault)
        try searched.search.note { search in try search.addKeys(of: vault, prefix: "new ") }
        let strays = try searched.strays(except: ["new ", "device key"])
        let found = try searched.found()

        #expect(strays.allSatisfy { $0.secret == "name of a record" }, "\(strays)")
        #expect(found.isSuperset(of: ["new vault key", "new slot key", "new default group key"]), "\(found)")
        withExtendedLifetime(vault) {}
      }
    }
  }
}
