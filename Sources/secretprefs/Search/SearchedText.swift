internal import VaultCore

/// A text without the bytes that are ignored, each byte with its place, in guarded memory: the bytes that are new, and
/// those before them that may begin a pattern.
final class SearchedText {
  private let bytes: GuardedArray<UInt8>
  private let spellings: GuardedArray<UInt8>
  /// For each byte, where it begins and ends: `start << 32 | end`.
  private let places: GuardedArray<UInt64>
  private(set) var count = 0
  private var searched = 0
  /// The spelling of ignored bytes before the next byte.
  private var ahead: UInt8 = 0
  private var position = ValueSearch.Position()

  init(capacity: Int) throws(VaultError) {
    bytes = try GuardedArray(count: capacity)
    spellings = try GuardedArray(count: capacity)
    places = try GuardedArray(count: capacity)
  }

  /// Makes room for `more` bytes.
  /// - Parameter kept: the number of bytes at the end that are still needed.
  func reserve(_ more: Int, keeping kept: Int) {
    guard count + more > bytes.count else { return }
    let range = max(0, count - kept)..<count
    bytes.moveToStart(range)
    spellings.moveToStart(range)
    places.moveToStart(range)
    count = range.count
    searched = count
    precondition(count + more <= bytes.count, "a searched text has room for the longest pattern and a block")
  }

  /// Appends bytes that are spelled as they are.
  func append(_ text: UnsafeRawBufferPointer, from place: UInt32) {
    ByteTraits.all.withUnsafeBufferPointer { traits in
      var writer = writer(traits)
      for index in 0..<text.count { writer.put(text[index], writer.traits[Int(text[index])], place, index) }
      keep(writer)
    }
  }

  /// Appends bytes, those beyond ASCII as ``CharacterDecoder`` passes them on, up to one that may begin an escape, or a
  /// character that the text ends in. Returns their number.
  func appendCharacters(_ text: UnsafeRawBufferPointer, from place: UInt32) -> Int {
    guard let first = text.baseAddress else { return 0 }
    return ByteTraits.all.withUnsafeBufferPointer { traits in
      var writer = writer(traits)
      defer { keep(writer) }
      let from = first.assumingMemoryBound(to: UInt8.self)
      var index = 0
      while index < text.count {
        let byte = from[index]
        let trait = writer.traits[Int(byte)]
        // No escape but one of backslashes or of terminals goes on with a byte beyond ASCII.
        if trait & ByteTraits.mayBeginEscape != 0,
          byte < 0x20 || trait & ByteTraits.isKept == 0 || index &+ 1 == text.count || from[index &+ 1] < 0x80
        {
          break
        }
        let end = index &+ 8
        if end <= text.count, first.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
          while index < end {
            let trait = writer.traits[Int(from[index])]
            if trait & ByteTraits.mayBeginEscape != 0 { return index }
            writer.put(from[index], trait, place, index)
            index &+= 1
          }
          continue
        }
        let next = index &+ 1 < text.count ? writer.traits[Int(from[index &+ 1])] : ByteTraits.mayContinue
        if trait &>> 1 & next & ByteTraits.mayContinue != 0 {
          guard let length = CharacterDecoder.length(in: text, at: index) else { break }
          if length > 1 {
            for part in index..<index &+ length { writer.put(from[part], ByteTraits.isKept, place, part) }
            index &+= length
            continue
          }
        }
        // The first of two bytes is only kept for Latin-1. Without branches: what is not text has both kinds.
        let isLatin = byte &>> 7
        let latin = CharacterDecoder.latin(byte)
        writer.put(latin.0, isLatin, place, index)
        writer.put(isLatin == 0 ? byte : latin.1, trait, place, index)
        index &+= 1
      }
      return index
    }
  }

  /// Where the next byte is written, in registers.
  private struct Writer {
    let traits: UnsafePointer<UInt8>
    let bytes: UnsafeMutablePointer<UInt8>
    let spellings: UnsafeMutablePointer<UInt8>
    let places: UnsafeMutablePointer<UInt64>
    var count: Int
    var ahead: UInt8

    /// Appends a byte, if it is kept. Without branches: blanks and quotes are frequent, and not predictable.
    @inline(__always) mutating func put(_ byte: UInt8, _ trait: UInt8, _ place: UInt32, _ index: Int) {
      let start = place &+ UInt32(truncatingIfNeeded: index)
      bytes[count] = byte
      spellings[count] = ahead
      places[count] = SearchedText.place(start, start &+ 1)
      let kept = trait & ByteTraits.isKept
      ahead = (ahead | trait & ByteTraits.spelling) & (kept &- 1)
      count &+= Int(kept)
    }
  }

  @inline(__always) private func writer(_ traits: UnsafeBufferPointer<UInt8>) -> Writer {
    Writer(
      traits: traits.baseAddress!, bytes: bytes.base, spellings: spellings.base, places: places.base, count: count,
      ahead: ahead)
  }

  @inline(__always) private func keep(_ writer: Writer) {
    count = writer.count
    ahead = writer.ahead
  }

  @inline(__always) private static func place(_ start: UInt32, _ end: UInt32) -> UInt64 {
    UInt64(start) << 32 | UInt64(end)
  }

  func append(_ spelled: SpelledByte) {
    let trait = ByteTraits.all[Int(spelled.byte)]
    guard trait & ByteTraits.isKept != 0 else {
      ahead |= spelled.spelling.isEmpty ? trait & ByteTraits.spelling : spelled.spelling.rawValue
      return
    }
    bytes.base[count] = spelled.byte
    spellings.base[count] = spelled.spelling.rawValue | ahead
    places.base[count] = Self.place(spelled.start, spelled.end)
    ahead = 0
    count += 1
  }

  /// Calls `body` with each pattern that ends in the new bytes, and the indices of its bytes.
  func find(_ search: ValueSearch, _ body: (ValuePatterns.Pattern, Range<Int>) -> Void) {
    search.advance(&position, over: bytes.base, searched..<count) { pattern, end in
      body(pattern, end - pattern.bytes.count..<end)
    }
    searched = count
  }

  /// The number of bytes at the end that may begin a pattern.
  func waiting(_ search: ValueSearch) -> Int { search.waiting(position) }

  /// Where a byte begins.
  func start(of index: Int) -> UInt32 { UInt32(truncatingIfNeeded: places.base[index] >> 32) }

  /// Where a byte ends.
  func end(of index: Int) -> UInt32 { UInt32(truncatingIfNeeded: places.base[index]) }

  /// How bytes are spelled. What is before the first one does not count.
  func spelling(of indices: Range<Int>) -> Spelling {
    var all: UInt8 = 0
    for index in indices.dropFirst() { all |= spellings.base[index] }
    let first = indices.lowerBound
    let isLong = end(of: first) &- start(of: first) > 1
    if isLong { all |= spellings.base[first] }
    return Spelling(rawValue: all)
  }

  /// Lends all bytes.
  func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: bytes.base, count: count))
  }

  /// Begins a new text.
  func removeAll() {
    count = 0
    searched = 0
    ahead = 0
    position = ValueSearch.Position()
  }
}
