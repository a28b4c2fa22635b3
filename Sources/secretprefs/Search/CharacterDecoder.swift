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
      finish()
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
    switch spelled.byte {
    case 0xC2...0xDF: length = 2
    case 0xE0...0xEF: length = 3
    case 0xF0...0xF4: length = 4
    default: return putLatin(spelled)
    }
    hold(spelled)
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
    var spelled = spelled
    let byte = spelled.byte
    spelled.byte = 0xC0 | byte >> 6
    next.append(spelled)
    spelled.byte = 0x80 | byte & 0x3F
    next.append(spelled)
  }
}
