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
  func append(_ text: UnsafeRawBufferPointer, from place: UInt32) { _ = append(text, from: place, upTo: 0) }

  /// Appends bytes, those beyond ASCII as ``CharacterDecoder`` passes them on, up to one that may begin an escape, or a
  /// character that the text ends in. Returns their number.
  func appendCharacters(_ text: UnsafeRawBufferPointer, from place: UInt32) -> Int {
    append(text, from: place, upTo: ByteTraits.isIntroducer)
  }

  @inline(__always) private func append(_ text: UnsafeRawBufferPointer, from place: UInt32, upTo stop: UInt8) -> Int {
    ByteTraits.all.withUnsafeBufferPointer { traits in
      CharacterDecoder.lengths.withUnsafeBufferPointer { lengths in
        var (count, ahead, index) = (count, ahead, 0)
        while index < text.count {
          let byte = text[index]
          let trait = traits[Int(byte)]
          let start = place &+ UInt32(truncatingIfNeeded: index)
          if trait & stop != 0 {
            guard byte >= 0x80 else { break }
            guard let length = CharacterDecoder.length(in: text, at: index, lengths[Int(byte)]) else { break }
            spellings.base[count] = ahead
            ahead = 0
            if length == 1 {
              (bytes.base[count], bytes.base[count &+ 1]) = CharacterDecoder.latin(byte)
              spellings.base[count &+ 1] = 0
              places.base[count] = Self.place(start, start &+ 1)
              places.base[count &+ 1] = Self.place(start, start &+ 1)
              count &+= 2
            } else {
              for part in 0..<length {
                bytes.base[count &+ part] = text[index &+ part]
                if part > 0 { spellings.base[count &+ part] = 0 }
                places.base[count &+ part] = Self.place(start &+ UInt32(part), start &+ UInt32(part) &+ 1)
              }
              count &+= length
            }
            index &+= length
            continue
          }
          bytes.base[count] = byte
          spellings.base[count] = ahead
          places.base[count] = Self.place(start, start &+ 1)
          // Without branches: blanks and quotes are frequent, and not predictable.
          let kept = trait & ByteTraits.isKept
          ahead = (ahead | trait & ByteTraits.spelling) & (kept &- 1)
          count &+= Int(kept)
          index &+= 1
        }
        self.count = count
        self.ahead = ahead
        return index
      }
    }
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
