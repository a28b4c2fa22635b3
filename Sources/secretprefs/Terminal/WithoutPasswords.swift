/// The text without what may be a password in a URL, which was given in place of a path: `://user:password@`, and
/// all parameters if one of them is a password, up to the next blank. A password may have blanks and quotes, so what is
/// up to the last `@` before the next URL or line counts as its part. References of this tool have no password.
func withoutPasswords(_ text: String) -> String {
  var rest = Array(text.utf8)[...]
  var shown: [UInt8] = []
  while !rest.isEmpty {
    let end = startOfNextURL(in: rest) ?? rest.endIndex
    shown += part(rest[..<end])
    rest = rest[end...]
  }
  return String(decoding: shown, as: UTF8.self)
}

// With one slash it is no URL, but may have been meant as one.
private let schemeEnd = Array(":/".utf8)

private func endsWord(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == 0x22 || byte == 0x27 }

/// Where the next line begins, or the next word that may be a URL.
private func startOfNextURL(in bytes: ArraySlice<UInt8>) -> Int? {
  bytes.indices.lazy.filter { endsWord(bytes[$0]) }.first { end in
    let word = bytes[(end + 1)...].prefix { !endsWord($0) }
    return bytes[end] == 0x0A || word.firstRange(of: schemeEnd) != nil
  }.map { $0 + 1 }
}

/// - Parameter bytes: At most the first word is a URL.
private func part(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
  guard !bytes.starts(with: SecretReference.scheme.utf8), let scheme = bytes.firstRange(of: schemeEnd) else {
    return Array(bytes)
  }
  let hidden = Array("\u{2026}".utf8)
  var rest = bytes[scheme.upperBound...].drop { $0 == UInt8(ascii: "/") }
  var shown = Array(bytes[..<rest.startIndex])
  if let at = rest.lastIndex(of: UInt8(ascii: "@")), rest[..<at].contains(UInt8(ascii: ":")) {
    shown += hidden
    rest = rest[at...]
  }
  let word = rest.prefix { $0 > 0x20 }
  guard let query = word.firstIndex(of: UInt8(ascii: "?")), hasPassword(word[query...]) else { return shown + rest }
  return shown + rest[...query] + hidden + rest[word.endIndex...]
}

/// Whether parameters of a URL name a password, in any case and percent-encoding.
private func hasPassword(_ query: ArraySlice<UInt8>) -> Bool {
  var copy = Array(query)
  let count = copy.withUnsafeMutableBytes { DecodedText.percent(0..<$0.count, in: $0)?.count }
  let text = copy.prefix(count ?? copy.count).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  return text.firstRange(of: Array("password".utf8)) != nil
}
