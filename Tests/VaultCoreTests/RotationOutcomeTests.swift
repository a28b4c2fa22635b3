import Testing
import VaultSealing
@testable import VaultCore

extension EveryStorage {
  /// What a rotation takes away, and when it is refused.
  struct RotationOutcomeTests {}
}

extension EveryStorage.RotationOutcomeTests {
  typealias Rotation = EveryStorage.RotationTests.Rotation

  // MARK: What is removed

  @Test(arguments: ["group changed", "group unchanged", "group rotated", "vault rotated"])
  func `row J10: entries of before an owner write behind the new snapshot are tampered`(write: String) throws {
    try SharedVault.with { shared in
      try shared.owner.set("entry", forKey: "user", in: "one")
      let before = try shared.parts
      switch write {
      case "group changed": try shared.owner.compact()
      case "group unchanged":
        // Back to the state before the entry, then a write that leaves the group's section alone.
        var cut = before
        cut.entries = []
        try VaultBytes.write(cut.file, to: shared.path)
        try shared.owner.createGroup("new")
      case "group rotated": try shared.owner.rotate(shared.owner.group(named: "one"))
      default: try shared.owner.rotateVault()
      }
      var parts = try shared.parts
      parts.entries = before.entries
      try VaultBytes.write(parts.file, to: shared.path)

      #expect(try Vault.refusal(at: shared.path, .key(.sample())) == .tampered)
      #expect(try Vault.refusal(at: shared.path, shared.credential(of: "one")) == .tampered)
      #expect(try Vault.refusal(at: shared.path, shared.credential(of: "two")) == nil)
    }
  }

  /// Every sealed value of every group, earlier ones included.
  private static func sealedValues(_ shared: SharedVault) throws -> Set<[UInt8]> {
    var values: Set<[UInt8]> = []
    let state = try shared.loaded
    for group in state.groups {
      try state.content(group.id).forEachInOrder { (record) throws(VaultError) in
        values.insert(record.sealedValue.copy)
        var fields = Extension.Items(record.extensionField)
        while let item = try fields.next() {
          if item.tag == 5 { values.insert(try PreviousValue(item.data).sealed.copy) }
        }
      }
    }
    return values
  }

  @Test(arguments: Rotation.allCases)
  func `no old sealed value, section or entry is in the file after a rotation`(rotation: Rotation) throws {
    try SharedVault.with { shared in
      for group in shared.groups { try shared.owner.set("entry", forKey: "user", in: group) }
      let (before, values) = try (shared.parts, Self.sealedValues(shared))
      try #require(values.count == 6)

      try rotation.run(shared.owner)

      let file = try shared.bytes
      #expect(try Self.sealedValues(shared).isDisjoint(with: values))
      for section in before.sections { #expect(!file.contains(bytes: Array(section.sealed[..<72]))) }
      for entry in before.entries { #expect(!file.contains(bytes: Array(entry[24..<96]))) }
      #expect(!file.contains(bytes: Array(before.manifest[..<72])))
      for slot in before.slots.dropFirst() { #expect(!file.contains(bytes: Array(slot[64...]))) }
    }
  }

  // MARK: Refusals

  @Test func `a value that its holder broke stops a rotation, and nothing changes`() throws {
    let file = try SampleFiles.snapshot()
    var parts = try Parts(file)
    var draft = SectionDraft()
    draft.records[0].sealed = [UInt8](repeating: 0, count: 80)
    parts.sections[0].sealed = try KeyHolder(file).section(draft)

    try SampleFiles.with(parts.file) { vault, path throws in
      let group = try vault.group()
      try expectRefused(.tampered, at: path) { try vault.rotate(group) }
      try expectRefused(.tampered, at: path) { try vault.rotateVault() }
      try vault.remove("password")
      try vault.rotateVault()
    }
  }

  @Test func `a credential to keep that opens nothing stops a rotation, and nothing changes`() throws {
    try SharedVault.with { shared in
      try expectRefused(.credentialRejected, at: shared.path) {
        try shared.owner.rotateVault(keeping: [.key(.sample(from: 200))])
      }
    }
  }

  @Test func `a vault that has used up its generations refuses full writes and allows appends`() throws {
    let file = try KeyHolder.counted(SampleFiles.snapshot(), vaultGeneration: UInt64(Int64.max))
    try SampleFiles.with(file) { vault, path throws in
      try expectRefused(.limitExceeded, at: path) { try vault.createGroup("new") }
      try expectRefused(.limitExceeded, at: path) { try vault.rotateVault() }
      try expectRefused(.limitExceeded, at: path) { try vault.compact() }
      try vault.set("append", forKey: "a")
      #expect(try vault.text("a") == "append")
    }
  }

  @Test func `a group that has used up its generations refuses every change`() throws {
    let file = try KeyHolder.counted(SampleFiles.snapshot(), generation: UInt64(Int64.max))
    try SampleFiles.with(file) { vault, path throws in
      let group = try vault.group()
      try expectRefused(.limitExceeded, at: path) { try vault.set("new", forKey: "a") }
      try expectRefused(.limitExceeded, at: path) { try vault.renameGroup(group, to: "new") }
      try expectRefused(.limitExceeded, at: path) { try vault.rotate(group) }
      try vault.addSlot(NewSlot(.key(.sample(from: 40))), granting: group)
      let holder = try Vault.open(in: stored(path), credential: .key(.sample(from: 40)))
      try expectRefused(.limitExceeded, at: path) { try holder.compact() }
      try vault.removeGroup(group)
    }
  }

  @Test func `a group that has used up its epochs is not rotated`() throws {
    let file = try KeyHolder.counted(SampleFiles.snapshot(), epoch: (1 << 31) - 1)
    try SampleFiles.with(file) { vault, path throws in
      let group = try vault.group()
      try expectRefused(.limitExceeded, at: path) { try vault.rotate(group) }
      try expectRefused(.limitExceeded, at: path) { try vault.rotateVault() }
      try vault.set("still", forKey: "a")
      try vault.compact()
    }
  }
}
