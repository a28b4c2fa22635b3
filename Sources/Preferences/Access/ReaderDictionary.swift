extension PreferenceValue {
  /// What stands for a sealed value where it is not revealed.
  public static var redacted: PreferenceValue { "<redacted>" }
}

extension PreferencesReader {
  /// All values, as looking up each key by name would give them.
  ///
  /// A name that a sealed layer has a value for is ``PreferenceValue/redacted``, unless `revealingSecrets` says otherwise.
  /// To copy values into a store use `+=`, which neither copies the mark nor puts a secret into a plain layer.
  public func dictionary(revealingSecrets: Bool = false) throws -> [String: PreferenceValue] {
    var all: [String: PreferenceValue] = [:]
    for key in try keys() {
      let isHidden = try !revealingSecrets && isHeldSealed(key)
      if isHidden { all[key] = .redacted } else { all[key] = try value(forKey: key) }
    }
    return all
  }

  /// Whether a sealed layer has a value under `key`, which it lists. Opens nothing where the whole reader is sealed.
  func isHeldSealed(_ key: String) throws -> Bool {
    guard isLayered else { return isSealed }
    return try value(forKey: key, as: nil, secrecy: .secret) != nil
  }
}
