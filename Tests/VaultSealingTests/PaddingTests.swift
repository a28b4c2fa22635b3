import FoundationEssentials
import Testing
import VaultSealing

struct PaddingTests {
  @Test(arguments: [256, 1024]) func `every body up to 5000 bytes comes back`(_ step: Int) {
    let longest = run(5000, step: 3)
    let wrong = (0...5000).filter { count in
      let padded = padded(Array(longest[..<count]), step: step)
      return unpadded(padded, step: step) != count || Data(padded[..<count]) != Data(longest[..<count])
    }

    #expect(wrong.isEmpty)
  }

  @Test(arguments: [256, 1024]) func `what is padded is the body one mark and zeros`(_ step: Int) {
    let wrong = [0, 1, 255, 256, 1023, 1024, 5000].filter { count in
      let padded = padded(repeated(0xff, count), step: step)
      return padded[count] != 0x80 || padded[(count + 1)...].contains { $0 != 0 }
    }

    #expect(wrong.isEmpty)
  }

  @Test(arguments: Tail.table) func `a body that ends like padding comes back`(_ row: Tail) {
    #expect(unpadded(padded(row.bytes, step: 256), step: 256) == row.bytes.count)
  }

  @Test(arguments: [256, 1024]) func `lengths grow with the body and are multiples of 8`(_ step: Int) {
    let lengths = (0...70_000).map { Padding.paddedCount($0, step: step) }

    #expect(zip(lengths, lengths.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(lengths.allSatisfy { $0.isMultiple(of: 8) })
    #expect(lengths.enumerated().allSatisfy { $1 > $0 })
  }

  @Test(arguments: [256, 1024]) func `above 32 steps padding adds at most a sixteenth`(_ step: Int) {
    let wasteful = (32 * step...200_000).filter { count in
      (Padding.paddedCount(count, step: step) - count) * 16 > count + 16
    }

    #expect(wasteful.isEmpty)
  }

  @Test(arguments: BadPadding.table) func `anything else is refused`(_ row: BadPadding) {
    #expect(unpadded(row.bytes, step: 256) == nil)
  }

  @Test(arguments: 0..<256) func `a mark counts only where the length fits it`(_ count: Int) {
    // 512 bytes with a body of less than 256 bytes would have been padded to 256.
    #expect(unpadded(repeated(1, count) + [0x80] + repeated(0, 511 - count), step: 256) == nil)
  }

  @Test func `padding of one step is refused for the other`() {
    #expect(unpadded(padded([1, 2, 3], step: 256), step: 1024) == nil)
    #expect(unpadded(padded([1, 2, 3], step: 1024), step: 256) == nil)
  }

  private func padded(_ body: [UInt8], step: Int) -> [UInt8] {
    let padded = Padding.padded(body.span.bytes, step: step)
    return padded.span.withUnsafeBytes { Array($0) }
  }

  private func unpadded(_ bytes: [UInt8], step: Int) -> Int? {
    Padding.unpaddedCount(bytes.span.bytes, step: step)
  }
}

/// Bodies that end in what padding looks like.
struct Tail: Row {
  let id: String
  let bytes: [UInt8]

  static let table = [
    Tail(id: "a mark", bytes: [0x80]),
    Tail(id: "two marks", bytes: [0x80, 0x80]),
    Tail(id: "zeros", bytes: repeated(0, 100)),
    Tail(id: "a mark and zeros", bytes: [1, 0x80] + repeated(0, 50)),
    Tail(id: "a whole padded body", bytes: [1, 0x80] + repeated(0, 254)),
    Tail(id: "marks up to the last byte", bytes: repeated(0x80, 255)),
  ]
}

/// Buffers that padding by 256 never gives.
struct BadPadding: Row {
  let id: String
  let bytes: [UInt8]

  static let table = [
    BadPadding(id: "empty", bytes: []),
    BadPadding(id: "one zero", bytes: [0]),
    BadPadding(id: "all zero", bytes: repeated(0, 256)),
    BadPadding(id: "no mark", bytes: repeated(1, 256)),
    BadPadding(id: "another mark", bytes: [1, 0x81] + repeated(0, 254)),
    BadPadding(id: "a bit above the mark", bytes: [1, 0x40] + repeated(0, 254)),
    BadPadding(id: "something behind the zeros", bytes: [1, 0x80] + repeated(0, 253) + [1]),
    BadPadding(id: "the mark alone", bytes: [0x80]),
    BadPadding(id: "a zero too few", bytes: [1, 0x80] + repeated(0, 253)),
    BadPadding(id: "a zero too many", bytes: [1, 0x80] + repeated(0, 255)),
    BadPadding(id: "a step too many", bytes: [1, 0x80] + repeated(0, 510)),
    BadPadding(id: "a large body with the small step", bytes: repeated(1, 8191 + 256) + [0x80]),
  ]
}
