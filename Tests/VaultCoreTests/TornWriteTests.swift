import Testing
import VaultCore

/// The last entry reached the disk in part. What an attacker without a key may leave of it is in ``JournalByteTests``.
struct TornWriteTests {
  /// What the file holds of an entry whose write was cut at an offset of the file.
  enum Tear: CaseIterable {
    /// The file ends there.
    case end
    /// The reserve, as it was, follows.
    case zeros
    /// The bytes from there to the next offset are missing, and those behind them are there.
    case hole

    func apply(to file: [UInt8], at offset: Int, step: Int, before end: Int) -> [UInt8] {
      switch self {
      case .end: Array(file[..<offset])
      case .zeros: file[..<offset] + [UInt8](repeating: 0, count: file.count - offset)
      case .hole:
        file[..<offset] + [UInt8](repeating: 0, count: min(step, end - offset)) + file[min(offset + step, end)...]
      }
    }
  }

  /// Opens a torn file, appends to it and opens it again; empty when all is as it should be.
  private func surprise(_ file: [UInt8]) throws -> String {
    try SampleFiles.with(file) { vault, path in
      let before = try vault.status()
      guard before.hasTornTail, before.entryCount == 1 else { return "opens with \(before.entryCount) entries" }
      guard try vault.allKeys() == ["kept", "password"], try vault.text("kept") == "kept" else { return "keys" }
      try vault.set("next", forKey: "next")
      let reopened = try Vault.opened(at: path)
      let after = try reopened.status()
      guard !after.hasTornTail, after.entryCount == 2 else { return "goes on with \(after.entryCount) entries" }
      guard try reopened.allKeys() == ["kept", "next", "password"], try reopened.text("next") == "next" else {
        return "keys after the append"
      }
      return ""
    }
  }

  /// A disk writes sectors of 512 bytes; 8 bytes are the least of which an entry consists.
  @Test(arguments: Tear.allCases, [(1, 8), (3_000, 512), (40_000, 512)])
  func `row J19: an append cut at any boundary leaves the state before it, and the next succeeds`(
    tear: Tear, entry: (valueBytes: Int, step: Int)
  ) throws {
    let (file, start) = try TemporaryDirectory.with { directory in
      let vault = try Vault.sample(at: directory + "/vault.spv")
      try vault.set("kept", forKey: "kept")
      let start = try FileBytes.read(directory + "/vault.spv").count - 64
      try vault.set([UInt8](repeating: 0x61, count: entry.valueBytes), forKey: "torn")
      return (try FileBytes.read(directory + "/vault.spv"), start)
    }
    let end = start + (try #require(try Parts(file).entries.last)).count
    var surprises: [String] = []

    // A hole may begin with the entry's first byte; what is cut there is no torn entry but none.
    let first = (start / entry.step + 1) * entry.step
    for offset in (tear == .hole ? [start] : []) + stride(from: first, to: end, by: entry.step) {
      let step = offset == start ? first - start : entry.step
      let surprise = try surprise(tear.apply(to: file, at: offset, step: step, before: end))
      if !surprise.isEmpty { surprises.append("\(offset): \(surprise)") }
    }

    #expect(surprises.isEmpty)
  }
}
