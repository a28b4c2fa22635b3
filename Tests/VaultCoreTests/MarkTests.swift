import Foundation
import Glibc
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// The rollback mark, by which an older copy of the vault is detected (`Docs/Format.md` annex B).
  struct MarkTests {}
}

extension EveryStorage.MarkTests {
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

  @Test func `a group holder's mark covers its group only`() throws {
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

  @Test func `a mark without lines has not been raised yet`() throws {
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

  @Test(arguments: [mode_t(0o777), 0o770, 0o775])
  func `a mark in a directory that group or others may write is refused`(directory: mode_t) throws {
    try SharedVault.withMark { shared in
      try setMode(directory, of: shared.markDirectory)

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
}
