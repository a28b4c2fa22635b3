import Preferences

struct User: Codable {
  var name: String
}

func refused() {
  // Items 43 and 44: an optional key with a default, whose stored nil would look like not set.
  _ = PreferenceKey<User?>.codable("user", default: User(name: "Ann"))  // error: ambiguous use of 'codable
  _ = PreferenceKey<User?>.codable("user", default: nil)  // error: ambiguous use of 'codable
  _ = PreferenceKey<Int?>.codable("port", default: 1, kind: .integer)  // error: ambiguous use of 'codable
  _ = PreferenceKey<User?>.codable("user") { User(name: "Ann") }  // error: ambiguous use of 'codable
  let key: PreferenceKey<[Int]?> = .codable("numbers", default: [])  // error: ambiguous use of 'codable
  _ = key
}
