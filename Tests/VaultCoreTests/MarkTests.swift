import Foundation
import Glibc
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// The rollback mark: what tells an older copy of the vault from the present one (`Docs/Format.md` annex B).
@Suite struct MarkTests {
  // MARK: The file

  @Test func `a mark is written exactly as annex B says`() throws {
    try SharedVault.withMark { shared in
      for group in ["one", "two", "one"] { try shared.owner.set("value", forKey: "user", in: group) }
      try shared.owner.acceptMark(at: shared.mark)

      let (file, parts) = try (shared.bytes, shared.parts)
      var lines = [
        "spv-mark-1", "vault \(hexadecimal(Array(file[16..<32])))",
        "owner 4 \(hexadecimal(Array(parts.manifest[24..<56])))",
      ]
      for section in parts.sections {
        let entries = parts.entries.filter { Array($0[8..<24]) == section.id }
        let tag = entries.last.map { Array($0[48..<80]) } ?? Array(section.sealed[24..<56])
        lines.append("group \(hexadecimal(section.id)) 1 \(1 + entries.count) \(hexadecimal(tag))")
      }
      #expect(try shared.markText == lines.map { $0 + "\n" }.joined())
      #expect(try mode(of: shared.mark) == 0o600)
    }
  }

  @Test func `a group holder's mark tells of its group alone`() throws {
    try SharedVault.with { shared in
      try shared.holder(of: "one").createMark(at: shared.mark)

      let group = try shared.owner.group(named: "one").id
      let tag = try shared.loaded.content(group).tag
      #expect(
        try shared.markText == "spv-mark-1\nvault \(try shared.owner.status().vaultID)\ngroup \(group) 1 1 \(tag)\n")
    }
  }

  @Test func `a mark reads back as it was written`() throws {
    try SharedVault.withMark { shared in
      let mark = try RollbackMark(at: shared.mark)

      #expect(try mark == shared.owner.currentMark())
      #expect(try mark.text == shared.markText)
      #expect(mark.groups.count == 3)
    }
  }

  /// Ways to write a mark that is none.
  enum Misspelling: String, CaseIterable, Sendable {
    case empty, blank, firstLineOnly, otherVersion, laterVersion, noVault, twoVaults, shortVault, upperCase
    case colonForA, noLastLF, blankLineBehind, blankLineBetween, twoLFs, crlf, trailingSpace, leadingSpace, tab
    case twoSpaces, ownerBehindGroups, groupsExchanged, twoOwners, groupTwice, groupTwiceOtherwise, leadingZero
    case plus, minus, generationTooLarge, epochTooLarge, shortTag, missingField, oneFieldMore, unknownLine, nul, bom
    case invalidUTF8, bytesBehind, tooLong

    func apply(to text: String) -> [UInt8] {
      var lines = text.split(separator: "\n").map(String.init)
      let owner = lines[2].split(separator: " ").map(String.init)
      let group = lines[3].split(separator: " ").map(String.init)
      var extra: [UInt8] = []
      switch self {
      case .empty: return []
      case .blank: return Array("\n".utf8)
      case .firstLineOnly: lines = [lines[0]]
      case .otherVersion: lines[0] = "spv-mark-2"
      case .laterVersion: lines[0] = "spv-mark-10"
      case .noVault: lines.remove(at: 1)
      case .twoVaults: lines.insert(lines[1], at: 1)
      case .shortVault: lines[1].removeLast(2)
      case .upperCase: lines[2] = "owner 1 \(owner[2].uppercased())"
      case .colonForA: lines[2] = "owner 1 \(owner[2].replacing("a", with: ":"))"
      case .noLastLF: return Array(text.utf8.dropLast())
      case .blankLineBehind: lines.append("")
      case .blankLineBetween: lines.insert("", at: 2)
      case .twoLFs: return Array(text.replacing("\n", with: "\n\n").utf8)
      case .crlf: return Array(lines.map { $0 + "\r\n" }.joined().utf8)
      case .trailingSpace: lines[3] += " "
      case .leadingSpace: lines[3] = " " + lines[3]
      case .tab: lines[3].replace(" ", with: "\t")
      case .twoSpaces: lines[3].replace(" ", with: "  ")
      case .ownerBehindGroups: lines.append(lines.remove(at: 2))
      case .groupsExchanged: lines.swapAt(3, 4)
      case .twoOwners: lines.insert(lines[2], at: 2)
      case .groupTwice: lines.insert(lines[3], at: 3)
      case .groupTwiceOtherwise: lines.insert("group \(group[1]) 1 9 \(group[4])", at: 3)
      case .leadingZero: lines[3] = "group \(group[1]) 01 1 \(group[4])"
      case .plus: lines[3] = "group \(group[1]) 1 +1 \(group[4])"
      case .minus: lines[3] = "group \(group[1]) 1 -1 \(group[4])"
      case .generationTooLarge: lines[2] = "owner 18446744073709551616 \(owner[2])"
      case .epochTooLarge: lines[3] = "group \(group[1]) 4294967296 1 \(group[4])"
      case .shortTag: lines[3].removeLast()
      case .missingField: lines[3] = "group \(group[1]) 1 \(group[4])"
      case .oneFieldMore: lines[3] += " 1"
      case .unknownLine: lines.append("device 1")
      case .nul: extra = [0]
      case .bom: return [0xEF, 0xBB, 0xBF] + Array(text.utf8)
      case .invalidUTF8: extra = [0xFF, 0x0A]
      case .bytesBehind: extra = Array("#".utf8)
      case .tooLong: extra = Array(repeating: UInt8(ascii: "\n"), count: 1 << 20)
      }
      return Array(lines.map { $0 + "\n" }.joined().utf8) + extra
    }
  }

  @Test(arguments: Misspelling.allCases)
  func `a mark that is not exactly as annex B says is malformed and stays`(misspelling: Misspelling) throws {
    try SharedVault.withMark { shared in
      let text = try shared.markText.replacing("owner 4 ", with: "owner 1 ")
      let broken = misspelling.apply(to: text)
      try #require(broken != Array(text.utf8))
      try FileBytes.write(broken, to: shared.mark)

      #expect(refusal { try RollbackMark(at: shared.mark) } == .malformed)
      #expect(refusal { try shared.markedOwner() } == .malformed)
      #expect(try FileBytes.read(shared.mark) == broken)
    }
  }

  @Test(arguments: ["directory", "fifo"])
  func `what is no regular file is no mark`(kind: String) throws {
    try SharedVault.withMark { shared in
      try #require(unlink(shared.mark) == 0)
      try #require((kind == "fifo" ? mkfifo(shared.mark, 0o600) : mkdir(shared.mark, 0o700)) == 0)

      #expect(refusal { try RollbackMark(at: shared.mark) } == .malformed)
      #expect(refusal { try shared.markedOwner() } == .malformed)
      #expect(refusal { try shared.owner.createMark(at: shared.mark) } == .alreadyExists)
    }
  }

  @Test func `a mark without lines is one that nobody has raised yet`() throws {
    try SharedVault.withMark { shared in
      let bare = "spv-mark-1\nvault \(try shared.owner.status().vaultID)\n"
      try FileBytes.write(Array(bare.utf8), to: shared.mark)

      let vault = try shared.markedOwner()

      #expect(vault.markFailure == nil)
      #expect(try RollbackMark(at: shared.mark) == vault.currentMark())
    }
  }

  // MARK: What is refused

  @Test func `row 25: yesterday's file is rolledBack, and accepted where there is no mark`() throws {
    try SharedVault.withMark { shared in
      let yesterday = try shared.bytes
      try shared.markedOwner().compact()
      let today = try shared.markText

      try shared.putInPlace(yesterday)

      #expect(refusal { try shared.markedOwner() } == .rolledBack)
      #expect(try shared.markText == today)
      #expect(try shared.secondOwner().text("password") == "s3cret")
    }
  }

  @Test(arguments: [["one"], ["default", "one", "two"]])
  func `row J9: the newest entries cut off, of one group or of all, are rolledBack`(groups: [String]) throws {
    try SharedVault.withMark { shared in
      let owner = try shared.markedOwner()
      for group in shared.groups { try owner.set("older", forKey: "user", in: group) }
      for group in shared.groups { try owner.set("newer", forKey: "user", in: group) }
      var parts = try shared.parts
      for group in groups {
        let id = try shared.owner.group(named: group).id.bytes
        parts.entries.remove(at: try #require(parts.entries.lastIndex { Array($0[8..<24]) == id }))
      }

      try shared.putInPlace(parts.file)

      #expect(refusal { try shared.markedOwner() } == .rolledBack)
      #expect(try shared.secondOwner().text("user", in: "one") == "older")
    }
  }

  @Test func `row J9: a group holder notices that its own entries are cut off, and no other group's`() throws {
    try SharedVault.withMark { shared in
      let parts = try shared.parts
      try shared.markedHolder(of: "one").set("newer", forKey: "user", in: "one")
      try shared.markedHolder(of: "two").set("newer", forKey: "user", in: "two")
      var cut = try shared.parts
      cut.entries.removeLast()

      try shared.putInPlace(cut.file)
      #expect(refusal { try shared.markedHolder(of: "two") } == .rolledBack)
      #expect(try shared.markedHolder(of: "one").text("user", in: "one") == "newer")

      try shared.putInPlace(parts.file)
      #expect(refusal { try shared.markedHolder(of: "one") } == .rolledBack)
    }
  }

  @Test func `an older fold of a group holder on the same owner write is rolledBack`() throws {
    try SharedVault.withMark { shared in
      let holder = try shared.markedHolder(of: "one")
      try holder.compact()
      let older = try shared.bytes
      try holder.set("value", forKey: "user", in: "one")
      try holder.compact()

      try shared.putInPlace(older)

      #expect(refusal { try shared.markedHolder(of: "one") } == .rolledBack)
      #expect(refusal { try shared.markedOwner() } == .rolledBack)
      #expect(Vault.refusal(at: shared.path, .key(try .sample())) == nil)
    }
  }

  @Test func `a group's key of before its rotation is rolledBack whatever its generation`() throws {
    try SharedVault.withMark { shared in
      let older = try shared.bytes
      let owner = try shared.markedOwner()
      try owner.rotate(owner.group(named: "one"))
      try shared.putInPlace(older)
      // More writes than the rotated group has seen.
      for number in 0..<4 { try shared.holder(of: "one", seed: "\(number)").set("v", forKey: "user", in: "one") }

      #expect(refusal { try shared.markedHolder(of: "one") } == .rolledBack)
    }
  }

  enum Copied: String, CaseIterable, Sendable { case append, fullWrite }

  @Test(arguments: Copied.allCases)
  func `row 26: a copy that was written to elsewhere is rolledBack at the same generation`(write: Copied) throws {
    try SharedVault.withMark { shared in
      let before = try shared.bytes
      func change(_ vault: Vault, _ value: String) throws {
        switch write {
        case .append: try vault.set(value, forKey: "user")
        case .fullWrite: try vault.compact()
        }
      }
      try change(shared.markedOwner(), "here")
      let here = try shared.bytes
      try shared.putInPlace(before)
      try change(shared.secondOwner(), "there")
      try #require(try shared.bytes != here)

      #expect(refusal { try shared.markedOwner() } == .rolledBack)

      try shared.putInPlace(here)
      #expect(refusal { try shared.markedOwner() } == nil)
    }
  }

  @Test func `the mark of another vault is tampered and stays`() throws {
    try SharedVault.withMark { shared in
      let other = shared.path + ".other"
      let vault = try Vault.sample(at: other, options: .sample(seed: "other vault"))
      let text = try vault.currentMark().text
      try FileBytes.write(Array(text.utf8), to: shared.mark)

      try expectRefused(.tampered, at: shared.path) { try shared.markedOwner() }
      #expect(try shared.markText == text)
    }
  }

  @Test func `a missing mark is markMissing, for opening and for handles that load anew`() throws {
    try SharedVault.withMark { shared in
      let (owner, holder) = try (shared.markedOwner(), shared.markedHolder(of: "one"))
      try #require(unlink(shared.mark) == 0)

      #expect(refusal { try RollbackMark(at: shared.mark) } == .markMissing)
      #expect(refusal { try shared.markedOwner() } == .markMissing)
      #expect(refusal { try shared.markedHolder(of: "one") } == .markMissing)
      try shared.owner.compact()
      #expect(refusal { try owner.text("password") } == .markMissing)
      try expectRefused(.markMissing, at: shared.path) { try holder.set("v", forKey: "user", in: "one") }
      #expect(access(shared.mark, F_OK) != 0)
    }
  }

  @Test(arguments: [mode_t(0o620), 0o602, 0o660, 0o666])
  func `a mark that group or others may write is refused`(mode: mode_t) throws {
    try SharedVault.withMark { shared in
      let text = try shared.markText
      try setMode(mode, of: shared.mark)

      #expect(refusal { try RollbackMark(at: shared.mark) } == .insecurePermissions)
      #expect(refusal { try shared.markedOwner() } == .insecurePermissions)
      #expect(refusal { try shared.owner.acceptMark(at: shared.mark) } == .insecurePermissions)
      #expect(try shared.markText == text)
    }
  }

  @Test func `a mark in a directory that others may write is refused`() throws {
    try SharedVault.withMark { shared in
      try setMode(0o777, of: shared.markDirectory)

      #expect(refusal { try shared.markedOwner() } == .insecurePermissions)
      #expect(refusal { try shared.owner.acceptMark(at: shared.mark) } == .insecurePermissions)
    }
  }

  @Test func `a mark that all may read is taken, and stays so when it is raised`() throws {
    try SharedVault.withMark { shared in
      try setMode(0o644, of: shared.mark)

      try shared.markedOwner().set("v", forKey: "user")

      #expect(try RollbackMark(at: shared.mark) == shared.owner.currentMark())
      #expect(try mode(of: shared.mark) == 0o644)
    }
  }

  @Test func `the path of a mark may be a symbolic link, which stays`() throws {
    try SharedVault.withMark { shared in
      let link = shared.path + ".link"
      try #require(symlink(shared.mark, link) == 0)

      try shared.markedOwner(at: link).set("v", forKey: "user")

      #expect(try FileBytes.status(link).st_mode & S_IFMT == S_IFLNK)
      #expect(try RollbackMark(at: shared.mark) == shared.owner.currentMark())
      try shared.putInPlace(try shared.parts.withoutLastEntry)
      #expect(refusal { try shared.markedOwner(at: link) } == .rolledBack)
    }
  }

  // MARK: What raises it

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
        try vault.update(service: Name("db"), in: group) { batch throws(VaultError) in
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
        let bundle = try Vault.open(at: path, credential: .key(.sample(from: 210)))
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
        try vault.update(service: Name("db"), in: vault.group(named: "one")) { batch throws(VaultError) in
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

  @Test func `a removed group's line goes, and a new one's comes`() throws {
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

  @Test func `a write whose mark is gone is done, and says markMissing`() throws {
    try SharedVault.withMark { shared in
      let vault = try shared.markedOwner()
      try #require(rename(shared.markDirectory, shared.markDirectory + ".away") == 0)

      try vault.set("v", forKey: "user")

      #expect(vault.markFailure?.code == .markMissing)
      #expect(try shared.secondOwner().text("user") == "v")
      #expect(access(shared.markDirectory, F_OK) != 0)
    }
  }

  // MARK: Handles that stay open

  /// How somebody puts an older copy back.
  enum PuttingBack: String, CaseIterable, Sendable { case replacing, copyingOver }

  @Test(arguments: PuttingBack.allCases)
  func `an open handle refuses an older copy to read and to write, and goes on when it is gone`(
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
        case .copyingOver: try FileBytes.write(bytes, to: shared.path)
        }
      }

      try put(older)
      let mark = try shared.markText
      #expect(refusal { try vault.text("user") } == .rolledBack)
      #expect(refusal { try vault.records(in: AccessGroup(id: .zero, name: Name("default"))) } == .rolledBack)
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
      let (group, service) = try (vault.group(), Name("db"))
      try vault.set("newer", forKey: "user")

      try shared.putInPlace(older)

      // Without a read in between: sealing needs keys and no news.
      try expectRefused(.rolledBack, at: shared.path) {
        try vault.update(service: service, in: group) { batch throws(VaultError) in
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
      try FileBytes.write(older, to: shared.path)

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

  @Test func `a mark that several handles raise at once never goes back`() throws {
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
      let passphrase = try Credential.passphrase("owner")
      try shared.owner.addSlot(NewSlot(passphrase, cost: .minimum))
      let isDone = Atomic(false)
      try onThreads(3) { number in
        switch number {
        case 0:
          defer { isDone.store(true, ordering: .releasing) }
          for _ in 0..<3 {
            _ = try Vault.open(at: shared.path, credential: passphrase, options: shared.options("opener"))
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

  @Test func `create refuses a mark that is there, and makes nothing`() throws {
    try SharedVault.withMark { shared in
      let (text, new) = (try shared.markText, shared.path + ".new")

      #expect(refusal { try Vault.sample(at: new, options: shared.options("new")) } == .alreadyExists)

      #expect(access(new, F_OK) != 0)
      #expect(try shared.markText == text)
    }
  }

  @Test func `a vault whose mark cannot be made is not left behind`() throws {
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
      try Vault.restore(shared.path + ".backup", to: shared.path, credential: .key(.sample()), replacing: true)
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

extension SharedVault {
  fileprivate var markDirectory: String { path + ".marks" }
  /// In a directory of its own.
  fileprivate var mark: String { markDirectory + "/mark" }
  fileprivate var markText: String { get throws { String(decoding: try FileBytes.read(mark), as: UTF8.self) } }

  /// A shared vault and a mark of it that an owner made.
  fileprivate static func withMark(_ body: (SharedVault) throws -> Void) throws {
    try with { shared in
      try shared.owner.createMark(at: shared.mark)
      try body(shared)
    }
  }

  fileprivate func options(_ seed: String) -> Vault.Options {
    var options = Vault.Options.sample(seed: seed)
    options.markPath = mark
    return options
  }

  /// Another handle of the owner, which checks and raises the mark.
  fileprivate func markedOwner(
    at mark: String? = nil, seed: String = "marked owner", raising: Bool = true
  ) throws -> Vault {
    var options = options(seed)
    options.markPath = mark ?? self.mark
    options.raisesMark = raising
    return try Vault.opened(at: path, options: options)
  }

  fileprivate func markedHolder(of group: String) throws -> Vault {
    try Vault.open(at: path, credential: credential(of: group), options: options("marked " + group))
  }

  /// Puts another file in the vault's place.
  fileprivate func putInPlace(_ bytes: [UInt8]) throws {
    try FileBytes.write(bytes, to: path + ".other")
    try #require(rename(path + ".other", path) == 0)
  }
}

extension Parts {
  /// The file without its newest write.
  fileprivate var withoutLastEntry: [UInt8] {
    var parts = self
    parts.entries.removeLast()
    return parts.file
  }
}
