import Glibc
import Testing
import VaultSealing

@testable import VaultCore

/// How a reader handles a journal whose bytes were cut, flipped or moved by an attacker without a key.
struct JournalByteTests {
  /// Three entries in one group, and their positions.
  private struct Journal {
    let file: [UInt8]
    let starts: [Int]
    let end: Int
    let key: SealingKey

    init(_ file: [UInt8]) throws {
      let parts = try Parts(file)
      var starts: [Int] = []
      var position = parts.snapshotCount
      for entry in parts.entries {
        starts.append(position)
        position += entry.count
      }
      self.file = file
      self.starts = starts
      end = position
      key = try .sample()
    }

    init() throws { try self.init(SampleFiles.journal(3)) }

    /// What an owner finds: number of entries, torn tail, or the class of the refusal.
    func outcome(_ file: [UInt8]) throws -> String {
      do throws(VaultError) {
        let vault = try MemoryVault(file, key: key)
        return "\(vault.state.entryCount)" + (vault.state.tornTail != nil ? " torn" : "")
      } catch { return error.code.rawValue }
    }
  }

  @Test func `row J1: a file cut inside the last entry opens without it and reports the torn tail`() throws {
    let journal = try Journal()
    var surprises: [String] = []

    for count in journal.starts[2]..<journal.end {
      let cut = Array(journal.file[..<count])
      let zeroed = cut + [UInt8](repeating: 0, count: journal.file.count - count)
      // The first byte of an entry is the low byte of its length; zeros alone are reserve.
      let isClean = count == journal.starts[2]
      for (name, file) in [("cut", cut), ("zeroed", zeroed)] {
        let outcome = try journal.outcome(file)
        // Bytes that were zero already tear nothing.
        let isWhole = name == "zeroed" && file == journal.file
        let expected = isWhole ? "3" : isClean ? "2" : "2 torn"
        if outcome != expected { surprises.append("\(name) at \(count): \(outcome)") }
      }
    }

    #expect(surprises.isEmpty)
  }

  @Test func `row J1: a file cut inside the last entry holds the records before it`() throws {
    let journal = try Journal()

    let vault = try MemoryVault(Array(journal.file[..<(journal.end - 1)]), key: journal.key)

    #expect(try vault.keys() == ["key-0", "key-1", "password"])
    #expect(try vault.generation() == 3)
  }

  @Test func `row J2: a file cut inside an earlier entry opens with the state before it`() throws {
    let journal = try Journal()
    var surprises: [String] = []

    for entry in 0..<2 {
      for count in journal.starts[entry]..<journal.starts[entry + 1] {
        let outcome = try journal.outcome(Array(journal.file[..<count]))
        let expected = count == journal.starts[entry] ? "\(entry)" : "\(entry) torn"
        if outcome != expected { surprises.append("\(count): \(outcome)") }
      }
    }

    #expect(surprises.isEmpty)
  }

  @Test func `row J3: a flipped bit in the last entry makes it a torn tail`() throws {
    let journal = try Journal()

    let surprises = try (journal.starts[2]..<journal.end).filter { offset in
      try journal.outcome(journal.file.flipping(bit: offset % 8, at: offset)) != "2 torn"
    }

    #expect(surprises.isEmpty)
  }

  @Test(arguments: [0, 1])
  func `row J4: a flipped bit in an entry that another follows is damaged`(entry: Int) throws {
    let journal = try Journal()

    let surprises = try (journal.starts[entry]..<journal.starts[entry + 1]).filter { offset in
      try journal.outcome(journal.file.flipping(bit: offset % 8, at: offset)) != "damaged"
    }

    #expect(surprises.isEmpty)
  }

  @Test func `row J4: a flipped bit in an entry that one of another group follows is damaged`() throws {
    let journal = try Journal(SampleFiles.twoGroups())

    for offset in stride(from: journal.starts[2], to: journal.starts[3], by: 5) {
      #expect(try journal.outcome(journal.file.flipping(bit: 0, at: offset)) == "damaged")
    }
  }

  @Test(arguments: [0, 1])
  func `row J4: a zeroed entry that another follows is damaged`(entry: Int) throws {
    let journal = try Journal()
    var file = journal.file
    for offset in journal.starts[entry]..<journal.starts[entry + 1] { file[offset] = 0 }

    #expect(try journal.outcome(file) == "damaged")
  }

  @Test func `row J4: readers and writers refuse a damaged entry and leave the file alone`() throws {
    let journal = try Journal()
    let damaged = journal.file.flipping(bit: 1, at: journal.starts[1] + 100)

    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      try FileBytes.write(Array(journal.file[..<journal.starts[1]]), to: path)
      let vault = try Vault.opened(at: path)
      try FileBytes.write(damaged, to: path)

      #expect(refusal { try VaultInfo(at: path) } == .damaged)
      #expect(refusal { try Vault.opened(at: path) } == .damaged)
      #expect(refusal { try vault.text("password") } == .damaged)
      #expect(refusal { try vault.set("new", forKey: "password") } == .damaged)
      #expect(try FileBytes.read(path) == damaged)
    }
  }

  @Test(arguments: [0, 1, 2])
  func `row J5: a flipped bit under a right check is refused by the class of its field`(entry: Int) throws {
    let journal = try Journal()
    let (start, end) = (journal.starts[entry], entry < 2 ? journal.starts[entry + 1] : journal.end)
    var surprises: [String] = []

    for offset in start..<end - 32 {
      var changed = Array(journal.file[start..<end])
      changed[offset - start] ^= 1 << UInt8(offset % 8)
      var file = journal.file
      file.replaceSubrange(start..<end, with: changed.rechecked())
      let outcome = try journal.outcome(file)
      let expected: [String] =
        switch offset - start {
        case 0..<4: [entry < 2 ? "damaged" : "2 torn"]  // entry_len, as J3 and J4
        case 4..<24: ["malformed"]  // zero, group id
        default: ["tampered"]
        }
      if !expected.contains(outcome) { surprises.append("byte \(offset - start): \(outcome)") }
    }

    #expect(surprises.isEmpty)
  }

  @Test func `row J6: two entries of one group exchanged are tampered`() throws {
    var parts = try Parts(SampleFiles.journal(3))
    parts.entries.swapAt(0, 1)

    #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
  }

  @Test(arguments: [0, 2])
  func `row J6: a duplicated entry is tampered`(entry: Int) throws {
    var parts = try Parts(SampleFiles.journal(3))
    parts.entries.insert(parts.entries[entry], at: entry)

    #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
  }

  @Test(arguments: [0, 1])
  func `row J6: an entry left out before others is tampered`(entry: Int) throws {
    var parts = try Parts(SampleFiles.journal(3))
    parts.entries.remove(at: entry)

    #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
  }

  /// The orders that keep default-0 before default-1 and other-0 before other-1.
  @Test(arguments: [[0, 1, 2, 3], [0, 2, 1, 3], [1, 0, 3, 2], [1, 3, 0, 2], [0, 1, 3, 2], [1, 0, 2, 3]])
  func `row J7: entries of two groups may be interleaved otherwise`(order: [Int]) throws {
    var parts = try Parts(SampleFiles.twoGroups())
    parts.entries = order.map { parts.entries[$0] }

    try SampleFiles.with(parts.file) { vault, _ throws in
      for (group, value) in [("default", "value"), ("other", "other")] {
        #expect(try vault.text("key-0", in: group) == "\(value) 0")
        #expect(try vault.text("key-1", in: group) == "\(value) 1")
      }
    }
  }

  @Test func `row J8: an entry moved to another group of the same state is tampered`() throws {
    var parts = try Parts(SampleFiles.twoGroups())
    let other = parts.entries[1][8..<24]
    parts.entries[0].replaceSubrange(8..<24, with: other)
    parts.entries = [parts.entries[0].rechecked()]

    #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
  }

  @Test func `row J8: an entry behind another section of its group is tampered`() throws {
    let file = try SampleFiles.journal(1)
    var parts = try Parts(file)
    parts.sections[0].sealed = try KeyHolder(file).section(SectionDraft(generation: 2))

    #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
  }

  @Test func `row J8: an entry of another vault under a group id of this one is tampered`() throws {
    let other = try Parts(SampleFiles.twoGroups(seed: "another vault"))
    var parts = try Parts(SampleFiles.journal(0))
    var entry = other.entries[0]
    entry.replaceSubrange(8..<24, with: parts.sections[0].id)
    parts.entries = [entry.rechecked()]

    #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
  }

  @Test func `row J8: an entry of another vault as it is, is malformed`() throws {
    let other = try Parts(SampleFiles.twoGroups(seed: "another vault"))
    var parts = try Parts(SampleFiles.journal(0))
    parts.entries = [other.entries[0]]

    #expect(try SampleFiles.refusal(opening: parts.file) == .malformed)
  }

  @Test func `row J9: the last entries of one group cut out show the earlier state`() throws {
    var parts = try Parts(SampleFiles.twoGroups())
    parts.entries.remove(at: 2)

    try SampleFiles.with(parts.file) { vault, _ throws in
      #expect(try vault.allKeys() == ["key-0", "password"])
      #expect(try vault.allKeys(in: "other") == ["key-0", "key-1", "password"])
    }
  }

  @Test(arguments: ["changed", "unchanged"])
  func `row J10: an entry of before an owner write behind the new snapshot is tampered`(group: String) throws {
    let (before, after) = try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Vault.sample(at: path, groups: [.sample(), .sample("other")])
      try vault.set("value", forKey: "key-0", in: group == "changed" ? "default" : "other")
      let before = try FileBytes.read(path)
      // The group's state before the entry is folded, so that its section is the same if it was left alone.
      if group == "unchanged" { try FileBytes.write(Parts(before).withoutEntries, to: path) }
      try vault.fold()
      return (before, try FileBytes.read(path))
    }
    var parts = try Parts(after)
    let old = try Parts(before)
    let id = Array(old.entries[0][8..<24])
    let isSame = old.sections.first { $0.id == id }?.sealed == parts.sections.first { $0.id == id }?.sealed
    try #require(isSame == (group == "unchanged"))
    parts.entries = old.entries

    #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
  }

  @Test func `row J11: an entry of a group that the file does not have is malformed`() throws {
    var parts = try Parts(SampleFiles.journal(1))
    parts.entries[0][8] ^= 1
    parts.entries[0] = parts.entries[0].rechecked()

    #expect(try SampleFiles.refusal(opening: parts.file) == .malformed)
  }

  @Test func `row J11: a nonzero second word is malformed`() throws {
    var parts = try Parts(SampleFiles.journal(1))
    parts.entries[0][7] = 1
    parts.entries[0] = parts.entries[0].rechecked()

    #expect(try SampleFiles.refusal(opening: parts.file) == .malformed)
  }

  @Test(arguments: [0, 1, 7, 8, 9, 23, 24, 25, 4097, 32_768])
  func `row J17: a reserve of any length means nothing`(count: Int) throws {
    var parts = try Parts(SampleFiles.journal(2))
    parts.reserve = [UInt8](repeating: 0, count: count)

    try SampleFiles.with(parts.file) { vault, _ throws in
      let status = try vault.status()
      #expect(status.entryCount == 2)
      #expect(!status.hasTornTail)
      try vault.set("new", forKey: "key-0")
      #expect(try vault.text("key-0") == "new")
    }
  }

  @Test(arguments: [0, 1, 8, 100, 4095])
  func `row J17: a nonzero byte in the reserve is a torn tail`(offset: Int) throws {
    var parts = try Parts(SampleFiles.journal(2))
    parts.reserve = [UInt8](repeating: 0, count: 4096)
    parts.reserve[offset] = 1

    try SampleFiles.with(parts.file) { vault, path throws in
      #expect(try vault.status().hasTornTail)
      #expect(try VaultInfo(at: path).hasTornTail)
      try vault.set("new", forKey: "key-0")
      #expect(try !Vault.opened(at: path).status().hasTornTail)
    }
  }

  /// A head at the tail itself is the broken entry; only one behind it damns the file.
  @Test(arguments: [
    (0, nil), (8, VaultError.Code.damaged), (800, .damaged), (801, nil), (4096 - 24, .damaged),
  ])
  func `row J17: a stray head with a known group id behind the tail is damaged`(
    offset: Int, code: VaultError.Code?
  ) throws {
    var parts = try Parts(SampleFiles.journal(2))
    parts.reserve = [UInt8](repeating: 0, count: 4096)
    parts.reserve.replaceSubrange(offset..<offset + 24, with: parts.entries[0][..<24])

    #expect(try SampleFiles.refusal(opening: parts.file) == code)
  }

  @Test(arguments: ["a length of 376", "a length of 385", "a nonzero word", "an unknown group", "32 MiB + 8"])
  func `row J17: what only resembles a head is a torn tail`(fault: String) throws {
    var parts = try Parts(SampleFiles.journal(2))
    var head = Array(parts.entries[0][..<24])
    switch fault {
    case "a length of 376": head.store(UInt32(376), at: 0)
    case "a length of 385": head.store(UInt32(385), at: 0)
    case "a nonzero word": head[4] = 1
    case "an unknown group": head[8] ^= 1
    default: head.store(UInt32(32 << 20 + 8), at: 0)
    }
    parts.reserve = [UInt8](repeating: 0, count: 4096)
    parts.reserve.replaceSubrange(80..<104, with: head)

    #expect(try SampleFiles.refusal(opening: parts.file) == nil)
  }

  // MARK: Hostile journals

  /// Seconds of processor time that an owner's load of a hostile journal takes; other tests do not count.
  private func seconds(_ file: [UInt8], _ code: VaultError.Code?) throws -> Double {
    let key = try SealingKey.sample()
    let start = Self.processorTime()
    #expect(refusal { try MemoryVault(file, key: key) } == code)
    return Self.processorTime() - start
  }

  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  @Test func `row J18: 8 MiB full of plausible lengths are read in linear time`() throws {
    var parts = try Parts(SampleFiles.journal(1))
    // Every eighth byte starts a head but for the group; the lengths reach to the end, so that a reader that
    // hashed at each of them would need hours.
    let word: [UInt8] = Array(parts.entries[0][..<4]) + [0, 0, 0, 0]
    parts.reserve = word
    while parts.reserve.count < 8 << 20 { parts.reserve += parts.reserve }
    parts.reserve.store(UInt32(8 << 20 - 8), at: 0)

    #expect(try seconds(parts.file, nil) < 10)
  }

  @Test func `row J18: a journal full of forged entries with right checks is read in linear time`() throws {
    let sample = try Parts(SampleFiles.journal(1))
    func file(_ count: Int) -> [UInt8] {
      var parts = sample
      parts.entries = Array(repeating: sample.entries[0], count: count)
      return parts.file
    }

    let (short, long) = (try seconds(file(2_000), .tampered), try seconds(file(16_000), .tampered))

    // Eight times the length; a square would be 64.
    #expect(long < 20 * short, "\(short) s, then \(long) s")
  }
}

extension Parts {
  /// The file as it was before anything was appended.
  var withoutEntries: [UInt8] {
    var parts = self
    parts.reserve = [UInt8](repeating: 0, count: entries.reduce(reserve.count) { $0 + $1.count })
    parts.entries = []
    return parts.file
  }
}
