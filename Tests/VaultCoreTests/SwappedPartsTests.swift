import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Genuine parts of vaults in places where they do not belong.
  struct SwappedPartsTests {}
}

extension EveryStorage.SwappedPartsTests {
  /// A vault of two groups as it was after creation, and after each of two folds of `default`.
  private static func history(seed: String = "history") throws -> [Parts] {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Vault.sample(
        at: path, groups: [.sample(), .sample("other")], options: .sample(seed: seed, reserve: 0))
      var states = [try Parts(VaultBytes.read(path))]
      for round in 1...2 {
        // Each longer than the snapshot before it, so that it is folded.
        try vault.set([UInt8](repeating: 1, count: round * 100_000), forKey: "long \(round)")
        states.append(try Parts(VaultBytes.read(path)))
        try #require(states[round].entries.isEmpty)
      }
      return states
    }
  }

  /// Which section is that of `default`: the one that folds change.
  private static func changed(_ states: [Parts]) throws -> Int {
    try #require((0..<2).first { states[0].sections[$0].sealed != states[1].sections[$0].sealed })
  }

  @Test func `row 16: section bodies swapped between two groups are tampered`() throws {
    var parts = try Self.history()[0]
    (parts.sections[0].sealed, parts.sections[1].sealed) = (parts.sections[1].sealed, parts.sections[0].sealed)

    #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
  }

  @Test(arguments: [
    ("section", VaultError.Code.tampered), ("manifest", .tampered), ("slot", .credentialRejected),
  ])
  func `row 17: a part of another vault with the same credential is refused`(
    part: String, code: VaultError.Code
  ) throws {
    var parts = try Self.history()[0]
    let other = try Self.history(seed: "another vault")[0]
    switch part {
    case "section": parts.sections[0].sealed = other.sections[0].sealed
    case "manifest": parts.manifest = other.manifest
    default: parts.slots[0] = other.slots[0]
    }

    #expect(try SampleFiles.refusal(opening: parts.file) == code)
  }

  @Test func `row 18: one section from an older snapshot is tampered`() throws {
    let states = try Self.history()
    var parts = states[2]
    parts.sections[try Self.changed(states)] = states[1].sections[try Self.changed(states)]

    #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
  }

  @Test func `row 19: one section from a newer snapshot is tampered`() throws {
    let states = try Self.history()
    var parts = states[1]
    parts.sections[try Self.changed(states)] = states[2].sections[try Self.changed(states)]

    #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
  }

  @Test func `row 20: an old manifest with current sections is tampered`() throws {
    let states = try Self.history()
    var parts = states[2]
    parts.manifest = states[1].manifest

    #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
  }

  @Test func `row 20: an old header with the current manifest is tampered`() throws {
    let states = try Self.history()
    var parts = states[2]
    parts.head = states[1].head

    #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
  }

  @Test func `row 20: an old header and manifest with current sections is tampered`() throws {
    let states = try Self.history()
    var parts = states[2]
    (parts.head, parts.manifest) = (states[1].head, states[1].manifest)

    #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
  }

  /// Two copies of one vault, each folded by the owner on its own.
  private static func copies() throws -> (Parts, Parts) {
    try TemporaryDirectory.with { directory in
      let paths = [directory + "/a.spv", directory + "/b.spv"]
      _ = try Vault.sample(at: paths[0], options: .sample(reserve: 0))
      try VaultBytes.write(VaultBytes.read(paths[0]), to: paths[1])
      let parts = try paths.enumerated().map { number, path in
        let vault = try Vault.opened(at: path, options: .sample(seed: "copy \(number)", reserve: 0))
        try vault.fold()
        try vault.set("value", forKey: "a")
        return try Parts(VaultBytes.read(path))
      }
      return (parts[0], parts[1])
    }
  }

  @Test func `row 20a: a section of another copy of the vault is tampered`() throws {
    var (parts, other) = try Self.copies()
    (parts.entries, parts.sections) = ([], other.sections)
    other.entries = []

    #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
  }

  @Test func `row 20a: an entry of another copy of the vault is tampered`() throws {
    var (parts, other) = try Self.copies()
    parts.entries = other.entries
    other.entries = []

    #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
  }

  @Test(arguments: ["reordered", "removed", "doubled under another id"])
  func `row 21: slots that the manifest does not list so are tampered`(change: String) throws {
    var parts = try TemporaryDirectory.with { directory in
      let slots = try [0, 1].map { NewSlot(.key(try .sample(from: $0))) }
      _ = try Vault.create(in: stored(directory + "/vault.spv"), slots: slots, options: .sample())
      return try Parts(VaultBytes.read(directory + "/vault.spv"))
    }
    switch change {
    case "reordered": parts.slots.swapAt(0, 1)
    case "removed": parts.slots.removeLast()
    default:
      parts.slots.append(parts.slots[1])
      parts.slots[2][8] ^= 1
    }

    #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
  }

  @Test(arguments: ["left out", "doubled", "exchanged"])
  func `sections that the manifest does not list so are refused`(change: String) throws {
    var parts = try Self.history()[0]
    switch change {
    case "left out": parts.sections.removeLast()
    case "doubled": parts.sections.append(parts.sections[1])
    default: parts.sections.swapAt(0, 1)
    }
    // Order and uniqueness are structure; a missing section also changes the header that the manifest is bound to.
    #expect(try SampleFiles.refusal(opening: parts.file) == (change == "left out" ? .tampered : .malformed))
  }
}
