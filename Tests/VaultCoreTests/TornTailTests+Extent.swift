import Foundation
import Testing
import VaultSealing

@testable import VaultCore

/// How many entries the report of a broken journal admits to be missing.
extension TornTailTests {
  /// A vault with five entries of different lengths, and where each begins.
  private static func fiveEntries(
    _ body: (_ path: String, _ parts: Parts, _ starts: [Int]) throws -> Void
  ) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Vault.sample(at: path)
      for count in [1, 700, 40, 300, 2] {
        try vault.set(String(repeating: "v", count: count), forKey: "key \(count)")
      }
      let parts = try Parts(FileBytes.read(path))
      var starts = [parts.file.count - parts.reserve.count - parts.entries.reduce(0) { $0 + $1.count }]
      for entry in parts.entries { starts.append(starts.last! + entry.count) }
      try body(path, parts, starts)
    }
  }

  @Test func `row J27: a zeroed range never hides more entries than the report says`() throws {
    try Self.fiveEntries { _, parts, starts in
      let file = parts.file
      let groups = try Set(Snapshot(FileImage(file)).sections.map(\.id))
      var reported = 0
      for start in stride(from: starts[0], to: starts[5], by: 8) {
        for end in [start + 8, start + 64, start + 512, start + 1024, starts[5] - 8, starts[5]] where end <= file.count
        {
          var damaged = file
          guard start < end else { continue }
          damaged.replaceSubrange(start..<end, with: repeatElement(0, count: end - start))
          let frame = try JournalFrame(damaged.span.bytes, from: starts[0], groups: groups)
          let hidden = 5 - frame.entries.count
          if let torn = frame.tornTail {
            reported += 1
            #expect(torn.entryLimit ?? .max >= hidden, "zeros in \(start)..<\(end)")
          } else {
            #expect(hidden == 0 || (starts.contains(start) && end >= starts[5]), "zeros in \(start)..<\(end)")
          }
        }
      }
      #expect(reported > 1000)
    }
  }

  @Test func `row J27: a sector of zeros over two heads is not an interrupted last write`() throws {
    try Self.fiveEntries { path, parts, starts in
      var file = parts.file
      // The heads of the fourth and fifth entries, and the end of the third.
      let range = starts[3] - 8..<starts[4] + 32
      file.replaceSubrange(range, with: repeatElement(0, count: range.count))
      try FileBytes.write(file, to: path)
      let torn = try #require(try VaultInfo(at: path).tornTail)
      #expect(torn.isSeveralEntries)
      #expect(try #require(torn.entryLimit) >= 3)
      #expect(try Vault.opened(at: path).tornTail == torn)
      #expect(try Vault.opened(at: path).status().tornTail == torn)
    }
  }

  @Test func `an entry that alone is broken may still be followed by zeroed ones`() throws {
    try Self.fiveEntries { path, parts, starts in
      var file = parts.file
      file[starts[4] + 100] ^= 1
      try FileBytes.write(file, to: path)
      let torn = try #require(try VaultInfo(at: path).tornTail)
      #expect(!torn.isSeveralEntries)
      #expect(torn.entryLimit == (file.count - starts[4]) / 384)
    }
  }

  @Test(arguments: [1, 100, 383]) func `row J27: a file that was cut off has no limit`(kept: Int) throws {
    try Self.fiveEntries { path, parts, starts in
      try FileBytes.write(Array(parts.file[..<(starts[2] + kept)]), to: path)
      let torn = try #require(try VaultInfo(at: path).tornTail)
      #expect(torn.entryLimit == nil)
    }
  }
}
