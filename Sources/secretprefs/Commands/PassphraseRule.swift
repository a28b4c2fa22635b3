/// Detects weak new passphrases (`Docs/Decisions/0022`): those with fewer than 15 characters that are not part of a
/// repetition or a sequence. Makes no copies: the passphrase stays in guarded memory.
enum PassphraseRule {
  static let length = 15
  /// The minimum number of different bytes.
  static let variety = 5

  /// Returns why a passphrase is weak, or `nil` if it is not.
  static func weakness(of passphrase: UnsafeRawBufferPointer) -> String? {
    let isText = isUTF8(passphrase)
    guard count(passphrase, isText) >= length else { return "it has fewer than \(length) characters" }
    let once = UnsafeRawBufferPointer(rebasing: passphrase[..<period(of: passphrase)])
    let surprising = count(once, isText) { !continuesRow(once, $0) }
    guard surprising >= length, isVaried(once) else { return "it is repetitive, or a keyboard or letter sequence" }
    return nil
  }

  /// The number of Unicode scalars, or of bytes if the passphrase is not UTF-8.
  private static func count(
    _ bytes: UnsafeRawBufferPointer, _ isText: Bool, where counts: (Int) -> Bool = { _ in true }
  ) -> Int {
    bytes.indices.count { (!isText || bytes[$0] & 0xC0 != 0x80) && counts($0) }
  }

  /// The length of the shortest part that makes up the whole by repetition, or the total length if there is none.
  private static func period(of bytes: UnsafeRawBufferPointer) -> Int {
    (1...max(1, bytes.count / 2)).first { bytes.dropFirst($0).elementsEqual(bytes.dropLast($0)) } ?? bytes.count
  }

  /// Whether a byte and the two before it are equal, or adjacent in one of the sequences, in either direction.
  private static func continuesRow(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> Bool {
    guard index >= 2 else { return false }
    // Setting bit 5 makes letters lower case and does not change digits.
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
