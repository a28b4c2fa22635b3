public import FoundationEssentials

/// Stored as a string in upper case; read in either case.
extension UUID: PreferenceConvertible, StoredAsForm {
  init(form text: String) throws(PreferencesError) {
    guard let uuid = UUID(uuidString: text) else { throw PreferencesError(.outOfRange, "the string is no UUID") }
    self = uuid
  }

  var form: String { uuidString }
}

/// Stored as a string of one character.
extension Character: PreferenceConvertible, StoredAsForm {
  init(form text: String) throws(PreferencesError) {
    guard let character = text.first, text.count == 1 else {
      throw PreferencesError(.outOfRange, "expected a string of one character")
    }
    self = character
  }

  var form: String { String(self) }
}
