internal import Preferences

extension PreferencesStore {
  /// Whether keys that are typed plain can be stored here. A store by itself takes them though it is sealed; a composite
  /// needs a plain layer.
  var takesPlainKeys: Bool { !isLayered || accepts(.plain) }

  /// `key` if the store takes plain keys, else the same key allowed in sealed layers.
  func fitting<Value>(_ key: PreferenceKey<Value>) -> PreferenceKey<Value> {
    takesPlainKeys ? key : key.allowingSealed()
  }
}
