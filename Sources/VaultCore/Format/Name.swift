internal import DurableFiles
@_spi(_Unicode) import Swift

extension Vault {
  /// The name of a group, a service or a key: 1 to 1024 bytes of UTF-8 without control characters
  /// (`Docs/Format.md` 2.5). Compared and ordered by bytes.
  public struct Name: Sendable, Hashable, Comparable {
    /// The bytes in the file.
    public let utf8: [UInt8]
    /// The original text, if it is not in normal form: another program may have written the name in this spelling
    /// (`Docs/Decisions/0018`).
    let spelled: [UInt8]?

    /// The name with the normal form C of `text`, so that two spellings of one text are the same name. Neither `text`
    /// nor its normal form may exceed 1024 bytes.
    ///
    /// Also finds a record, service or access group whose name another program wrote with exactly the bytes of `text`.
    /// - Throws: ``VaultError/Code/invalidName``; the message does not include the text.
    public init(_ text: String) throws(VaultError) {
      guard text.utf8.count <= Vault.Name.maximumByteCount else { throw Vault.Name.invalid }
      let normal = Vault.Name.normalized(text)
      guard Vault.Name.isValid(normal.bytes) else { throw Vault.Name.invalid }
      utf8 = normal
      spelled = Vault.Name.isASCII(text) || text.utf8.elementsEqual(normal) ? nil : Array(text.utf8)
    }

    /// The name with exactly these bytes, for names in a file that another program wrote.
    /// - Throws: ``VaultError/Code/invalidName``.
    public init(verbatim bytes: [UInt8]) throws(VaultError) {
      guard Vault.Name.isValid(bytes.bytes) else { throw Vault.Name.invalid }
      utf8 = bytes
      spelled = nil
    }

    /// The name as a string. Two names that differ in bytes may be equal as strings.
    public var text: String { String(decoding: utf8, as: UTF8.self) }

    /// The bytes in the file, without a copy.
    var bytes: RawSpan {
      @_lifetime(borrow self)
      get { utf8.bytes }
    }

    /// The possible spellings of the name in a file, in the order of the search.
    var spellings: [[UInt8]] { [spelled, utf8].compactMap(\.self) }

    /// Whether `name` has the bytes of one of the spellings.
    package func isSpelled(_ name: Vault.Name) -> Bool { spellings.contains(name.utf8) }

    public static func == (a: Vault.Name, b: Vault.Name) -> Bool { a.utf8 == b.utf8 }

    public func hash(into hasher: inout Hasher) {
      unsafe utf8.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    public static func < (a: Vault.Name, b: Vault.Name) -> Bool {
      compareBytes(a.bytes, b.bytes) < 0
    }

    static let maximumByteCount = 1024

    static let invalid = VaultError(.invalidName, "a name has 1 to 1024 bytes of UTF-8 without control characters")

    /// Whether `text` is ASCII, which is its own normal form.
    static func isASCII(_ text: String) -> Bool {
      text.utf8Span.isKnownASCII || text.utf8.allSatisfy { $0 < 0x80 }
    }

    private static func normalized(_ text: String) -> [UInt8] {
      if isASCII(text) { return Array(text.utf8) }
      // The standard library's own normaliser; swift-foundation uses the same entry. See Docs/Decisions/0002.
      var normal = String.UnicodeScalarView()
      normal.append(contentsOf: text._nfc)
      return Array(String(normal).utf8)
    }

    /// Whether `bytes` are a valid name.
    static func isValid(_ bytes: RawSpan) -> Bool {
      guard (1...maximumByteCount).contains(bytes.byteCount) else { return false }
      // Eight bytes at a time while they are printable ASCII, because a load checks two names for each record. The last
      // word overlaps the one before.
      let index = countOfWords(in: bytes, where: isPrintable)
      let rest = bytes.byteCount - index
      if rest < 8, bytes.byteCount >= 8, isPrintable(bytes.integer(at: bytes.byteCount - 8)) { return true }
      return isUTF8(bytes.extracting(index...), allowingControls: false)
    }

    /// Whether each of eight bytes is from 0x20 to 0x7E.
    private static func isPrintable(_ word: UInt64) -> Bool {
      let each: UInt64 = 0x0101_0101_0101_0101
      let delete = word ^ (each * 0x7F)
      let below = (word &- each * 0x20) & ~word
      let equal = (delete &- each) & ~delete
      return (word | below | equal) & (each * 0x80) == 0
    }
  }
}

/// The length of the prefix whose words of eight bytes all satisfy a condition.
@inline(__always)
private func countOfWords(in bytes: RawSpan, where isWanted: (UInt64) -> Bool) -> Int {
  var index = 0
  while index + 8 <= bytes.byteCount, isWanted(bytes.integer(at: index)) { index += 8 }
  return index
}

/// Whether `bytes` are well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
func isUTF8(_ bytes: RawSpan, allowingControls: Bool = true) -> Bool {
  var index = allowingControls ? countOfWords(in: bytes) { $0 & 0x8080_8080_8080_8080 == 0 } : 0
  while index < bytes.byteCount {
    let lead = bytes.byte(at: index)
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch lead {
    case 0x00...0x7F:
      if !allowingControls, lead < 0x20 || lead == 0x7F { return false }
      index += 1
      continue
    case 0xC2...0xDF:
      length = 2
      if !allowingControls, lead == 0xC2 { second = 0xA0...0xBF }  // U+0080…009F
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: length = 4
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: return false
    }
    guard index + length <= bytes.byteCount, second.contains(bytes.byte(at: index + 1)) else { return false }
    for trail in 2..<max(length, 2) where !(0x80...0xBF).contains(bytes.byte(at: index + trail)) { return false }
    index += length
  }
  return true
}
