/// Returns text that is safe to show on a terminal. Characters that are invisible, move the cursor or reorder text
/// become `\u{…}`. A backslash before `u{` is escaped too, so that different texts always look different.
func displayed(_ text: String) -> String {
  var (text, bytes) = (text, [UInt8]())
  text.withUTF8 { displayed($0, into: &bytes) }
  return String(decoding: bytes, as: UTF8.self)
}

/// Appends what ``displayed(_:)`` returns. Faster for many names, because plain ASCII is copied unexamined.
func displayed(_ utf8: UnsafeBufferPointer<UInt8>, into output: inout [UInt8]) {
  if utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != 0x5C }) { return output.append(contentsOf: utf8) }
  let scalars = String(decoding: utf8, as: UTF8.self).unicodeScalars
  for index in scalars.indices {
    let scalar = scalars[index]
    if isMisleading(scalar) || scalar == "\\" && scalars[index...].dropFirst().starts(with: "u{".unicodeScalars) {
      output.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".utf8)
    } else {
      output.append(contentsOf: UTF8.encode(scalar)!)
    }
  }
}

/// Whether a character is not shown as itself: control and format characters including bidirectional controls, line
/// separators, private use and unassigned characters, and those that look like nothing or like a space (UAX #44,
/// `Default_Ignorable_Code_Point`, and U+2800).
func isMisleading(_ scalar: Unicode.Scalar) -> Bool {
  if (0x20..<0x7F).contains(scalar.value) { return false }
  if scalar.properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}" { return true }
  return switch scalar.properties.generalCategory {
  case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
  default: false
  }
}

/// A number with its noun: `1 entry`, `2 entries`.
func counted(_ number: Int, _ one: String, _ many: String) -> String { "\(number) \(number == 1 ? one : many)" }
