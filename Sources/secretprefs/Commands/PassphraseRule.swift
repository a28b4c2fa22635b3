/// Which new passphrases are weak (`Docs/Decisions/0022`): those with fewer than 15 characters, and those that have so many
/// by repeats and rows alone. Nothing is copied: what is judged stays in guarded memory.
enum PassphraseRule {
  static let length = 15
  /// How many different bytes there are in a passphrase that is not just a pattern.
  static let variety = 5

  /// Why a passphrase is weak; nil when it is not.
  static func weakness(of passphrase: UnsafeRawBufferPointer) -> String? {
    let isText = isText(passphrase)
    guard count(passphrase, isText) >= length else { return "it has fewer than \(length) characters" }
    let once = UnsafeRawBufferPointer(rebasing: passphrase[..<period(of: passphrase)])
    let surprising = count(once, isText) { !continuesRow(once, $0) }
    guard surprising >= length, isVaried(once) else { return "it repeats itself, or follows a row of keys or letters" }
    return nil
  }

  /// Characters of UTF-8; bytes of what is no text, such as random ones.
  private static func count(
    _ bytes: UnsafeRawBufferPointer, _ isText: Bool, where counts: (Int) -> Bool = { _ in true }
  ) -> Int {
    bytes.indices.count { (!isText || bytes[$0] & 0xC0 != 0x80) && counts($0) }
  }

  private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
    do {
      _ = try UTF8Span(validating: bytes.assumingMemoryBound(to: UInt8.self).span)
      return true
    } catch { return false }
  }

  /// The length of the part that the whole repeats, at least twice; that of the whole when it repeats none.
  private static func period(of bytes: UnsafeRawBufferPointer) -> Int {
    (1...max(1, bytes.count / 2)).first { bytes.dropFirst($0).elementsEqual(bytes.dropLast($0)) } ?? bytes.count
  }

  /// Whether a byte and the two before it are the same, or follow each other in a row, forwards or backwards.
  private static func continuesRow(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> Bool {
    guard index >= 2 else { return false }
    // Bit 5 makes letters lower case, and leaves digits as they are.
    let (a, b, c) = (bytes[index - 2] | 0x20, bytes[index - 1] | 0x20, bytes[index] | 0x20)
    return (a == b && b == c)
      || (2..<rows.count).contains { end in
        rows[end - 1] == b && ((rows[end - 2] == a && rows[end] == c) || (rows[end - 2] == c && rows[end] == a))
      }
  }

  private static let rows = Array(
    "abcdefghijklmnopqrstuvwxyz\n01234567890\nqwertyuiop\nasdfghjkl\nzxcvbnm".utf8)

  private static func isVaried(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var different = 0
    for index in bytes.indices where !bytes[..<index].contains(bytes[index]) {
      different += 1
      if different == variety { return true }
    }
    return false
  }
}
