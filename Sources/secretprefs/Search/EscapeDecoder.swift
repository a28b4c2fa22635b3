internal import VaultCore

/// Decodes the escapes with a backslash of JSON, YAML, SQL, shells and programming languages. The number of backslashes
/// does not matter: each further level of quoting doubles it.
final class EscapeDecoder<Next: SpellingStage>: SpellingStage {
  private let next: Next
  private var state = EscapeState.none
  /// The backslash.
  private var first = SpelledByte(byte: 0, spelling: [], start: 0, end: 0)
  /// The number of backslashes.
  private var backslashes = 0
  /// Whether the last backslash was before a line end.
  private var isContinued = false
  /// What follows the backslash.
  private let held: GuardedArray<SpelledByte>
  private var count = 0
  /// The first half of a surrogate pair.
  private var half: (unit: UInt32, spelled: SpelledByte)?

  init(_ next: Next) throws(VaultError) {
    self.next = next
    held = try GuardedArray(count: 10)
  }

  var isIdle: Bool { state == .none && half == nil && next.isIdle }
  var pending: UInt32? { next.pending ?? half?.spelled.start ?? (state == .none ? nil : first.start) }

  func take(_ spelled: SpelledByte) {
    switch state {
    case .none: begin(spelled)
    case .escape: choose(spelled)
    case .octal:
      if (0x30...0x37).contains(spelled.byte), count < 3, count == 1 || held.base[0].byte < 0x34 {
        return hold(spelled)
      }
      finishOctal()
      take(spelled)
    case .digits(let wanted):
      if wanted == 4, count == 1, spelled.byte == UInt8(ascii: "{") {
        state = .braces
        hold(spelled)
      } else if hexadecimal(spelled.byte) != nil {
        hold(spelled)
        if count == wanted + 1 { finishDigits(from: 1, end: spelled.end) }
      } else {
        release()
        take(spelled)
      }
    case .braces:
      if spelled.byte == UInt8(ascii: "}"), count > 2 {
        finishDigits(from: 2, end: spelled.end)
      } else if hexadecimal(spelled.byte) != nil, count < 8 {
        hold(spelled)
      } else {
        release()
        take(spelled)
      }
    }
  }

  func finish() {
    switch state {
    case .none, .escape: break
    case .octal: finishOctal()
    case .digits, .braces: release()
    }
    state = .none
    passHalf()
    next.finish()
  }

  private func begin(_ spelled: SpelledByte) {
    guard spelled.byte == UInt8(ascii: "\\") else { return pass(spelled) }
    state = .escape
    first = spelled
    count = 0
    backslashes = 1
    isContinued = false
  }

  private var continues: Bool { isContinued || backslashes > 1 && backslashes % 2 == 1 }

  /// Takes the byte after a backslash.
  private func choose(_ spelled: SpelledByte) {
    switch spelled.byte {
    case UInt8(ascii: "\\"):
      backslashes += 1
      return
    case 0x0A where continues, 0x0D where continues:
      // YAML may break a line between a backslash, which is two in quotes, and the letter after it.
      isContinued = true
      return
    case 0x09 where isContinued, 0x20 where isContinued: return
    case UInt8(ascii: "x"): state = .digits(2)
    case UInt8(ascii: "u"): state = .digits(4)
    case UInt8(ascii: "U"): state = .digits(8)
    case 0x30...0x37: state = .octal
    default:
      state = .none
      var decoded = spelled
      decoded.start = first.start
      decoded.spelling.formUnion(Self.isJSON(spelled.byte) ? .backslash : .escape)
      guard let scalar = Self.scalar(spelled.byte) else { return pass(decoded) }
      return put(scalar, decoded)
    }
    hold(spelled)
  }

  private static func isJSON(_ letter: UInt8) -> Bool { "\"\\/bfnrt".utf8.contains(letter) }

  /// The character that a letter stands for after a backslash, of JSON, C, bash, Python, YAML and MySQL.
  private static func scalar(_ letter: UInt8) -> UInt32? {
    switch letter {
    case UInt8(ascii: "a"): 7
    case UInt8(ascii: "b"): 8
    case UInt8(ascii: "t"): 9
    case UInt8(ascii: "n"): 10
    case UInt8(ascii: "v"): 11
    case UInt8(ascii: "Z"): 26
    case UInt8(ascii: "f"): 12
    case UInt8(ascii: "r"): 13
    case UInt8(ascii: "e"), UInt8(ascii: "E"): 27
    case UInt8(ascii: "N"): 0x85
    case UInt8(ascii: "_"): 0xA0
    case UInt8(ascii: "L"): 0x2028
    case UInt8(ascii: "P"): 0x2029
    default: nil
    }
  }

  private func hold(_ spelled: SpelledByte) {
    held.base[count] = spelled
    count += 1
  }

  /// Passes on what is no escape, without its backslash.
  private func release() {
    state = .none
    held.base[0].start = first.start
    held.base[0].spelling.insert(.escape)
    for index in 0..<count { pass(held.base[index]) }
  }

  private func finishOctal() {
    var decoded = first
    decoded.byte = (0..<count).reduce(0) { $0 << 3 | (held.base[$1].byte & 7) }
    decoded.spelling.insert(.escape)
    decoded.end = held.base[count - 1].end
    state = .none
    pass(decoded)
  }

  private func finishDigits(from index: Int, end: UInt32) {
    let number = (index..<count).reduce(UInt32(0)) { $0 << 4 | UInt32(hexadecimal(held.base[$1].byte) ?? 0) }
    var decoded = first
    decoded.end = end
    let letter = held.base[0].byte
    decoded.spelling.insert(letter == UInt8(ascii: "u") && state != .braces ? .backslash : .escape)
    state = .none
    if letter == UInt8(ascii: "x"), index == 1 {
      decoded.byte = UInt8(truncatingIfNeeded: number)
      pass(decoded)
    } else if number < 0x110000 {
      put(number, decoded)
    }
  }

  /// Passes on a character, or half of a pair of UTF-16.
  private func put(_ unit: UInt32, _ spelled: SpelledByte) {
    if let half, (0xDC00...0xDFFF).contains(unit) {
      var whole = half.spelled
      whole.end = spelled.end
      self.half = nil
      return put(0x10000 + (half.unit - 0xD800) << 10 + (unit - 0xDC00), whole)
    }
    passHalf()
    if (0xD800...0xDBFF).contains(unit) {
      half = (unit, spelled)
    } else {
      next.take(unit, spelledAs: spelled)
    }
  }

  private func passHalf() {
    guard let half else { return }
    self.half = nil
    next.take(half.unit, spelledAs: half.spelled)
  }

  private func pass(_ spelled: SpelledByte) {
    passHalf()
    next.take(spelled)
  }
}

/// What precedes the next byte.
private enum EscapeState: Equatable {
  case none, escape, octal, braces
  /// Digits follow, this many.
  case digits(Int)
}
