import PreferencesOperators
import Preferences

extension PreferenceKey<Int> {
  static let port = Self("server.port", default: 8080)
}

struct Unstorable: Sendable, Equatable {}

func refused(_ store: some PreferencesStore, _ reader: some PreferencesReader, _ text: String, _ number: Int) {
  // Item 38: what has no stored form is neither stored nor compared.
  store["key"] = Unstorable()  // error: 'Unstorable'
  _ = store["key"] == Unstorable()  // error: 'Unstorable'
  _ = store["key"] ?? Unstorable()  // error: no exact matches in call to subscript
  // A reader cannot be written to.
  reader["key"] = text  // error: get-only
  reader.members.key = text  // error: get-only
  // A value of any kind is no text, however it is named.
  let any: PreferenceValue? = store["key"]
  _ = any == text  // error: 'PreferenceValue?'
  let read: String = store["key"]  // error: 'String'
  _ = read
}
