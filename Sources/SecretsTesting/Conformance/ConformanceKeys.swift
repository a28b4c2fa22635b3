internal import Preferences

extension PreferenceKey {
  /// A key that is kept where its name alone would be: in the first layer, sealed or not.
  static func any<Wrapped: PreferenceConvertible>(_ name: String) -> Self where Value == Wrapped? {
    PreferenceKey(name).allowingSealed()
  }

  /// A key that is kept in sealed layers only.
  static func secret<Wrapped: PreferenceConvertible>(_ name: String) -> Self where Value == Wrapped? {
    let key = PreferenceKey(name)
    return PreferenceKey(
      name, kind: key.kind, secrecy: .secret, makeDefault: { nil },
      decode: { value throws(PreferencesError) in try Wrapped(preferenceValue: value) },
      encode: { value throws(PreferencesError) in value?.preferenceValue })
  }
}

/// A name that is the case of an enum.
enum EnumName: String {
  case text
  case word
}

extension PreferencesReader {
  /// Whether this is one sealed store, as opposed to layers of which some are sealed.
  var isSealedAlone: Bool { isSealed && !isLayered }
}

/// The error that `body` throws; nil when it throws none.
func failure(of body: () throws -> Void) -> (any Error)? {
  do {
    try body()
    return nil
  } catch { return error }
}

/// The code of the preferences error that `body` throws; nil when it throws none, or another.
func code(of body: () throws -> Void) -> PreferencesError.Code? { (failure(of: body) as? PreferencesError)?.code }

/// How many failures are told while `body` runs.
func failuresTold(_ body: () throws -> Void) rethrows -> Int {
  let told = Collected<String>()
  try PreferenceFailures.withHandler {
    told.append($0.key)
  } _: {
    try body()
  }
  return told.all.count
}
