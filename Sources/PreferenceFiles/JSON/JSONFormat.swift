public import Preferences

/// JSON files, with tagged values.
///
/// `JSONDecoder` is not used, because it reads `1.0` as an integer on request and accepts repeated members.
public struct JSONFormat: PreferenceFileFormat {
  public static let name = "JSON file"

  public init() {}

  public func values(from bytes: [UInt8]) throws(PreferencesError) -> [String: PreferenceValue] {
    var parser = try JSONParser(bytes)
    return try Self.marks.unmarked(try parser.parse())
  }

  public func bytes(
    of values: [String: PreferenceValue], replacing old: [UInt8]?
  ) throws(PreferencesError) -> [UInt8] {
    let values = try Self.marks.marked(values)
    try ValueBudget.check(values)
    return JSONWriter.document(values)
  }

  private static let marks = ValueMarks { value in
    switch value {
    case .data, .date, .url: false
    case .unsignedInteger(let number): number > Int64.max
    case .double(let number): number.isFinite
    default: true
    }
  }
}
