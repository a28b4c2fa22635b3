import FoundationEssentials
import Preferences
import Testing

/// Ten thousand damaged files of each format: every one is read, or refused with an error. A crash ends the test run.
struct MutationTests {
  static let count = 10_000
  private static let values: [String: PreferenceValue] = [
    "a": "text & <more> \u{e9}", "b": .data(Data([0, 1, 255])), "c": true, "d": .integer(.min),
    "e": .unsignedInteger(.max), "f": 0.5, "g": .date(Date(timeIntervalSinceReferenceDate: 5e8)),
    "h": .url(URL(string: "https://example.com/a?b#c")!), "i": [1, "b", [true]], "j": ["k": ["l": 2]],
    "m": .double(.infinity), "n": .unsignedInteger(3), "o": [:], "p": [],
  ]

  private func mutate(
    _ format: some PreferenceFileFormat, file: [UInt8], seed: UInt64
  ) throws -> (read: Int, refused: [PreferencesError.Code: Int]) {
    var random = SeededGenerator(seed: seed)
    var (read, refused) = (0, [PreferencesError.Code: Int]())
    for _ in 0..<Self.count {
      let damaged = random.damaged(file)
      do {
        let values = try format.values(from: damaged)
        read += 1
        // What was read can be written, and comes back.
        _ = try format.values(from: try format.bytes(of: values, replacing: damaged))
      } catch { refused[error.code, default: 0] += 1 }
    }
    return (read, refused)
  }

  private func check(_ format: some PreferenceFileFormat, _ file: [UInt8]? = nil, seed: UInt64) throws {
    let file = try file ?? format.bytes(of: Self.values, replacing: nil)
    let (read, refused) = try mutate(format, file: file, seed: seed)
    // Both happen, else the damages would be too small or too great to show anything.
    #expect(read > Self.count / 100)
    #expect(refused[.malformed, default: 0] > Self.count / 10)
    #expect(Set(refused.keys).isSubset(of: [.malformed, .limitExceeded, .unsupportedByFormat]))
  }

  @Test func `item 61: ten thousand damaged XML property lists never crash`() throws {
    try check(PropertyListFormat(.xml), seed: 61)
  }

  @Test func `item 61: ten thousand damaged binary property lists never crash`() throws {
    try check(PropertyListFormat(.binary), seed: 62)
  }

  @Test func `item 61: ten thousand damaged JSON files never crash`() throws {
    try check(JSONFormat(), seed: 63)
  }

  @Test func `item 61: ten thousand files of noise are refused`() {
    var random = SeededGenerator(seed: 64)
    let starts = ["", "bplist00", "<?xml version=\"1.0\"?><plist>", "{\""]
    var read = 0
    for round in 0..<Self.count {
      let noise = (0..<random.number(below: 64)).map { _ in UInt8(random.number(below: 256)) }
      let file = Array(starts[round % starts.count].utf8) + noise
      for isList in [true, false] {
        do {
          _ = try isList ? PropertyListFormat().values(from: file) : JSONFormat().values(from: file)
          read += 1
        } catch {}
      }
    }
    #expect(read == 0)
  }
}

extension SeededGenerator {
  /// Returns `bytes` with one to four damages.
  fileprivate mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0...number(below: 4) where !bytes.isEmpty {
      let place = number(below: bytes.count)
      switch number(below: 7) {
      case 0: bytes[place] ^= 1 << UInt8(number(below: 8))
      case 1: bytes[place] = UInt8(number(below: 256))
      case 2: bytes[place] = [0, 0x7F, 0x80, 0xFF][number(below: 4)]
      case 3: bytes.removeSubrange(place..<min(place + 1 + number(below: 16), bytes.count))
      case 4: bytes.insert(contentsOf: bytes[place..<min(place + 1 + number(below: 32), bytes.count)], at: place)
      case 5: bytes.removeSubrange(place...)
      default: bytes.swapAt(place, number(below: bytes.count))
      }
    }
    return bytes
  }
}
