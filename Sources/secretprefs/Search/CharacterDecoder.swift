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
    if spelled.byte < 0xC0, count > 0 {
      hold(spelled)
      guard count == length else { return }
      for index in 0..<count { next.append(held.base[index]) }
      count = 0
      return
    }
    finish()
    length = Int(Self.lengths[Int(spelled.byte)])
    if length > 1 { hold(spelled) } else { putLatin(spelled) }
  }

  /// For each byte that may begin a character, the number of the character's bytes; 1 for all others.
  static let lengths: [UInt8] = (0...UInt8.max).map { byte in
    switch byte {
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: 1
    }
  }

  /// The number of bytes of the character at `index`, which ``lengths`` says; 1 if it does not go on, and its first
  /// byte stands for itself. Nil if the text ends before that is known, or if what follows does not decide it, such as
  /// a colour or a line end within the character.
  @inline(__always) static func length(in text: UnsafeRawBufferPointer, at index: Int, _ length: UInt8) -> Int? {
    var next = index &+ 1
    while next < index &+ Int(length) {
      guard next < text.count else { return nil }
      guard text[next] & 0xC0 == 0x80 else {
        return ByteTraits.endsCharacter(text[next]) && !ByteTraits.mayBeginEscape(text[next]) ? 1 : nil
      }
      next &+= 1
    }
    return Int(length)
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
