/// Text for a terminal: what does not print, moves the cursor or reorders what is read is shown as `\u{…}`. So is a
/// backslash before `u{`, and no other, so that different texts are always shown differently.
func displayed(_ text: String) -> String {
  var (text, bytes) = (text, [UInt8]())
  text.withUTF8 { displayed($0, into: &bytes) }
  return String(decoding: bytes, as: UTF8.self)
}

/// As ``displayed(_:)`` for many names: plain ASCII is copied without a look at each character's properties.
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

/// Whether a character does not print as itself: control and format characters, bidirectional controls among
/// them, line separators and what Unicode has not assigned.
func isMisleading(_ scalar: Unicode.Scalar) -> Bool {
  if (0x20..<0x7F).contains(scalar.value) { return false }
  return switch scalar.properties.generalCategory {
  case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
  default: false
  }
}

/// A number with what it counts: `1 entry`, `2 entries`.
func counted(_ number: Int, _ one: String, _ many: String) -> String { "\(number) \(number == 1 ? one : many)" }
