extension PreferenceValue {
  /// The value that replaces a secret which is not revealed.
  public static var redacted: PreferenceValue { "<redacted>" }
}

extension PreferencesReader {
  /// Returns all values by name, as lookups by name return them.
  ///
  /// Values are whole: a dictionary of a file, such as `server`, is one value, although ``keys()`` lists its entries.
  /// A secret is ``PreferenceValue/redacted`` unless `revealingSecrets` is true. A secret that no layer claims is
  /// included if no plain value has its name. To copy values into a store use `+=`, which copies secrets unredacted,
  /// and to sealed layers only.
  public func dictionary(revealingSecrets: Bool = false) throws -> [String: PreferenceValue] {
    // First, so that a failing sealed layer ends the call before plain layers are read.
    let secrets = custody.holds(.secret) ? try names(of: .secret) : []
    var all = try plainValues()
    for name in secrets where all[name.text] == nil {
      all[name.text] = revealingSecrets ? try value(for: PreferenceQuery(name, secrecy: .secret)) : .redacted
    }
    return all
  }

  /// The values that are not secrets.
  func plainValues() throws -> [String: PreferenceValue] {
    Dictionary(uniqueKeysWithValues: try wholeValues().map { ($0.text, $1) })
  }
}
