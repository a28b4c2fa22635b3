/// The two property list formats, with tagged values.
///
/// `PropertyListDecoder` cannot serve here. It decodes `<real>1.0</real>` as an `Int64` and
/// `<integer>1</integer>` as a `Double`, so nothing that goes through `Decodable` can tell the two apart,
/// and the process dies on an array that contains itself or is nested a hundred thousand deep (seen with
/// Swift 6.3.1 on Linux).
public struct PropertyListFormat: PreferenceFileFormat {
  /// How a property list is written.
  public enum Encoding: Sendable, Hashable {
    /// For people: strings with control characters cannot be stored.
    case xml
    case binary
  }

  public static let name = "property list"

  /// How files are written; nil for as they were, and new ones as XML.
  public let encoding: Encoding?

  public init() { encoding = nil }

  /// Creates the format with one of its encodings. Files are read in both.
  public init(_ encoding: Encoding) { self.encoding = encoding }

  public func values(from bytes: [UInt8]) throws(PreferencesError) -> [String: PreferenceValue] {
    let value: PreferenceValue
    if Self.isBinary(bytes) {
      var parser = try BinaryPropertyListParser(bytes)
      value = try parser.parse()
    } else {
      var parser = try XMLPropertyListParser(bytes)
      value = try parser.parse()
    }
    guard case .dictionary(let dictionary) = value else {
      throw PreferencesError(.malformed, "the top level is not a dictionary")
    }
    return try Self.xmlMarks.unmarked(dictionary)
  }

  public func bytes(
    of values: [String: PreferenceValue], replacing old: [UInt8]?
  ) throws(PreferencesError) -> [UInt8] {
    let encoding = encoding ?? (old.map(Self.isBinary) == true ? .binary : .xml)
    let marks = encoding == .xml ? Self.xmlMarks : Self.binaryMarks
    let values = try marks.marked(values)
    try ValueBudget.check(values)
    switch encoding {
    case .xml: return try XMLPropertyListWriter.document(values)
    case .binary: return BinaryPropertyListWriter.file(values)
    }
  }

  private static func isBinary(_ bytes: [UInt8]) -> Bool { bytes.starts(with: "bplist".utf8) }

  private static let xmlMarks = ValueMarks { value in
    switch value {
    case .url: false
    case .unsignedInteger(let number): number > Int64.max
    case .date(let date): Timestamp.text(date) != nil
    default: true
    }
  }

  private static let binaryMarks = ValueMarks { value in
    switch value {
    case .url: false
    case .unsignedInteger(let number): number > Int64.max
    default: true
    }
  }
}
