/// A reader of text, which it parses as the kind that the caller wants.
protocol TextReader: PreferencesReader {
  /// - Throws: ``PreferencesError/Code/malformed`` if the text is not UTF-8.
  func text(forKey key: String) throws(PreferencesError) -> String?

  /// What an error calls the text under `key`.
  func textName(forKey key: String) -> String
}

extension TextReader {
  /// Returns the text parsed as the query's kind, or as a string if the query has none; `nil` if there is no text.
  ///
  /// - Throws: ``PreferencesError/Code/malformed`` if the text is not UTF-8, ``PreferencesError/Code/typeMismatch`` if
  ///   it does not parse.
  public func value(for query: PreferenceQuery) throws(PreferencesError) -> PreferenceValue? {
    let key = query.name.text
    guard let text = try text(forKey: key) else { return nil }
    guard let kind = query.kind else { return .string(text) }
    if let value = PreferenceValue(parsing: text, as: kind) { return value }
    throw .unparsable(textName(forKey: key), as: kind, key: key)
  }
}
