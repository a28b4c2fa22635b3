/// What opens a slot.
enum Credential {
  case passphrase(String)
  case key(Bytes)
  /// An identity and the text of a pin (annex G).
  case identity(Bytes, pin: String)

  /// The key of annex A.
  static let owner = Credential.key(.run(from: 0))
  static let holder = Credential.key(.run(from: 0x40))
  /// Opens no slot unless a vector says so.
  static let stranger = Credential.key(.run(from: 0x60))
  static let words = Credential.passphrase("correct horse battery staple")

  /// What the device layer is sealed with, and what a reader is given.
  static let deviceKey = Bytes.run(from: 0x20)

  var json: JSON {
    switch self {
    case .passphrase(let text): .object([("passphrase", .text(text))])
    case .key(let key): .object([("key", .text(Sealing.text(ofKey: key)))])
    case .identity(let secret, let pin):
      .object([("identity", .text(Agreement.text(ofIdentity: secret))), ("pin", .text(pin))])
    }
  }
}
