import Foundation
import Glibc
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// What raises a mark, and what becomes of one that cannot be written.
extension EveryStorage.MarkTests {
  @Test func `a vault that went on is accepted, and opening raises the mark`() throws {
    try SharedVault.withMark { shared in
      let before = try RollbackMark(at: shared.mark)
      try shared.owner.set("v", forKey: "user")
      try shared.owner.compact()
      try shared.owner.set("v", forKey: "user", in: "two")

      let vault = try shared.markedOwner()

      #expect(vault.markFailure == nil)
      let raised = try RollbackMark(at: shared.mark)
      #expect(try raised == shared.owner.currentMark())
      #expect(raised != before)
    }
  }

  /// A state of the vault that went on otherwise until this generation, with different contents.
  private func otherState(_ vault: Vault, at generation: UInt64) throws -> RollbackMark {
    let lines = try vault.currentMark().text.split(separator: "\n").map { line -> String in
      var words = line.split(separator: " ").map(String.init)
      guard ["owner", "group"].contains(words[0]) else { return "\(line)\n" }
      words[words.count - 2] = "\(generation)"
      words[words.count - 1] = String(repeating: "0", count: words[words.count - 1].count)
      return words.joined(separator: " ") + "\n"
    }
    return try RollbackMark(parsing: Array(lines.joined().utf8))
  }

  @Test(arguments: [1, 50, UInt64(Int64.max) - 1])
  func `a full write goes above the state of another copy, and holders open it`(_ generation: UInt64) throws {
    try SharedVault.with { shared in
      let other = try otherState(shared.owner, at: generation)
      let before = try shared.owner.records(in: shared.owner.group(named: "one"))
      try shared.owner.raise(above: other)

      let raised = try shared.owner.currentMark()
      #expect(throws: Never.self) { try other.check(raised) }
      #expect(raised.groups.values.allSatisfy { $0.generation == generation + 1 })
      let write = try #require(raised.ownerWrite)
      #expect(write.generation > generation)
      let holder = try shared.holder(of: "one")
      let records = try holder.records(in: holder.group(named: "one"))
      #expect(records.map(\.revision) == before.map(\.revision))
      _ = try shared.secondOwner().verify()
    }
  }

  @Test func `nothing is written above the vault's own state, or without a generation that is left`() throws {
    try SharedVault.with { shared in
      let before = try shared.bytes
      try shared.owner.raise(above: shared.owner.currentMark())
      let last = try otherState(shared.owner, at: UInt64(Int64.max))
      #expect(refusal { try shared.owner.raise(above: last) } == .limitExceeded)
      #expect(try shared.bytes == before)
    }
  }

  /// Everything an owner can do that changes the file.
  enum OwnerWrite: String, CaseIterable, Sendable {
    case set, remove, edit, compact, addSlot, replaceSlot, removeSlot, removeSlotWithoutRotation, createGroup
    case renameGroup, removeGroup, rotateGroup, rotateVault, importBundle

    func run(_ vault: Vault, _ shared: SharedVault) throws {
      let group = try vault.group(named: "one")
      switch self {
      case .set: try vault.set("v", forKey: "user")
      case .remove: try vault.remove("password")
      case .edit:
        try vault.transaction(service: Vault.Name("db"), in: group) { batch throws(VaultError) in
          var edit = RecordEdit()
          edit.label = .set("label")
          try batch.edit("password", edit)
        }
      case .compact: try vault.compact()
      case .addSlot: try vault.addSlot(NewSlot(.key(.sample(from: 200))), granting: group)
      case .replaceSlot: try vault.replaceSlot(shared.slot("one"), with: NewSlot(.key(.sample(from: 200))))
      case .removeSlot: try vault.removeSlot(shared.slot("one"))
      case .removeSlotWithoutRotation: try vault.removeSlotWithoutRotation(shared.slot("one"))
      case .createGroup: try vault.createGroup("new")
      case .renameGroup: try vault.renameGroup(group, to: "uno")
      case .removeGroup: try vault.removeGroup(group)
      case .rotateGroup: try vault.rotate(group)
      case .rotateVault: try vault.rotateVault()
      case .importBundle:
        let path = shared.path + ".bundle"
        try vault.exportBundle(
          vault.records(in: group), of: group, to: path, slot: NewSlot(.key(.sample(from: 210))))
        let bundle = try Vault.open(in: stored(path), credential: .key(.sample(from: 210)))
        try vault.importBundle(bundle, into: group, replacing: true)
      }
    }
  }

  @Test(arguments: OwnerWrite.allCases)
  func `each write of an owner raises the mark`(write: OwnerWrite) throws {
    try SharedVault.withMark { shared in
      let vault = try shared.markedOwner()
      let before = try RollbackMark(at: shared.mark)

      try write.run(vault, shared)

      #expect(vault.markFailure == nil)
      let raised = try RollbackMark(at: shared.mark)
      #expect(try raised == vault.currentMark())
      #expect(raised != before)
      #expect(throws: Never.self) { try raised.check(before.raised(to: raised)) }
      #expect(throws: VaultError.self) { try raised.check(before) }
    }
  }

  enum HolderWrite: String, CaseIterable, Sendable {
    case set, remove, fold, compact

    func run(_ vault: Vault) throws {
      switch self {
      case .set: try vault.set("v", forKey: "user", in: "one")
      case .remove: try vault.remove("password", in: "one")
      case .fold:
        try vault.transaction(service: Vault.Name("db"), in: vault.group(named: "one")) { batch throws(VaultError) in
          try batch.set([UInt8](repeating: 0x61, count: 70_000), forKey: "long")
        }
      case .compact: try vault.compact()
      }
    }
  }

  @Test(arguments: HolderWrite.allCases)
  func `a holder's write raises its line and keeps the owner's and the others'`(write: HolderWrite) throws {
    try SharedVault.withMark { shared in
      let (before, group) = try (RollbackMark(at: shared.mark), shared.owner.group(named: "one").id)
      let holder = try shared.markedHolder(of: "one")
      #expect(try RollbackMark(at: shared.mark) == before)

      try write.run(holder)

      let raised = try RollbackMark(at: shared.mark)
      #expect(raised.ownerWrite == before.ownerWrite)
      #expect(raised.groups.count == 3)
      for (id, line) in before.groups where id != group { #expect(raised.groups[id] == line) }
      #expect(try raised.groups[group] == holder.currentMark().groups[group])
      #expect(try raised == shared.owner.currentMark())
    }
  }

  @Test func `a removed group's line is removed, and a new group's is added`() throws {
    try SharedVault.withMark { shared in
      let owner = try shared.markedOwner()
      let one = try owner.group(named: "one")

      try owner.removeGroup(one)
      let new = try owner.createGroup("new")

      let mark = try RollbackMark(at: shared.mark)
      #expect(mark.groups[one.id] == nil)
      #expect(mark.groups[new.id] != nil)
      #expect(mark.groups.count == 3)
    }
  }

  @Test func `lines of two holders come together in one mark, and an owner's joins them`() throws {
    try SharedVault.with { shared in
      try shared.holder(of: "one").createMark(at: shared.mark)
      _ = try shared.markedHolder(of: "two")

      let both = try RollbackMark(at: shared.mark)
      #expect(both.groups.count == 2)
      #expect(both.ownerWrite == nil)
      _ = try shared.markedOwner()
      #expect(try RollbackMark(at: shared.mark) == shared.owner.currentMark())
    }
  }

  @Test func `a write that changes nothing leaves the mark's file alone`() throws {
    try SharedVault.withMark { shared in
      let vault = try shared.markedOwner()
      let inode = try FileBytes.status(shared.mark).st_ino

      #expect(try vault.remove("nothing") == 0)

      #expect(try FileBytes.status(shared.mark).st_ino == inode)
    }
  }

  @Test(.filesOnly("only of a file can entries be read that are not durable yet"))
  func `a mark says what the handle wrote, and nothing that another writer may not have synced yet`() throws {
    try SharedVault.withMark { shared in
      let (marked, other) = (try shared.markedOwner(), try shared.secondOwner())
      let group = try marked.group()
      // A long list, so that readers hold the handle's lock while the other writer appends.
      try marked.transaction(service: Vault.Name("db"), in: group) { batch throws(VaultError) in
        for number in 0..<2000 { try batch.set("v", forKey: "key \(number)") }
      }
      let isDone = Atomic<Bool>(false)
      try onThreads(4) { number in
        switch number {
        case 0:
          defer { isDone.store(true, ordering: .releasing) }
          for round in 0..<30 {
            try marked.set("\(round)", forKey: "mine")
            let revision = try marked.record(service: Vault.Name("db"), key: "mine", in: group)?.revision
            #expect(try RollbackMark(at: shared.mark).groups[group.id]?.generation == revision)
          }
        case 1: while !isDone.load(ordering: .acquiring) { try other.set("theirs", forKey: "other") }
        default: while !isDone.load(ordering: .acquiring) { _ = try marked.allKeys() }
        }
      }
    }
  }

  @Test func `a handle that only checks never writes the mark`() throws {
    try SharedVault.withMark { shared in
      let (text, before) = try (shared.markText, shared.bytes)
      var options = shared.options("checking")
      options.raisesMark = false
      let vault = try Vault.opened(at: shared.path, options: options)

      try vault.set("v", forKey: "user")
      try vault.compact()

      #expect(try shared.markText == text)
      #expect(vault.markFailure == nil)
      try shared.owner.acceptMark(at: shared.mark)
      try shared.putInPlace(before)
      #expect(refusal { try vault.text("password") } == .rolledBack)
      #expect(refusal { try Vault.opened(at: shared.path, options: options) } == .rolledBack)
    }
  }

  // MARK: A mark that cannot be written

  @Test func `a mark with two names is not raised: the write is done, and says so until it is`() throws {
    try SharedVault.withMark { shared in
      let vault = try shared.markedOwner()
      let (text, second) = (try shared.markText, shared.mark + ".second")
      try #require(link(shared.mark, second) == 0)

      try vault.set("v", forKey: "user")
      #expect(vault.markFailure?.code == .hardLinked)
      #expect(try shared.markText == text)
      #expect(try shared.secondOwner().text("user") == "v")

      try #require(unlink(second) == 0)
      try vault.set("w", forKey: "user")
      #expect(vault.markFailure == nil)
      #expect(try RollbackMark(at: shared.mark) == vault.currentMark())
    }
  }

  @Test func `opening with a mark that cannot be raised opens, and says so`() throws {
    try SharedVault.withMark { shared in
      try shared.owner.set("v", forKey: "user")
      try #require(link(shared.mark, shared.mark + ".second") == 0)

      let vault = try shared.markedOwner()

      #expect(vault.markFailure?.code == .hardLinked)
      #expect(try vault.text("user") == "v")
    }
  }

  @Test func `a write whose mark is missing is done, and reports markMissing`() throws {
    try SharedVault.withMark { shared in
      let vault = try shared.markedOwner()
      try #require(rename(shared.markDirectory, shared.markDirectory + ".away") == 0)

      try vault.set("v", forKey: "user")

      #expect(vault.markFailure?.code == .markMissing)
      #expect(try shared.secondOwner().text("user") == "v")
      #expect(access(shared.markDirectory, F_OK) != 0)
    }
  }
}
