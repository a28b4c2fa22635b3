extension PreferenceValue {
  /// The value for code that takes `Any`: a `String`, `Bool`, `Int`, `UInt64`, `Double`, `Data`, `Date`, `URL`, `[Any]`
  /// or `[String: Any]`. ``DictionaryPreferences/init(converting:name:)`` converts it back, with its type.
  public var asAny: Any {
    switch self {
    case .string(let text): text
    case .bool(let flag): flag
    case .integer(let number): Int(exactly: number) ?? number
    case .unsignedInteger(let number): number
    case .double(let number): number
    case .data(let data): data
    case .date(let date): date
    case .url(let url): url
    case .array(let elements): elements.map(\.asAny)
    case .dictionary(let entries): entries.mapValues(\.asAny)
    }
  }
}

extension PreferencesReader {
  /// Returns all values as ``PreferenceValue/asAny`` has them, for code that takes a `[String: Any]`.
  ///
  /// - Throws: as `PreferencesReader.dictionary(revealingSecrets:)`.
  public func anyDictionary(revealingSecrets: Bool = false) throws -> [String: Any] {
    try dictionary(revealingSecrets: revealingSecrets).mapValues(\.asAny)
  }
}
