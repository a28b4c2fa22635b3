import Foundation
import Glibc
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// Handles that stay open, several at once, and marks that are made or accepted.
extension EveryStorage.MarkTests {
  @Test(arguments: ["changed", "of another vault"])
  func `a fold by length that the mark refuses does not become an append`(mark: String) throws {
    try SharedVault.withMark { shared in
      let vault = try shared.markedOwner()
      let text = try shared.markText
      let id = text.split(separator: "\n")[1]
      let new = text.replacingOccurrences(of: id, with: mark == "changed" ? "vault" : "vault \(Vault.Identifier.zero)")
      try FileBytes.write(Array(new.utf8), to: shared.mark)

      try expectRefused(mark == "changed" ? .malformed : .tampered, at: shared.path) { try vault.fold() }
    }
  }

  /// How an older copy is put back.
  enum PuttingBack: String, CaseIterable, Sendable { case replacing, copyingOver }

  @Test(arguments: PuttingBack.allCases)
  func `an open handle refuses an older copy to read and to write, and works after its removal`(
    how: PuttingBack
  ) throws {
    try SharedVault.withMark { shared in
      let vault = try shared.markedOwner()
      let older = try shared.bytes
      try vault.set("newer", forKey: "user")
      try vault.compact()
      let newer = try shared.bytes
      func put(_ bytes: [UInt8]) throws {
        switch how {
        case .replacing: try shared.putInPlace(bytes)
        case .copyingOver: try VaultBytes.write(bytes, to: shared.path)
        }
      }

      try put(older)
      let mark = try shared.markText
      #expect(refusal { try vault.text("user") } == .rolledBack)
      #expect(refusal { try vault.records(in: AccessGroup(id: .zero, name: Vault.Name("default"))) } == .rolledBack)
      for write in [OwnerWrite.set, .remove, .compact, .addSlot, .createGroup, .rotateVault] {
        try expectRefused(.rolledBack, at: shared.path) { try write.run(vault, shared) }
      }
      #expect(try shared.markText == mark)

      try put(newer)
      #expect(try vault.text("user") == "newer")
      try vault.set("again", forKey: "user")
      #expect(try RollbackMark(at: shared.mark) == vault.currentMark())
    }
  }

  @Test func `what an open handle seals before it notices an older copy is not written`() throws {
    try SharedVault.withMark { shared in
      let (vault, older) = try (shared.markedOwner(), shared.bytes)
      let (group, service) = try (vault.group(), Vault.Name("db"))
      try vault.set("newer", forKey: "user")

      try shared.putInPlace(older)

      // Without a read in between: sealing needs keys, and does not load the file.
      try expectRefused(.rolledBack, at: shared.path) {
        try vault.transaction(service: service, in: group) { batch throws(VaultError) in
          try batch.set("newest", forKey: "user")
        }
      }
      try expectRefused(.rolledBack, at: shared.path) { try vault.compact() }
    }
  }

  @Test func `a fold that the mark refuses is not made up for by an append`() throws {
    try SharedVault.withMark { shared in
      let vault = try shared.markedOwner()
      let older = try shared.bytes
      try shared.secondOwner().set("newer", forKey: "user")
      try shared.owner.acceptMark(at: shared.mark)
      // The same file as `vault` saw it last, so that nothing is loaded anew before the fold.
      try VaultBytes.write(older, to: shared.path)

      try expectRefused(.rolledBack, at: shared.path) { try vault.fold() }
    }
  }

  @Test func `unlocking, verifying and backing up check the mark`() throws {
    try SharedVault.withMark { shared in
      let (vault, older) = try (shared.markedOwner(), shared.bytes)
      try vault.set("newer", forKey: "user")
      try shared.putInPlace(older)

      #expect(refusal { try vault.unlock(with: .key(.sample())) } == .rolledBack)
      #expect(refusal { try vault.verify() } == .rolledBack)
      #expect(refusal { try vault.backUp(to: shared.path + ".copy") } == .rolledBack)
      #expect(access(shared.path + ".copy", F_OK) != 0)
      vault.lock()
      #expect(refusal { try vault.unlock(with: .key(.sample())) } == .rolledBack)
      #expect(vault.isLocked)
    }
  }

  @Test func `unlocking raises the mark`() throws {
    try SharedVault.withMark { shared in
      let vault = try shared.markedOwner()
      vault.lock()
      try shared.owner.set("v", forKey: "user")

      try vault.unlock(with: .key(.sample()))

      #expect(try RollbackMark(at: shared.mark) == shared.owner.currentMark())
    }
  }

  // MARK: Several at once

  @Test func `a mark that several handles raise at once is never lowered`() throws {
    try SharedVault.withMark { shared in
      let isDone = Atomic(false)
      try onThreads(5) { number in
        if number == 4 {
          var last = try RollbackMark(at: shared.mark)
          while !isDone.load(ordering: .acquiring) {
            let next = try RollbackMark(at: shared.mark)
            try last.check(next)
            last = next
          }
          return
        }
        defer { if number == 0 { isDone.store(true, ordering: .releasing) } }
        let vault = try number % 2 == 0 ? shared.markedOwner(seed: "\(number)") : shared.markedHolder(of: "one")
        for round in 0..<12 {
          try vault.set("\(round)", forKey: "key-\(number)", in: "one")
          if number == 2, round % 4 == 0 { try vault.compact() }
          if let failure = vault.markFailure { throw failure }
        }
      }
      #expect(try RollbackMark(at: shared.mark) == shared.owner.currentMark())
    }
  }

  @Test func `opening and reading while others write and raise the mark is never refused`() throws {
    try SharedVault.withMark { shared in
      // It takes a while between reading the file and having unlocked it.
      let passphrase = try Vault.Credential.passphrase("owner")
      try shared.owner.addSlot(NewSlot(passphrase, cost: .minimum))
      let isDone = Atomic(false)
      try onThreads(3) { number in
        switch number {
        case 0:
          defer { isDone.store(true, ordering: .releasing) }
          for _ in 0..<3 {
            _ = try Vault.open(in: stored(shared.path), credential: passphrase, options: shared.options("opener"))
          }
        case 1:
          let reader = try shared.markedOwner(seed: "reader", raising: false)
          while !isDone.load(ordering: .acquiring) {
            _ = try reader.text("user", in: "one")
            _ = try reader.verify()
          }
        default:
          let writer = try shared.markedOwner(seed: "writer")
          while !isDone.load(ordering: .acquiring) {
            try writer.set("value", forKey: "user", in: "one")
            try writer.compact()
          }
        }
      }
    }
  }

  // MARK: Making and accepting

  @Test(.filesOnly("an exit test, whose process has files alone"))
  func `a mark whose durability alone is in doubt leaves vault and mark in place`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try asUser { directory, path in
        mkdir(directory + "/marks", 0o300)
        var options = Vault.Options.sample()
        options.markPath = directory + "/marks/mark"
        let code = refusal { try Vault.sample(at: path, options: options) }
        chmod(directory + "/marks", 0o700)
        return try code == .durabilityUnknown && Vault.opened(at: path, options: options).text("password") == "s3cret"
      }
    }
  }

  @Test func `create makes the mark, with its directory`() throws {
    try TemporaryDirectory.with { directory in
      var options = Vault.Options.sample()
      options.markPath = directory + "/a/b/mark"

      let vault = try Vault.sample(at: directory + "/vault.spv", options: options)

      #expect(try RollbackMark(at: directory + "/a/b/mark") == vault.currentMark())
      #expect(try mode(of: directory + "/a/b") == 0o700)
      #expect(vault.markFailure == nil)
      try vault.set("v", forKey: "user")
      #expect(try RollbackMark(at: directory + "/a/b/mark") == vault.currentMark())
    }
  }

  @Test func `create refuses an existing mark, and makes nothing`() throws {
    try SharedVault.withMark { shared in
      let (text, new) = (try shared.markText, shared.path + ".new")

      #expect(refusal { try Vault.sample(at: new, options: shared.options("new")) } == .alreadyExists)

      #expect(access(new, F_OK) != 0)
      #expect(try shared.markText == text)
    }
  }

  @Test(.filesOnly("counts the files of the folder")) func `a vault whose mark cannot be made is not left behind`()
    throws
  {
    try TemporaryDirectory.with { directory in
      try FileBytes.write([], to: directory + "/file")
      var options = Vault.Options.sample()
      options.markPath = directory + "/file/mark"

      #expect(refusal { try Vault.sample(at: directory + "/vault.spv", options: options) } != nil)

      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["file"])
    }
  }

  @Test func `a mark is made later for a vault that has none, and replaces nothing`() throws {
    try SharedVault.with { shared in
      try shared.owner.createMark(at: shared.mark)
      let text = try shared.markText
      try shared.owner.set("v", forKey: "user")

      #expect(refusal { try shared.owner.createMark(at: shared.mark) } == .alreadyExists)

      #expect(try shared.markText == text)
      #expect(refusal { try shared.markedOwner() } == nil)
    }
  }

  @Test func `a restored backup is refused until it is accepted`() throws {
    try SharedVault.withMark { shared in
      let owner = try shared.markedOwner()
      try owner.backUp(to: shared.path + ".backup")
      try owner.set("lost", forKey: "user")
      try Vault.restore(
        .file(shared.path + ".backup"), to: stored(shared.path), credential: .key(.sample()), replacing: true)
      #expect(refusal { try shared.markedOwner() } == .rolledBack)
      #expect(refusal { try owner.text("user") } == .rolledBack)

      try shared.secondOwner().acceptMark(at: shared.mark)

      #expect(try RollbackMark(at: shared.mark) == shared.secondOwner().currentMark())
      #expect(try owner.text("user") == nil)
      try owner.set("after", forKey: "user")
      #expect(try shared.markedOwner().text("user") == "after")
    }
  }

  @Test func `a holder that accepts lowers its own line alone`() throws {
    try SharedVault.withMark { shared in
      let before = try shared.bytes
      let (one, two) = try (shared.owner.group(named: "one").id, shared.owner.group(named: "two").id)
      for group in ["one", "two"] { try shared.markedOwner().set("v", forKey: "user", in: group) }
      let raised = try RollbackMark(at: shared.mark)
      try shared.putInPlace(before)

      try shared.holder(of: "one").acceptMark(at: shared.mark)

      let accepted = try RollbackMark(at: shared.mark)
      #expect(accepted.groups[one]?.generation == 1)
      #expect(accepted.groups[two] == raised.groups[two])
      #expect(accepted.ownerWrite == raised.ownerWrite)
      #expect(refusal { try shared.markedHolder(of: "one") } == nil)
      #expect(refusal { try shared.markedOwner() } == .rolledBack)
    }
  }

  @Test func `accepting replaces the mark of another vault, and makes none where there is none`() throws {
    try SharedVault.withMark { shared in
      let other = try Vault.sample(at: shared.path + ".other", options: .sample(seed: "other vault"))
      try FileBytes.write(Array(other.currentMark().text.utf8), to: shared.mark)

      try shared.owner.acceptMark(at: shared.mark)

      #expect(try RollbackMark(at: shared.mark) == shared.owner.currentMark())
      #expect(refusal { try shared.owner.acceptMark(at: shared.mark + ".none") } == .markMissing)
      #expect(access(shared.mark + ".none", F_OK) != 0)
    }
  }
}
