import Testing

@testable import VaultCore

extension EveryStorage {
  /// What an undo makes of the values that a key has and had.
  struct UndoneWriteTests {}
}

extension EveryStorage.UndoneWriteTests {
  @Test(arguments: 0..<40)
  func `an undo loses no value and brings all back, or names the key, and so does a second one`(seed: Int) throws {
    try RandomWrites.with(seed: UInt64(seed)) { writes in
      for _ in 0..<4 {
        try writes.fold()
        for _ in 0..<6 { try writes.write() }
        let before = try writes.state()
        for _ in 0..<Int.random(in: 1...3, using: &writes.dice) { try writes.write() }
        let written = try writes.undo(to: before)
        _ = try writes.undo(to: written)
      }
    }
  }

  /// Gives a key four values, which is as many as it keeps.
  private func fill(_ key: String, _ sample: RemovedVault) throws {
    for number in 1...4 { try sample.vault.set("\(key) \(number)", forKey: key) }
  }

  /// Undoes the write that gave a record its revision.
  private func undo(_ key: String, _ sample: RemovedVault) throws -> UndoneWrite {
    let revision = try #require(try sample.record(key)).revision
    let undone = try sample.vault.undoing(revision...revision, in: sample.group)
    try sample.vault.commit(undone, in: sample.group)
    return undone
  }

  @Test func `a value for which a write made room in a full history stays, and the key is named`() throws {
    try RemovedVault.with { sample in
      try fill("a", sample)
      try sample.update { batch throws(VaultError) in try batch.set("new", forKey: "a", as: nil, edit: .keeping(.max)) }

      let undone = try undo("a", sample)

      #expect(try sample.values("a") == ["a 4", "new", "a 3", "a 2", "a 1"])
      #expect(try sample.record("a")?.historyDepth == 4)
      #expect(undone.left.map(\.reason) == [.keepsUndone])
    }
  }

  @Test func `a key is named of which a new value has dropped the oldest one`() throws {
    try RemovedVault.with { sample in
      try fill("a", sample)
      try sample.vault.set("new", forKey: "a")

      let undone = try undo("a", sample)

      #expect(try sample.values("a") == ["a 4", "new", "a 3", "a 2"])
      #expect(undone.left.map(\.reason) == [.droppedValues])
    }
  }

  @Test func `both keys of a rename are named if it has dropped earlier values of both`() throws {
    try RemovedVault.with { sample in
      try fill("a", sample)
      try fill("b", sample)
      let service = sample.service
      try sample.vault.copy("a", of: service, to: "b", of: service, in: sample.group, isMove: true, replaces: true)

      let undone = try undo("b", sample)

      #expect(try sample.values("a") == ["a 4", "a 3", "a 2"])
      #expect(try sample.values("b") == ["b 4", "a 4", "a 3", "a 2"])
      #expect(
        undone.left.map { "\($0.record.key.text) \($0.reason)" } == ["b droppedValues", "a droppedValues"])
    }
  }

  @Test func `several writes over a removed record are undone with all values, and dropped ones are named`() throws {
    try RemovedVault.with { sample in
      try fill("a", sample)
      try sample.vault.remove("a")
      let first = try sample.vault.status().groups[0].generation + 1
      for text in ["new 1", "new 2"] { try sample.vault.set(text, forKey: "a") }

      let undone = try sample.vault.undoing(first...first + 1, in: sample.group)
      try sample.vault.commit(undone, in: sample.group)
      try sample.restore("a")

      #expect(try sample.values("a") == ["new 2", "new 1", "a 4", "a 3"])
      #expect(undone.left.map(\.reason) == [.removedBefore, .droppedValues])
    }
  }

  @Test func `a value of another key is not brought back, though a copy of it has the same revision`() throws {
    try RemovedVault.with { sample in
      try sample.update { batch throws(VaultError) in
        for key in ["a", "b"] { try batch.set("\(key) 1", forKey: key) }
      }
      try sample.vault.set("b 2", forKey: "b")
      let first = try sample.vault.status().groups[0].generation + 1
      try sample.update { batch throws(VaultError) in try batch.remove("a", atOnce: true) }
      let service = sample.service
      try sample.vault.copy("b", of: service, to: "a", of: service, in: sample.group, isMove: false)

      let undone = try sample.vault.undoing(first...first + 1, in: sample.group)
      try sample.vault.commit(undone, in: sample.group)

      #expect(try sample.values("a") == ["b 2", "b 1"])
      #expect(undone.left.map(\.reason) == [.noEarlierValue])
    }
  }

  @Test func `an undo by the history alone drops no earlier value`() throws {
    try RemovedVault.with { sample in
      try fill("a", sample)
      sample.time.advance(days: 1)
      try sample.vault.set("new", forKey: "a")
      try sample.vault.compact()

      let undone = try undo("a", sample)

      #expect(undone.isDerived)
      #expect(try sample.values("a") == ["a 4", "new", "a 3", "a 2"])
    }
  }
}

/// Writes of a few keys that are chosen at random, the same each time.
private struct RandomWrites {
  struct State {
    let generation: UInt64
    /// The value of each key.
    var present: [String: String] = [:]
    /// All values of each key, also of a removed one.
    var kept: [String: Set<String>] = [:]

    /// The values of all keys.
    var all: Set<String> { kept.values.reduce(into: []) { $0.formUnion($1) } }
  }

  private static let keys = ["a", "b", "c"]

  private let sample: RemovedVault
  var dice: Dice
  /// So that no value is written twice.
  private var count = 0

  /// Lends writes to a vault that keeps removed records for ever.
  static func with(seed: UInt64, _ body: (inout RandomWrites) throws -> Void) throws {
    let keeping = Vault.Keeping(earlierValues: 3, removedRecords: .seconds(Int64.max))
    try RemovedVault.with(keeping: keeping) { sample in
      var writes = RandomWrites(sample: sample, dice: Dice(seed: seed))
      try body(&writes)
    }
  }

  private init(sample: RemovedVault, dice: Dice) {
    self.sample = sample
    self.dice = dice
  }

  /// Empties the journal, so that it has room for the writes that follow.
  func fold() throws { try sample.vault.compact() }

  func state() throws -> State {
    var state = State(generation: try sample.vault.status().groups[0].generation)
    for key in try sample.vault.allKeys() {
      let values = try sample.values(key).compactMap(\.self)
      state.present[key] = values.first
      state.kept[key] = Set(values)
    }
    for record in try sample.vault.removedRecords(in: sample.group) {
      let values = try record.previous.compactMap { previous in
        try sample.vault.withValue(of: record, previous: previous.revision, in: sample.group) { String($1) }
      }
      state.kept[record.key.text] = Set(values)
    }
    return state
  }

  /// Makes one write, or none if the key has nothing to change.
  mutating func write() throws {
    sample.time.advance(days: 1)
    let key = Self.keys.randomElement(using: &dice) ?? ""
    let depth = RecordEdit.keeping(UInt16.random(in: 0...5, using: &dice))
    let exists = try sample.record(key) != nil
    switch Int.random(in: 0..<9, using: &dice) {
    case 0, 1: try set(key, RecordEdit())
    case 2: try set(key, depth)
    case 3: try set(key, .keeping(.max))
    case 4 where exists: try sample.update { batch throws(VaultError) in try batch.edit(key, depth) }
    case 5: try sample.update { batch throws(VaultError) in try batch.remove(key) }
    case 6 where exists: try copy(key)
    case 7: try restore(key)
    case 8: try sample.update { batch throws(VaultError) in try batch.remove(key, atOnce: true) }
    default: break
    }
  }

  private mutating func set(_ key: String, _ edit: RecordEdit) throws {
    count += 1
    let text = "value \(count)"
    try sample.update { batch throws(VaultError) in try batch.set(text, forKey: key, as: nil, edit: edit) }
  }

  private mutating func copy(_ key: String) throws {
    let target = Self.keys.filter { $0 != key }.randomElement(using: &dice) ?? ""
    try sample.vault.copy(
      key, of: sample.service, to: target, of: sample.service, in: sample.group,
      isMove: Bool.random(using: &dice), replaces: true)
  }

  private mutating func restore(_ key: String) throws {
    let previous = try sample.record(key)?.previous ?? sample.removed(key)?.previous ?? []
    guard let revision = previous.randomElement(using: &dice)?.revision else { return }
    let moves = Bool.random(using: &dice)
    try sample.update { batch throws(VaultError) in
      try batch.restore(key, revision: revision, moves: moves, ifRevision: nil)
    }
  }

  /// Undoes all writes since a state, as one.
  /// - Returns: The state before the undo.
  func undo(to before: State) throws -> State {
    let written = try state()
    guard written.generation > before.generation else { return written }
    let undone = try sample.vault.undoing(before.generation + 1...written.generation, in: sample.group)
    try sample.vault.commit(undone, in: sample.group)
    let after = try state()
    #expect(!undone.isDerived)
    #expect(written.all.isSubset(of: after.all))
    for key in Self.keys {
      let reasons = undone.left.filter { $0.record.key.text == key }.map(\.reason)
      // Otherwise it is left as it is.
      guard reasons.allSatisfy({ [.droppedValues, .removedBefore, .keepsUndone].contains($0) }) else { continue }
      #expect(after.present[key] == before.present[key], "\(key)")
      if !reasons.contains(.droppedValues) {
        #expect(before.kept[key, default: []].isSubset(of: after.all), "\(key)")
      }
    }
    return written
  }
}
