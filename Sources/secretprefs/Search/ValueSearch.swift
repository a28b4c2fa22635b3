internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// Finds many texts at once. The time depends on the length of the searched text, and hardly on their number.
///
/// A filter with a bit for each beginning of a text rejects nearly every place; the remaining places are looked up in
/// the sorted texts. All of it is derived from values, and is in guarded memory.
final class ValueSearch {
  private let patterns: [ValuePatterns.Pattern]
  private let buffer: GuardedBuffer
  /// The number of bytes of a beginning.
  let window: Int
  /// The length of the longest text.
  let longest: Int
  /// The beginnings as big-endian numbers, in the order of ``patterns``.
  private var heads: SecretBytes
  private var filter: SecretBytes
  private let shift: UInt64

  init(_ patterns: ValuePatterns) throws(VaultError) {
    let window = patterns.minimum < 8 ? 4 : 8
    let buffer = patterns.buffer
    self.patterns = buffer.withUnsafeBytes { buffer in
      patterns.all.sorted { first, second in
        let length = min(first.bytes.count, second.bytes.count)
        let order = memcmp(
          buffer.baseAddress! + first.bytes.lowerBound, buffer.baseAddress! + second.bytes.lowerBound, length)
        return order == 0 ? first.bytes.count < second.bytes.count : order < 0
      }
    }
    (self.buffer, self.window) = (buffer, window)
    longest = patterns.all.map(\.bytes.count).max() ?? 0
    var bits: UInt64 = 14
    while bits < 26, 1 << bits < 256 * self.patterns.count { bits += 1 }
    shift = 64 - bits
    heads = try SecretBytes(count: 8 * self.patterns.count)
    filter = try SecretBytes(count: 1 << Int(bits) / 8)
    for (index, pattern) in self.patterns.enumerated() {
      let head = buffer.withUnsafeBytes { Self.head($0, at: pattern.bytes.lowerBound, window) }
      heads.withUnsafeMutableBytes { $0.storeBytes(of: head, toByteOffset: 8 * index, as: UInt64.self) }
      let place = Self.place(head, shift)
      filter.withUnsafeMutableBytes { $0[place >> 3] |= 1 << UInt8(place & 7) }
    }
  }

  /// Calls `body` with the place of each text that is there as a whole.
  func forEachMatch(in text: UnsafeRawBufferPointer, _ body: (Int, ValuePatterns.Pattern) -> Void) {
    guard !patterns.isEmpty, text.count >= window else { return }
    let (window, shift) = (window, shift)
    filter.withUnsafeBytes { filter in
      var place = 0
      // Loads eight bytes at once while that many are left, in a loop without calls.
      while place < text.count - 7 {
        let word = UInt64(bigEndian: text.loadUnaligned(fromByteOffset: place, as: UInt64.self))
        let head = window == 8 ? word : word >> 32
        if Self.isSet(filter, Self.place(head, shift)) { matches(text, place, head, body) }
        place += 1
      }
      while place <= text.count - window {
        let head = Self.head(text, at: place, window)
        if Self.isSet(filter, Self.place(head, shift)) { matches(text, place, head, body) }
        place += 1
      }
    }
  }

  /// The first place where the rest of `text` is the beginning of a longer text to find.
  func firstPartialMatch(in text: UnsafeRawBufferPointer) -> Int? {
    (max(0, text.count - max(longest, 1) + 1)..<text.count).first { place in
      let rest = UnsafeRawBufferPointer(rebasing: text[place...])
      let length = min(rest.count, window)
      let head = Self.head(text, at: place, length) << UInt64(8 * (window - length))
      return heads.withUnsafeBytes { heads in
        for index in firstIndex(head, heads)..<patterns.count {
          guard Self.load(heads, index) >> UInt64(8 * (window - length)) == head >> UInt64(8 * (window - length)) else {
            break
          }
          if patterns[index].bytes.count > rest.count, begins(rest, with: patterns[index], rest.count) { return true }
        }
        return false
      }
    }
  }

  private func matches(
    _ text: UnsafeRawBufferPointer, _ place: Int, _ head: UInt64, _ body: (Int, ValuePatterns.Pattern) -> Void
  ) {
    heads.withUnsafeBytes { heads in
      for index in firstIndex(head, heads)..<patterns.count {
        guard Self.load(heads, index) == head else { break }
        let (pattern, count) = (patterns[index], patterns[index].bytes.count)
        guard count <= text.count - place else { continue }
        if begins(UnsafeRawBufferPointer(rebasing: text[place...]), with: pattern, count) { body(place, pattern) }
      }
    }
  }

  /// Whether the first `count` bytes of both are equal.
  private func begins(_ text: UnsafeRawBufferPointer, with pattern: ValuePatterns.Pattern, _ count: Int) -> Bool {
    buffer.withUnsafeBytes { buffer in
      memcmp(text.baseAddress!, buffer.baseAddress! + pattern.bytes.lowerBound, count) == 0
    }
  }

  /// The index of the first text whose beginning is not less than `head`.
  private func firstIndex(_ head: UInt64, _ heads: UnsafeRawBufferPointer) -> Int {
    var (low, high) = (0, patterns.count)
    while low < high {
      let middle = (low + high) / 2
      if Self.load(heads, middle) < head { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private static func load(_ heads: UnsafeRawBufferPointer, _ index: Int) -> UInt64 {
    heads.load(fromByteOffset: 8 * index, as: UInt64.self)
  }

  private static func head(_ text: UnsafeRawBufferPointer, at place: Int, _ count: Int) -> UInt64 {
    text[place..<place + count].reduce(0) { $0 << 8 | UInt64($1) }
  }

  @inline(__always) private static func place(_ head: UInt64, _ shift: UInt64) -> Int {
    Int(truncatingIfNeeded: (head &* 0x9E37_79B9_7F4A_7C15) &>> shift)
  }

  @inline(__always) private static func isSet(_ filter: UnsafeRawBufferPointer, _ place: Int) -> Bool {
    filter[place &>> 3] & 1 << UInt8(truncatingIfNeeded: place & 7) != 0
  }
}
