/// The XML and binary property list formats.
///
/// An XML file that is written keeps the bytes of every value that does not change, with comments and the order of
/// names. A binary one is written anew.
///
/// URLs are written as strings, unsigned integers as integers, and in XML a date that is not a whole second as a
/// string, which other programs read. A key of their type converts them back; ``init(_:keepingTypes:)`` marks them
/// instead. ``PropertyListPreferences`` describes the marks.
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

  /// Whether each value is read back with its type, even without a key that names the type.
  public let keepsTypes: Bool

  /// Whether control characters are written to XML. Other XML readers refuse such a file.
  private let writesControlCharacters: Bool

  public init() { self.init(nil, keepingTypes: false) }

  /// Creates the format with an encoding for writing. Files in either encoding are read.
  public init(_ encoding: Encoding) { self.init(encoding, keepingTypes: false) }

  /// Creates the format.
  ///
  /// - Parameters:
  ///   - encoding: how files are written; `nil` keeps the encoding of an existing file and writes new ones as XML.
  ///   - keepsTypes: whether URLs, unsigned integers, and dates that the encoding does not have, are written with marks
  ///     that no other program reads, so that each value is read back with its type.
  public init(_ encoding: Encoding?, keepingTypes keepsTypes: Bool) {
    self.encoding = encoding
    self.keepsTypes = keepsTypes
    writesControlCharacters = false
  }

  private init(writingControlCharacters: Bool) {
    encoding = .xml
    keepsTypes = true
    writesControlCharacters = writingControlCharacters
  }

  /// XML as Foundation writes and reads it, including control characters.
  package static let foundation = PropertyListFormat(writingControlCharacters: true)

  public func values(from bytes: [UInt8]) throws(PreferencesError) -> [String: PreferenceValue] {
    try marks(.xml).unmarked(try Self.members(of: bytes))
  }

  /// The values in a file, without resolving marks.
  ///
  /// - Parameter readsReferences: whether references of keyed archives are read, as dictionaries with the member
  ///   `CF$UID`.
  /// - Throws: `malformed`, `limitExceeded`.
  package static func members(
    of bytes: [UInt8], readingReferences readsReferences: Bool = false
  ) throws(PreferencesError) -> [String: PreferenceValue] {
    guard case .dictionary(let members) = try value(of: bytes, readingReferences: readsReferences) else {
      throw PreferencesError(.malformed, "the top level is not a dictionary")
    }
    return members
  }

  /// The value in a file, of any kind, as ``members(of:readingReferences:)`` reads it.
  package static func value(
    of bytes: [UInt8], readingReferences readsReferences: Bool = false
  ) throws(PreferencesError) -> PreferenceValue {
    guard isBinary(bytes) else {
      var parser = try XMLPropertyListParser(bytes)
      return try parser.parse()
    }
    var parser = try BinaryPropertyListParser(bytes, readingReferences: readsReferences)
    return try parser.parse()
  }

  public func bytes(
    of values: [String: PreferenceValue], replacing old: [UInt8]?
  ) throws(PreferencesError) -> [UInt8] {
    let encoding = encoding ?? (old.map(Self.isBinary) == true ? .binary : .xml)
    let marks = marks(encoding)
    // Also before, because the marks are put in by recursion.
    try ValueBudget.check(values)
    let marked = try marks.marked(values)
    try ValueBudget.check(marked)
    guard encoding == .xml else { return BinaryPropertyListWriter.file(.dictionary(marked)) }
    let writer = XMLPropertyListWriter(writesControlCharacters: writesControlCharacters)
    // Foundation's file is written in the form that Foundation reads.
    if let old, !Self.isBinary(old), !writesControlCharacters {
      let editor = DocumentEditor(syntax: try XMLPropertyListSyntax(old, writer: writer), marks: marks)
      if let edited = try editor.edit(to: values, reading: self.values(from:)) { return edited }
    }
    return try writer.document(marked)
  }

  public func format(of content: [UInt8]) -> PropertyListFormat {
    if encoding != nil { return self }
    return PropertyListFormat(Self.isBinary(content) ? .binary : .xml, keepingTypes: keepsTypes)
  }

  /// The binary list with the value that ``value(of:readingReferences:)`` has returned, without marks.
  package static func binary(_ value: PreferenceValue) -> [UInt8] { BinaryPropertyListWriter.file(value) }

  private static func isBinary(_ bytes: [UInt8]) -> Bool { bytes.starts(with: "bplist".utf8) }

  private func marks(_ encoding: Encoding) -> ValueMarks {
    ValueMarks(isStrict: false, keepsTypes: keepsTypes) { value in
      switch value {
      case .url: false
      case .unsignedInteger(let number): number > Int64.max
      case .date(let date): encoding == .binary || PreferenceTimestamp.text(date) != nil
      default: true
      }
    }
  }
}
