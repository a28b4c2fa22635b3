internal import VaultCore
internal import VaultSealing

/// An encoding of plain files, by its name. Files in others than UTF-8 are converted in guarded memory.
enum TextEncoding: String, CaseIterable {
  case utf8 = "utf-8"
  case utf16 = "utf-16"
  case utf16LittleEndian = "utf-16le"
  case utf16BigEndian = "utf-16be"
  case latin1 = "latin-1"
  case windows1252 = "windows-1252"

  private static let otherNames: [String: TextEncoding] = [
    "utf8": .utf8, "us-ascii": .utf8, "ascii": .utf8, "utf16": .utf16, "iso-8859-1": .latin1, "latin1": .latin1,
    "cp1252": .windows1252,
  ]

  static func named(_ name: String) throws(ToolError) -> TextEncoding {
    guard let encoding = known(name) else { throw .usage("there is no such encoding", hint: choices) }
    return encoding
  }

  private static func known(_ name: String) -> TextEncoding? {
    TextEncoding(rawValue: name.lowercased()) ?? otherNames[name.lowercased()]
  }

  private static var choices: String { "--encoding " + allCases.map(\.rawValue).joined(separator: ", ") }

  /// The encoding that a file names itself: by a byte order mark, or in the declaration of XML. UTF-8 without either.
  ///
  /// - Throws: ``PlainFault`` with the name of an encoding that is not read, or that only looks like one, and for a
  ///   packed file.
  static func ofFile(_ bytes: UnsafeRawBufferPointer) throws(PlainFault) -> TextEncoding {
    for (name, start) in [("gzip", [0x1F, 0x8B]), ("zip", Array("PK\u{3}\u{4}".utf8))] as [(String, [UInt8])]
    where bytes.starts(with: start) {
      throw PlainFault(line: 0, reason: "this is a \(name) file: unpack it first")
    }
    if bytes.starts(with: [0xFF, 0xFE, 0, 0]) || bytes.starts(with: [0, 0, 0xFE, 0xFF]) || isUnmarkedUTF32(bytes) {
      throw PlainFault(line: 0, reason: "the file is UTF-32, which is not read; convert it to UTF-8")
    }
    if bytes.starts(with: [0xFF, 0xFE]) { return .utf16LittleEndian }
    if bytes.starts(with: [0xFE, 0xFF]) { return .utf16BigEndian }
    // Text without a mark that begins with two characters of ASCII.
    if bytes.count >= 4, bytes[0] != 0, bytes[1] == 0, bytes[2] != 0, bytes[3] == 0 {
      throw PlainFault(line: 0, reason: "the file looks like UTF-16 without a mark: --encoding utf-16le reads it")
    }
    if bytes.count >= 4, bytes[0] == 0, bytes[1] != 0, bytes[2] == 0, bytes[3] != 0 {
      throw PlainFault(line: 0, reason: "the file looks like UTF-16 without a mark: --encoding utf-16be reads it")
    }
    guard let name = declared(in: bytes) else { return .utf8 }
    guard let encoding = known(name) else {
      throw PlainFault(line: 1, reason: "the XML is in an encoding that is not read; convert it to UTF-8")
    }
    // Its declaration would not have been found.
    guard ![.utf16, .utf16LittleEndian, .utf16BigEndian].contains(encoding) else {
      throw PlainFault(line: 1, reason: "the XML says that it is UTF-16, and is not: --encoding utf-8 reads it")
    }
    return encoding
  }

  /// Whether a text begins with a character of ASCII in four bytes.
  private static func isUnmarkedUTF32(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count >= 4, bytes.count.isMultiple(of: 4), bytes[1] == 0, bytes[2] == 0 else { return false }
    return (bytes[0] == 0) != (bytes[3] == 0)
  }

  /// The encoding in a declaration such as `<?xml version="1.0" encoding="ISO-8859-1"?>`.
  private static func declared(in bytes: UnsafeRawBufferPointer) -> String? {
    guard bytes.starts(with: "<?xml".utf8), let end = bytes.prefix(200).firstRange(of: Array("?>".utf8)) else {
      return nil
    }
    let words = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
      .split { " \t\r\n=\"'".contains($0) }
    guard let place = words.firstIndex(of: "encoding"), place + 1 < words.count else { return nil }
    return String(words[place + 1])
  }

  /// Converts a file to UTF-8.
  ///
  /// - Throws: ``PlainFault`` if the bytes are not of this encoding.
  func decoded(_ bytes: borrowing SecretBytes) throws -> SecretBytes {
    var count = 0
    try bytes.withUnsafeBytes { try each($0) { count += UTF8.encode($0)!.count } }
    var text = try SecretBytes(count: count)
    var end = 0
    try text.withUnsafeMutableBytes { text in
      try bytes.withUnsafeBytes { bytes in
        try each(bytes) { scalar in
          for byte in UTF8.encode(scalar)! {
            text[end] = byte
            end += 1
          }
        }
      }
    }
    return text
  }

  private func each(_ bytes: UnsafeRawBufferPointer, _ body: (Unicode.Scalar) -> Void) throws(PlainFault) {
    switch self {
    case .utf8:
      throw PlainFault(line: 0, reason: "not UTF-8")
    case .utf16: try Self.each16(bytes, isBig: bytes.starts(with: [0xFE, 0xFF]), body)
    case .utf16LittleEndian: try Self.each16(bytes, isBig: false, body)
    case .utf16BigEndian: try Self.each16(bytes, isBig: true, body)
    case .latin1: for byte in bytes { body(Unicode.Scalar(byte)) }
    case .windows1252:
      for byte in bytes {
        guard (0x80...0x9F).contains(byte) else {
          body(Unicode.Scalar(byte))
          continue
        }
        guard let scalar = Self.windows[Int(byte) - 0x80] else {
          throw PlainFault(line: 0, reason: "a byte that windows-1252 does not have")
        }
        body(scalar)
      }
    }
  }

  private static func each16(
    _ bytes: UnsafeRawBufferPointer, isBig: Bool, _ body: (Unicode.Scalar) -> Void
  ) throws(PlainFault) {
    guard bytes.count.isMultiple(of: 2) else {
      throw PlainFault(line: 0, reason: "UTF-16 that ends within a character")
    }
    func unit(_ index: Int) -> UInt32 {
      let (first, second) = (UInt32(bytes[index]), UInt32(bytes[index + 1]))
      return isBig ? first << 8 | second : second << 8 | first
    }
    var index = !bytes.isEmpty && unit(0) == 0xFEFF ? 2 : 0
    while index < bytes.count {
      let first = unit(index)
      index += 2
      if let scalar = Unicode.Scalar(first) {
        body(scalar)
        continue
      }
      let second = index < bytes.count ? unit(index) : 0
      guard (0xD800...0xDBFF).contains(first), (0xDC00...0xDFFF).contains(second),
        let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
      else { throw PlainFault(line: 0, reason: "UTF-16 with half a character") }
      index += 2
      body(scalar)
    }
  }

  /// The characters of the bytes 0x80 to 0x9F; `nil` for the five that have none.
  private static let windows: [Unicode.Scalar?] = [
    "€", nil, "‚", "ƒ", "„", "…", "†", "‡", "ˆ", "‰", "Š", "‹", "Œ", nil, "Ž", nil,
    nil, "‘", "’", "“", "”", "•", "–", "—", "˜", "™", "š", "›", "œ", nil, "ž", "Ÿ",
  ]
}
