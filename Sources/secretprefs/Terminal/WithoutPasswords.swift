/// The text without what may be a password in a URL, which was given in place of a path: `://user:password@`, and
/// all parameters if one of them is a password, up to the end of the word. References of this tool have no password.
func withoutPasswords(_ text: String) -> String {
  let bytes = Array(text.utf8)
  var shown: [UInt8] = []
  var start = 0
  while start < bytes.count {
    let end = bytes[start...].firstIndex { $0 <= 0x20 || $0 == 0x22 || $0 == 0x27 } ?? bytes.count
    shown += word(bytes[start..<end])
    if end < bytes.count { shown.append(bytes[end]) }
    start = end + 1
  }
  return String(decoding: shown, as: UTF8.self)
}

private func word(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
  // With one slash it is no URL, but may have been meant as one.
  guard !bytes.starts(with: SecretReference.scheme.utf8), let scheme = bytes.firstRange(of: Array(":/".utf8)) else {
    return Array(bytes)
  }
  let hidden = Array("\u{2026}".utf8)
  var rest = bytes[scheme.upperBound...].drop { $0 == UInt8(ascii: "/") }
  var shown = Array(bytes[..<rest.startIndex])
  if let at = rest.lastIndex(of: UInt8(ascii: "@")), rest[..<at].contains(UInt8(ascii: ":")) {
    shown += hidden
    rest = rest[at...]
  }
  guard let query = rest.firstIndex(of: UInt8(ascii: "?")), hasPassword(rest[query...]) else { return shown + rest }
  return shown + rest[...query] + hidden
}

/// Whether parameters of a URL name a password, in any case and percent-encoding.
private func hasPassword(_ query: ArraySlice<UInt8>) -> Bool {
  var copy = Array(query)
  let count = copy.withUnsafeMutableBytes { DecodedText.percent(0..<$0.count, in: $0)?.count }
  let text = copy.prefix(count ?? copy.count).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  return text.firstRange(of: Array("password".utf8)) != nil
}
