import Secrets

func encoded(_ value: some Encodable) {}
func hashed(_ value: some Hashable) {}
func stored(_ value: some PreferenceConvertible) {}

func refused(_ secret: Secret<String>, _ vault: Vault) throws {
  // Item 120: nothing encodes, hashes or stores a secret as a plain value.
  encoded(secret)  // error: conform to 'Encodable'
  hashed(secret)  // error: conform to 'Hashable'
  stored(secret)  // error: conform to 'PreferenceConvertible'
  // A secret has no default.
  _ = PreferenceKey<Secret<String>>("token", default: secret)  // error: conform to 'PreferenceConvertible'
  _ = PreferenceKey<Secret<String>?>("token", default: secret)  // error: conform to 'PreferenceConvertible'
  // Not even text of its own.
  let literal: Secret<String> = "text"  // error: cannot convert value of type 'String'
  _ = literal
}
