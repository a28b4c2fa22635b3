/// The XML and binary property list formats, with tagged values.
///
/// `PropertyListDecoder` is not used: it decodes `<real>1.0</real>` as an `Int64` and `<integer>1</integer>` as a
/// `Double`, so the two cannot be distinguished, and it crashes on an array that contains itself or is nested a hundred
/// thousand deep (Swift 6.3.1 on Linux).
public struct PropertyListFormat: PreferenceFileFormat {
  /// How a property list is written.
  public enum Encoding: Sendable, Hashable {
    /// For people. Strings with control characters cannot be stored.
    case xml
    /// For programs. Any string can be stored.
    case binary
  }

  public static let name = "property list"

  /// How files are written; `nil` keeps the encoding of an existing file and writes new ones as XML.
  public let encoding: Encoding?

  /// Whether control characters are written to XML. Other XML readers refuse such a file.
  private let writesControlCharacters: Bool

  public init() { (encoding, writesControlCharacters) = (nil, false) }

  /// Creates the format with an encoding for writing. Files in either encoding are read.
  public init(_ encoding: Encoding) { (self.encoding, writesControlCharacters) = (encoding, false) }

  private init(_ encoding: Encoding, writingControlCharacters: Bool) {
    (self.encoding, writesControlCharacters) = (encoding, writingControlCharacters)
  }

  /// XML as Foundation writes and reads it, including control characters.
  package static let foundation = PropertyListFormat(.xml, writingControlCharacters: true)

  public func values(from bytes: [UInt8]) throws(PreferencesError) -> [String: PreferenceValue] {
    try Self.xmlMarks.unmarked(try Self.members(of: bytes))
  }

  /// The values in a file, without resolving marks.
  ///
  /// - Parameter readsReferences: whether references of keyed archives are read, as dictionaries with the member
  ///   `CF$UID`.
  /// - Throws: `malformed`, `limitExceeded`.
  package static func members(
    of bytes: [UInt8], readingReferences readsReferences: Bool = false
  ) throws(PreferencesError) -> [String: PreferenceValue] {
    let value: PreferenceValue
    if isBinary(bytes) {
      var parser = try BinaryPropertyListParser(bytes, readingReferences: readsReferences)
      value = try parser.parse()
    } else {
      var parser = try XMLPropertyListParser(bytes)
      value = try parser.parse()
    }
    guard case .dictionary(let members) = value else {
      throw PreferencesError(.malformed, "the top level is not a dictionary")
    }
    return members
  }

  public func bytes(
    of values: [String: PreferenceValue], replacing old: [UInt8]?
  ) throws(PreferencesError) -> [UInt8] {
    let encoding = encoding ?? (old.map(Self.isBinary) == true ? .binary : .xml)
    let marks = encoding == .xml ? Self.xmlMarks : Self.binaryMarks
    // Also before, because the marks are put in by recursion.
    try ValueBudget.check(values)
    let values = try marks.marked(values)
    try ValueBudget.check(values)
    switch encoding {
    case .xml: return try XMLPropertyListWriter(writesControlCharacters: writesControlCharacters).document(values)
    case .binary: return BinaryPropertyListWriter.file(values)
    }
  }

  /// The binary list with the values that ``members(of:readingReferences:)`` has returned, without marks.
  package static func binary(_ members: [String: PreferenceValue]) -> [UInt8] {
    BinaryPropertyListWriter.file(members)
  }

  private static func isBinary(_ bytes: [UInt8]) -> Bool { bytes.starts(with: "bplist".utf8) }

  private static let xmlMarks = ValueMarks(isStrict: false) { value in
    switch value {
    case .url: false
    case .unsignedInteger(let number): number > Int64.max
    case .date(let date): PreferenceTimestamp.text(date) != nil
    default: true
    }
  }

  private static let binaryMarks = ValueMarks(isStrict: false) { value in
    switch value {
    case .url: false
    case .unsignedInteger(let number): number > Int64.max
    default: true
    }
  }
}
