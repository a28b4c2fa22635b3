extension PreferenceValue {
  /// What stands for a sealed value where it is not revealed.
  public static var redacted: PreferenceValue { "<redacted>" }
}

extension PreferencesReader {
  /// All values, as looking up each key by name would give them.
  ///
  /// A secret is ``PreferenceValue/redacted``, unless `revealingSecrets` says otherwise. One that no layer claims, which
  /// only its key reaches, is there when no plain value has its name.
  /// To copy values into a store use `+=`, which neither copies the mark nor puts a secret into a plain layer.
  public func dictionary(revealingSecrets: Bool = false) throws -> [String: PreferenceValue] {
    // First, so that no other layer is asked while a sealed one fails.
    let secrets = custody.holdsSecrets ? try names(of: .secret) : []
    var all = try plainValues()
    for name in secrets where all[name.text] == nil {
      all[name.text] = revealingSecrets ? try value(for: PreferenceQuery(name, secrecy: .secret)) : .redacted
    }
    return all
  }

  /// The values that are no secrets.
  func plainValues() throws -> [String: PreferenceValue] {
    guard custody.holdsPlain else { return [:] }
    var values: [String: PreferenceValue] = [:]
    for name in try names(of: .plain) { values[name.text] = try value(for: PreferenceQuery(name)) }
    return values
  }
}
