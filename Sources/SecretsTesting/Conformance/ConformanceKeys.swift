internal import Preferences

extension PreferenceKey {
  /// A key that is stored where its name alone would be stored.
  static func key<Wrapped: PreferenceConvertible>(_ name: String) -> Self where Value == Wrapped? {
    PreferenceKey(name)
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

extension Custody {
  /// Whether a lookup by name alone is a lookup of a secret.
  var isSealedByName: Bool { secrecy(of: PreferenceName.valid(["name"])[0]) == .secret }
  /// Whether no plain layer beside this one is ever looked up.
  var claimsEverything: Bool { holds(.plain) && isSealedByName }
}

/// The reader as a layer of a composite. The layer of a sealed reader claims every name.
func layer(_ reader: some PreferencesReader) -> any PreferencesReader {
  reader.custody.holds(.plain) ? reader : reader.claiming(.everything)
}

/// The store as a layer of a composite. The layer of a sealed store claims every name.
func layer(_ store: some PreferencesStore) -> any PreferencesStore {
  store.custody.holds(.plain) ? store : store.claiming(.everything)
}

/// A different store that is read and written by name beside `reader`.
func neighbour(
  of reader: any PreferencesReader, _ values: DictionaryPreferences = DictionaryPreferences(), name: String = "other"
) -> any PreferencesStore {
  guard reader.custody.isSealedByName else { return FailingPreferences(values, name: name) }
  return FailingPreferences(values, name: name, isSealed: true).claiming(.everything)
}

/// A sealed store in memory as a layer that claims `names`.
func sealedLayer(
  _ values: DictionaryPreferences = DictionaryPreferences(), claiming names: String...
) -> PreferencesView<FailingPreferences> {
  FailingPreferences(values, isSealed: true).claiming(.names(names))
}

/// The store as a layer that claims `names`, so that they are secrets in it.
func claiming(_ names: String..., in store: some PreferencesStore) -> any PreferencesStore {
  store.claiming(.names(names))
}

/// The error that `body` throws; `nil` if it throws none.
func failure(of body: () throws -> Void) -> (any Error)? {
  do {
    try body()
    return nil
  } catch { return error }
}

/// The code of the preferences error that `body` throws; `nil` if it throws no error or a different one.
func code(of body: () throws -> Void) -> PreferencesError.Code? { (failure(of: body) as? PreferencesError)?.code }

/// How many failures are reported while `body` runs.
func reportedFailures(_ body: () throws -> Void) rethrows -> Int {
  let received = Collected<String>()
  try PreferenceFailures.withHandler {
    received.append($0.key)
  } _: {
    try body()
  }
  return received.all.count
}
