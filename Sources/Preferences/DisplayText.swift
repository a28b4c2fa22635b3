/// Escapes the characters with which a name could break a line, move the cursor or reorder the text.
///
/// The backslash is not escaped, so escaping twice changes nothing.
func escapedForDisplay(_ text: String) -> String {
  guard text.unicodeScalars.contains(where: isMisleading) else { return text }
  var escaped = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    if isMisleading(scalar) {
      escaped.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
    } else {
      escaped.append(scalar)
    }
  }
  return String(escaped)
}

private func isMisleading(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0x00...0x1F, 0x7F...0x9F: true  // control characters
  case 0x2028, 0x2029: true  // line and paragraph separators
  case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true  // bidirectional controls
  default: false
  }
}
