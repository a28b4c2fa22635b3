/// The entries of pass that are files, and no password with notes.
enum PassDocument {
  private typealias Text = UnsafeMutableRawBufferPointer

  /// The beginnings of such files: keys in PEM, of PuTTY, and of age, and XML.
  private static let beginnings = [
    "-----BEGIN ", "---- BEGIN ", "PuTTY-User-Key-File-", "# created: ", "<?xml", "<!DOCTYPE ",
  ]
  /// What openssl writes in front of a key or certificate in PEM.
  private static let titles = ["Bag Attributes", "Key Attributes", "Certificate:", "Private-Key:", "subject="]
  private static let feed = UInt8(ascii: "\n")

  /// Whether an entry is a file. Changes nothing in it.
  static func isDocument(_ text: Range<Int>, in bytes: UnsafeMutableRawBufferPointer) -> Bool {
    let whole = Text(rebasing: bytes[text])
    guard isUTF8(UnsafeRawBufferPointer(whole)) else { return true }
    // Behind a byte order mark, which stays in the value.
    let content = Text(rebasing: whole[InputText(whole).position...])
    return beginnings.contains { content.starts(with: $0.utf8) } || isTitledPEM(content) || isXML(content)
      || isJSON(content) || hasSections(content)
  }

  /// Whether a text is such a file, or has a key in PEM at its end.
  static func endsWithFile(_ text: Range<Int>, in bytes: UnsafeMutableRawBufferPointer) -> Bool {
    let lastLine = bytes[text].split(separator: feed).last { $0.contains { !InputText.isSpace($0) } }
    return lastLine?.starts(with: "-----END ".utf8) ?? false || isDocument(text, in: bytes)
  }

  private static func isTitledPEM(_ text: Text) -> Bool {
    titles.contains { text.starts(with: $0.utf8) } && text.firstRange(of: Array("\n-----BEGIN ".utf8)) != nil
  }

  /// Whether the text is an element whose tags are all closed. One without an end tag may be a password.
  private static func isXML(_ text: Text) -> Bool {
    guard text.first == UInt8(ascii: "<"), text.firstRange(of: Array("</".utf8)) != nil else { return false }
    var xml = GuardedXMLParser(text)
    do throws(PlainFault) {
      guard try xml.child() != nil else { return false }
      try xml.skip()
      return try xml.child() == nil
    } catch { return false }
  }

  /// Whether the text is an object or a list that has something.
  private static func isJSON(_ text: Text) -> Bool {
    guard let first = text.first, "{[".utf8.contains(first) else { return false }
    let second = text.dropFirst().first { !InputText.isSpace($0) }
    return second.map { !"}]".utf8.contains($0) } ?? false && GuardedJSONParser.isValue(text)
  }

  /// Whether the text is an INI file, as WireGuard has it: a section, behind nothing but comments, and settings.
  private static func hasSections(_ text: Text) -> Bool {
    // A first line without anything is an empty password.
    guard let first = text.first, "#;[".utf8.contains(first) else { return false }
    var rest = text[...]
    while let first = rest.first {
      let line = rest.prefix { $0 != feed }
      rest = rest[line.endIndex...].dropFirst()
      if "#;\r\n".utf8.contains(first) { continue }
      let isSection = first == UInt8(ascii: "[") && line.last { !InputText.isSpace($0) } == UInt8(ascii: "]")
      return isSection && rest.contains(UInt8(ascii: "="))
    }
    return false
  }
}
