import VaultSealing

@testable import secretprefs

/// A file to import. The first byte of an input chooses the format, the rest is the file.
struct ImportingTarget: FuzzTarget {
  func check(_ input: UnsafeRawBufferPointer) throws {
    guard let first = input.first else { return }
    let text = Array(input.dropFirst())
    let formats = PlainFormat.allCases
    let choice = Int(first) % (formats.count + 2)
    if choice == formats.count { return try checkEncoding(text) }
    let format = choice < formats.count ? formats[choice] : nil
    guard let file = try ImportedFile(text, as: format, skipping: nil) else { return }
    try file.checkParts()
    try file.checkNamed()
    try file.checkWritten()
    try checkSkipping(file, text, as: format)
    if file.format == .json { try JSONAgreement.check(text) }
  }

  /// What is bad can be left out, and all else is imported as before.
  private func checkSkipping(_ file: ImportedFile, _ text: [UInt8], as format: PlainFormat?) throws {
    let faults = file.records.faults
    guard !faults.isEmpty else { return }
    var choices = [SkippedParts.all]
    let items = faults.compactMap(\.item)
    if items.count == faults.count { choices.append(items.joined(separator: ",")) }
    for choice in choices {
      guard let other = try ImportedFile(text, as: format, skipping: choice) else {
        throw Violation(description: "what is bad is not left out by \(choice)")
      }
      try demand(other.records.faults.isEmpty, "something bad is left by \(choice)")
      try demand(other.records.leftOut.count == faults.count, "how much is left out by \(choice)")
      try demand(other.keys == file.keys, "the keys that are not bad")
    }
  }

  private func checkEncoding(_ text: [UInt8]) throws {
    guard let first = text.first else { return }
    let encoding = TextEncoding.allCases[Int(first) % TextEncoding.allCases.count]
    let bytes = Array(text.dropFirst())
    let isMarked = encoding == .utf16 && bytes.starts(with: [0xFE, 0xFF])
    let isBig = encoding == .utf16BigEndian || isMarked
    do { _ = try bytes.withUnsafeBytes { try TextEncoding.ofFile($0) } } catch let fault as PlainFault {
      try demandNoSecret(fault.reason, "an encoding")
    }
    guard encoding != .utf8 else { return }
    let found: [UInt8]?
    do {
      let source = try SecretBytes(copying: bytes.span.bytes)
      found = try encoding.decoded(source).withUnsafeBytes { Array($0) }
    } catch let fault as PlainFault {
      try demandNoSecret(fault.reason, "an encoding")
      found = nil
    }
    switch encoding {
    case .latin1:
      try demand(found == Array(String(String.UnicodeScalarView(bytes.map(Unicode.Scalar.init))).utf8), "Latin 1")
    case .windows1252: if let found { try demand(isUTF8(found), "what is decoded is UTF-8") }
    case .utf8: break
    case .utf16, .utf16BigEndian, .utf16LittleEndian:
      let units = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
        UInt16(bytes[index + (isBig ? 1 : 0)]) | UInt16(bytes[index + (isBig ? 0 : 1)]) << 8
      }
      let text =
        bytes.count.isMultiple(of: 2)
        ? String(validating: units.first == 0xFEFF ? Array(units.dropFirst()) : units, as: UTF16.self) : nil
      try demand(found == text.map { Array($0.utf8) }, "UTF-16")
    }
  }

  private func isUTF8(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }
}
