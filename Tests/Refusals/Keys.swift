import Preferences

extension PreferenceKey<Int> {
  static let port = Self("server.port", default: 8080)
}

struct Unstorable: Sendable {}

func refused(_ store: some PreferencesStore, _ reader: some PreferencesReader) throws {
  // Item 42: a value of another type.
  try store.set("text", for: PreferenceKey<Int>.port)  // error: cannot convert value of type 'String'
  let text: String = try store.value(for: PreferenceKey<Int>.port)  // error: cannot convert value of type
  // Item 43: nil, and an optional key with a different default, whose stored nil would look like not set.
  store[PreferenceKey<Int>.port] = nil  // error: 'nil' cannot be assigned to subscript of type 'Int'
  _ = PreferenceKey<Int?>("port", default: 1)  // error: conform to 'PreferenceConvertible'
  _ = PreferenceKey<Int?>("port") { 1 }  // error: conform to 'PreferenceConvertible'
  // Items 9 and 52: what has no stored form.
  try store.set(Unstorable(), forKey: "key")  // error: conform to 'PreferenceConvertible'
  try store.set([1, nil], forKey: "key")  // error: 'nil'
  let value: PreferenceValue = nil  // error: 'nil'
  // What can only be read, and a view that takes the writing away.
  try reader.set(1, forKey: "key")  // error: has no member 'set'
  try store.readOnly.set(1, forKey: "key")  // error: cannot conform to 'PreferencesStore'
  _ = (text, value)
}
