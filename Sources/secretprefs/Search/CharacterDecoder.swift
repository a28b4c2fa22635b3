internal import VaultCore

/// Passes on UTF-8, and each other byte beyond ASCII as the character of Latin-1 that has its number: an escape such as
/// `\xe4` is a byte in some languages, and a character in others.
final class CharacterDecoder: SpellingStage {
  private let next: SearchedText
  private let held: GuardedArray<SpelledByte>
  private var count = 0
  private var length = 0

  init(_ next: SearchedText) throws(VaultError) {
    self.next = next
    held = try GuardedArray(count: 4)
  }

  /// Also with the beginning of a character, which needs no other stage.
  var isIdle: Bool { true }
  var hasBeginning: Bool { count > 0 }
  var pending: UInt32? { count == 0 ? nil : held.base[0].start }

  func take(_ spelled: SpelledByte) {
    if spelled.byte < 0x80 {
      if ByteTraits.endsCharacter(spelled.byte) { finish() }
      return next.append(spelled)
    }
    // In %df\x85, the second byte is a character that is encoded in a different way. In %5C%C3%A9, only the first byte
    // has the backslash besides.
    if spelled.byte < 0xC0, count > 0, spelled.spelling.isSubset(of: held.base[0].spelling) {
      hold(spelled)
      guard count == length else { return }
      for index in 0..<count { next.append(held.base[index]) }
      count = 0
      return
    }
    finish()
    length = Self.length(beginningWith: spelled.byte)
    if length > 1 { hold(spelled) } else { putLatin(spelled) }
  }

  /// The number of bytes of a character that begins with this byte; 1 if none does.
  private static func length(beginningWith byte: UInt8) -> Int {
    switch byte {
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: 1
    }
  }

  /// The number of bytes of the character at `index`; 1 if it does not go on, and its first byte stands for itself. Nil
  /// if the text ends before that is known, or if what follows does not decide it, such as a colour or a line end.
  static func length(in text: UnsafeRawBufferPointer, at index: Int) -> Int? {
    let length = length(beginningWith: text[index])
    for next in index &+ 1..<index &+ length {
      guard next < text.count else { return nil }
      guard text[next] & 0xC0 == 0x80 else {
        return ByteTraits.all[Int(text[next])] & ByteTraits.mayContinue != 0 ? nil : 1
      }
    }
    return length
  }

  /// Passes on the beginning of a character that does not go on.
  func finish() {
    for index in 0..<count { putLatin(held.base[index]) }
    count = 0
  }

  private func hold(_ spelled: SpelledByte) {
    held.base[count] = spelled
    count += 1
  }

  private func putLatin(_ spelled: SpelledByte) {
    let encoded = Self.latin(spelled.byte)
    for byte in [encoded.0, encoded.1] {
      var spelled = spelled
      spelled.byte = byte
      next.append(spelled)
    }
  }

  /// The character of Latin-1 with this number in UTF-8.
  @inline(__always) static func latin(_ byte: UInt8) -> (UInt8, UInt8) { (0xC0 | byte >> 6, 0x80 | byte & 0x3F) }
}
