import Testing
import VaultCore
import VaultSealing

@testable import secretprefs

/// What both sides of a merge leave, compared with a merge of dictionaries.
struct VaultMergeTests {
  private static let keys = ["a", "b", "c"]

  /// A copy of a vault, and what its keys have.
  private final class Copy {
    let storage = MemoryStorage()
    let vault: Vault
    var values: [String: String] = [:]
    private let key: SealingKey

    init(_ key: SealingKey) throws {
      self.key = key
      vault = try Vault.create(in: storage, slots: [NewSlot(.key(key))], options: Self.options)
    }

    private init(of other: Copy) throws {
      key = other.key
      try storage.create(try other.storage.load(limit: 1 << 20).bytes.bytes).storage.release()
      vault = try Vault.open(in: storage, credential: .key(key), options: Self.options)
      values = other.values
    }

    private static var options: Vault.Options {
      var options = Vault.Options()
      options.keeping = .forPeople
      return options
    }

    func copy() throws -> Copy { try Copy(of: self) }

    func set(_ value: String?, _ key: String) throws {
      values[key] = value
      try vault.transaction(service: Vault.Name("s"), in: vault.group()) { (batch) throws(VaultError) in
        if let value {
          try batch.set(Array(value.utf8).span.bytes, kind: .string, forKey: key)
        } else {
          try batch.remove(key)
        }
      }
    }

    func change(_ random: inout SeededRandom) throws {
      let key = VaultMergeTests.keys.randomElement(using: &random)!
      try set(Bool.random(using: &random) || values[key] == nil ? "\(Int.random(in: 1...3, using: &random))" : nil, key)
      if Int.random(in: 0..<4, using: &random) == 0 { try vault.compact() }
    }

    /// What a new process reads.
    func read() throws -> [String: String] {
      let opened = try Vault.open(in: storage, credential: .key(key))
      var found: [String: String] = [:]
      for record in try opened.records(in: opened.group()) {
        found[record.key.text] = try opened.withValue(of: record, in: opened.group()) { _, value in
          value.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }
      }
      return found
    }
  }

  private static func merge(_ base: Copy, _ ours: Copy, _ theirs: Copy) throws -> VaultMerge {
    var merge = try VaultMerge(base: base.vault, ours: ours.vault, theirs: theirs.vault)
    try merge.run()
    return merge
  }

  @Test func `what both sides have changed is merged key by key`() throws {
    var random = SeededRandom(14)
    var (merged, conflicts) = (0, 0)
    for _ in 0..<300 {
      let base = try Copy(SealingKey(from: .system))
      for _ in 0..<Int.random(in: 0...4, using: &random) { try base.change(&random) }
      let (ours, theirs) = (try base.copy(), try base.copy())
      for side in [ours, theirs] {
        for _ in 0..<Int.random(in: 0...4, using: &random) { try side.change(&random) }
      }
      // Who opens what, on one side at most.
      let shaped = [nil, ours, theirs].randomElement(using: &random)!
      if let shaped { _ = try shaped.vault.createGroup("ops") }
      var (expected, disputed): ([String: String], Set<String>) = ([:], [])
      for key in Self.keys {
        let (mine, new) = (ours.values[key], theirs.values[key])
        // What was written again is as in the ancestor.
        let (isMine, isNew) = (mine != base.values[key], new != base.values[key])
        if isMine, isNew, mine != new { disputed.insert(key) }
        expected[key] = isMine || !isNew ? mine : new
      }
      let merge = try Self.merge(base, ours, theirs)
      #expect(Set(merge.conflicts.map(\.key.text)) == disputed)
      #expect(merge.takesTheirs == (shaped === theirs))
      let result = merge.takesTheirs ? theirs : ours
      #expect(try result.read() == expected)
      #expect(try result.vault.groups().count == (shaped == nil ? 1 : 2))
      if disputed.isEmpty, expected != base.values { merged += 1 }
      conflicts += disputed.count
    }
    #expect(merged > 50 && conflicts > 50)
  }

  @Test func `two sides that have changed who opens the vault are not merged`() throws {
    let base = try Copy(SealingKey(from: .system))
    let (ours, theirs) = (try base.copy(), try base.copy())
    _ = try ours.vault.createGroup("ours")
    _ = try theirs.vault.createGroup("theirs")
    let before = try ours.storage.load(limit: 1 << 20).bytes.bytes
    let error = #expect(throws: VaultError.self) { try Self.merge(base, ours, theirs) }
    #expect(error?.code == .conflict)
    #expect(try ours.storage.load(limit: 1 << 20).bytes.bytes == before)
  }

  @Test func `a removal of a slot is not undone by the other side`() throws {
    let base = try Copy(SealingKey(from: .system))
    let leaver = try base.vault.addSlot(NewSlot(.key(try SealingKey(from: .system)), label: "leaver"))
    let (ours, theirs) = (try base.copy(), try base.copy())
    try ours.set("new", "a")
    try theirs.vault.removeSlotWithoutRotation(leaver)
    let merge = try Self.merge(base, ours, theirs)
    #expect(merge.takesTheirs && merge.conflicts.isEmpty)
    #expect(try theirs.read() == ["a": "new"])
    #expect(try theirs.vault.slots().count == 1)
  }

  @Test func `what a side has removed for good is named`() throws {
    let base = try Copy(SealingKey(from: .system))
    for value in ["one", "two"] { try base.set(value, "kept") }
    try base.set("three", "gone")
    try base.set(nil, "gone")
    let (ours, theirs) = (try base.copy(), try base.copy())
    let group = try theirs.vault.group()
    try theirs.vault.transaction(service: Vault.Name("s"), in: group) { (batch) throws(VaultError) in
      batch.keeping = .nothing
      try batch.remove("gone")
    }
    let conflicts = try Self.merge(base, ours, theirs).conflicts
    #expect(conflicts.map(\.key.text) == ["gone"])
    // Nor is it kept if the other side has the key still.
    let later = try ours.copy()
    try later.vault.transaction(service: Vault.Name("s"), in: later.vault.group()) { (batch) throws(VaultError) in
      batch.keeping = .nothing
      try batch.remove("kept")
    }
    let result = try ours.copy()
    #expect(try Self.merge(ours, result, later).conflicts.isEmpty)
    #expect(try result.read().isEmpty)
    #expect(try result.vault.removedRecords(in: result.vault.group()).map(\.key.text) == ["gone"])
  }

  @Test func `a group that both sides have removed is no conflict`() throws {
    let base = try Copy(SealingKey(from: .system))
    let group = try base.vault.createGroup("ops")
    try base.vault.transaction(service: Vault.Name("s"), in: group) { (batch) throws(VaultError) in
      try batch.set(Array("v".utf8).span.bytes, kind: .string, forKey: "a")
    }
    let (ours, theirs) = (try base.copy(), try base.copy())
    for side in [ours, theirs] { try side.vault.removeGroup(side.vault.group(named: "ops")) }
    #expect(try Self.merge(base, ours, theirs).conflicts.isEmpty)
  }

  @Test func `a key that is restored here and removed for good there is a conflict`() throws {
    let base = try Copy(SealingKey(from: .system))
    try base.set("one", "a")
    try base.set(nil, "a")
    let (ours, theirs) = (try base.copy(), try base.copy())
    try ours.set("two", "a")
    try theirs.vault.transaction(service: Vault.Name("s"), in: theirs.vault.group()) { (batch) throws(VaultError) in
      try batch.remove("a", atOnce: true)
    }
    #expect(try Self.merge(base, ours, theirs).conflicts.map(\.key.text) == ["a"])
  }

  @Test func `a record of a program without a history is copied once`() throws {
    let base = try Copy(SealingKey(from: .system))
    let (ours, theirs) = (try base.copy(), try base.copy())
    try theirs.vault.transaction(service: Vault.Name("s"), in: theirs.vault.group()) { (batch) throws(VaultError) in
      batch.keeping = .nothing
      try batch.set(Array("v".utf8).span.bytes, kind: .string, forKey: "a")
    }
    for _ in 0..<2 { #expect(try Self.merge(base, ours, theirs).conflicts.isEmpty) }
    #expect(try ours.read() == ["a": "v"])
  }

  // Two rotations of one group give it the same key.
  @Test(arguments: [(true, true), (false, true)])
  func `two sides that have rotated keys are not merged`(_ ofVault: (Bool, Bool)) throws {
    let base = try Copy(SealingKey(from: .system))
    let (ours, theirs) = (try base.copy(), try base.copy())
    for (side, isOfVault) in [(ours, ofVault.0), (theirs, ofVault.1)] {
      _ = isOfVault ? try side.vault.rotateVault() : try side.vault.rotate(side.vault.group())
    }
    let error = #expect(throws: VaultError.self) { try Self.merge(base, ours, theirs) }
    #expect(error?.code == .conflict)
    // Both have taken it over from the same side.
    let same = try theirs.copy()
    try same.set("new", "a")
    #expect(try Self.merge(base, theirs, same).conflicts.isEmpty)
  }

  enum Lost: CaseIterable { case earlierValues, earlierValuesWithDepth, removedKey, oldValue }

  @Test(arguments: Lost.allCases)
  func `a key of ours that cannot be written on their copy stops the merge`(_ lost: Lost) throws {
    let base = try Copy(SealingKey(from: .system))
    for value in ["one", "two"] { try base.set(value, "kept") }
    try base.set("three", "gone")
    try base.set(nil, "gone")
    func lose(in side: Copy) throws {
      try side.vault.transaction(service: Vault.Name("s"), in: side.vault.group()) { (batch) throws(VaultError) in
        var edit = RecordEdit()
        switch lost {
        case .earlierValues, .earlierValuesWithDepth: edit.historyDepth = .set(0)
        case .removedKey: return try batch.remove("gone", atOnce: true)
        case .oldValue:
          let mark = RotationMark(revision: 2, depth: 3, expiry: nil)
          edit.attributes = .set([try RecordEdit.Attribute(RotationMark.attribute, Array(mark.text.utf8))])
        }
        try batch.edit("kept", edit)
      }
      guard lost == .earlierValuesWithDepth else { return }
      try side.vault.transaction(service: Vault.Name("s"), in: side.vault.group()) { (batch) throws(VaultError) in
        var edit = RecordEdit()
        edit.historyDepth = .set(3)
        try batch.edit("kept", edit)
      }
    }
    let (ours, theirs) = (try base.copy(), try base.copy())
    try lose(in: ours)
    _ = try theirs.vault.createGroup("theirs")
    let error = #expect(throws: VaultError.self) { try Self.merge(base, ours, theirs) }
    #expect(error?.code == .conflict)
    // Ours is written on, if ours has changed who opens it.
    let (mine, other) = (try base.copy(), try base.copy())
    _ = try mine.vault.createGroup("ours")
    try lose(in: other)
    #expect(try Self.merge(base, mine, other).conflicts.count == 1)
  }

  @Test func `a key that is removed for good here and restored there is a conflict`() throws {
    let base = try Copy(SealingKey(from: .system))
    try base.set("one", "a")
    try base.set(nil, "a")
    let (ours, theirs) = (try base.copy(), try base.copy())
    try ours.vault.transaction(service: Vault.Name("s"), in: ours.vault.group()) { (batch) throws(VaultError) in
      try batch.remove("a", atOnce: true)
    }
    try theirs.set("two", "a")
    #expect(try Self.merge(base, ours, theirs).conflicts.map(\.key.text) == ["a"])
    #expect(try ours.read().isEmpty)
  }

  @Test func `what an earlier merge has written again is no change`() throws {
    let base = try Copy(SealingKey(from: .system))
    try base.set("zero", "a")
    let (main, first) = (try base.copy(), try base.copy())
    try main.set("main", "b")
    try first.set("one", "a")
    let second = try first.copy()
    try second.set("two", "a")
    // As "git rebase" does.
    #expect(try Self.merge(base, main, first).conflicts.isEmpty)
    #expect(try Self.merge(first, main, second).conflicts.isEmpty)
    #expect(try main.read() == ["a": "two", "b": "main"])
    // The other side has written again what was there.
    let (ours, theirs) = (try base.copy(), try base.copy())
    try ours.set("three", "a")
    try theirs.set("zero", "a")
    #expect(try Self.merge(base, ours, theirs).conflicts.isEmpty)
    #expect(try ours.read() == ["a": "three"])
  }

  @Test func `metadata that one side has changed pushes no earlier value out`() throws {
    let base = try Copy(SealingKey(from: .system))
    for value in 1...4 { try base.set("\(value)", "a") }
    let (ours, theirs) = (try base.copy(), try base.copy())
    var edit = RecordEdit()
    edit.label = .set("new")
    try theirs.vault.transaction(service: Vault.Name("s"), in: theirs.vault.group()) { (batch) throws(VaultError) in
      try batch.edit("a", edit)
    }
    try ours.set("other", "b")
    func record(_ side: Copy) throws -> RecordInfo? {
      try side.vault.record(service: Vault.Name("s"), key: "a", in: side.vault.group())
    }
    let before = try record(ours)?.previous.map(\.revision)
    #expect(try Self.merge(base, ours, theirs).conflicts.isEmpty)
    #expect(try record(ours)?.label == "new" && record(ours)?.previous.map(\.revision) == before)
  }

  @Test func `a history depth that one side has lowered is taken`() throws {
    let base = try Copy(SealingKey(from: .system))
    try base.set("one", "a")
    var edit = RecordEdit()
    edit.historyDepth = .set(1)
    let (ours, theirs) = (try base.copy(), try base.copy())
    try theirs.vault.transaction(service: Vault.Name("s"), in: theirs.vault.group()) { (batch) throws(VaultError) in
      try batch.edit("a", edit)
    }
    #expect(try Self.merge(base, ours, theirs).conflicts.isEmpty)
    let record = try ours.vault.record(service: Vault.Name("s"), key: "a", in: ours.vault.group())
    #expect(record?.historyDepth == 1)
  }

  @Test func `a change of metadata alone is taken`() throws {
    let base = try Copy(SealingKey(from: .system))
    try base.set("one", "a")
    let (ours, theirs) = (try base.copy(), try base.copy())
    var edit = RecordEdit()
    edit.historyDepth = .set(7)
    try theirs.vault.transaction(service: Vault.Name("s"), in: theirs.vault.group()) { (batch) throws(VaultError) in
      try batch.edit("a", edit)
    }
    #expect(try Self.merge(base, ours, theirs).conflicts.isEmpty)
    #expect(try ours.vault.record(service: Vault.Name("s"), key: "a", in: ours.vault.group())?.historyDepth == 7)
  }

  private enum Dropping: CaseIterable { case removal, newRecord, shorterHistory }

  /// Makes the values that `a` has now unrecoverable on one side.
  private static func drop(_ dropping: Dropping, on side: Copy) throws {
    try side.vault.transaction(service: Vault.Name("s"), in: side.vault.group()) { (batch) throws(VaultError) in
      switch dropping {
      case .removal: try batch.remove("a", atOnce: true)
      case .newRecord:
        try batch.remove("a", atOnce: true)
        try batch.set(Array("newest".utf8).span.bytes, kind: .string, forKey: "a")
      case .shorterHistory:
        var edit = RecordEdit()
        edit.historyDepth = .set(0)
        try batch.set(Array("newest".utf8).span.bytes, kind: .string, forKey: "a", edit: edit)
      }
    }
  }

  @Test(arguments: Dropping.allCases, [false, true])
  private func `what one side has removed for good does not come back unsaid`(
    _ dropping: Dropping, isOurs: Bool
  ) throws {
    let base = try Copy(SealingKey(from: .system))
    try base.set("leaked", "a")
    try base.set("current", "a")
    let (ours, theirs) = (try base.copy(), try base.copy())
    try Self.drop(dropping, on: isOurs ? ours : theirs)
    let side = isOurs ? theirs : ours
    if dropping == .removal { try side.set(nil, "a") } else { try side.set("x", "b") }

    let merged = try Self.merge(base, ours, theirs)
    let keeps = try ours.vault.removedRecords(in: ours.vault.group()).contains { $0.key.text == "a" }
    let previous = try ours.vault.record(service: Vault.Name("s"), key: "a", in: ours.vault.group())?.previous ?? []
    #expect(merged.conflicts.map(\.key.text) == (isOurs ? [] : ["a"]))
    #expect(isOurs == (!keeps && previous.isEmpty))
  }

  @Test func `a value that left a full history is no conflict`() throws {
    let base = try Copy(SealingKey(from: .system))
    for value in 1...6 { try base.set("\(value)", "a") }
    let (ours, theirs) = (try base.copy(), try base.copy())
    for value in 7...9 { try theirs.set("\(value)", "a") }
    try theirs.set(nil, "b")
    try ours.set("x", "c")
    #expect(try Self.merge(base, ours, theirs).conflicts.isEmpty)
    #expect(try ours.read() == ["a": "9", "c": "x"])
  }
}
