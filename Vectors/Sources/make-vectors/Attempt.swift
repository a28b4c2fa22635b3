/// One try to open a vector.
struct Attempt {
  enum View {
    case owner
    /// Which of the draft's groups.
    case holder(of: [Int])
    /// A credential that opens no slot.
    case none
  }

  enum DeviceKey {
    /// The manifest's.
    case usual
    case none
    case other(Bytes)
  }

  /// What outcomes call it; not written.
  let name: String
  let credential: Credential
  let view: View
  var deviceKey = DeviceKey.usual
  /// Groups that are asked for by name and not granted.
  var refusedGroups: [String] = []
  /// In place of the refusals that the records tell of themselves.
  var valueRefusal: Refusal?

  static let owner = Attempt(name: "owner", credential: .owner, view: .owner)
  static let holder = Attempt(name: "holder", credential: .holder, view: .holder(of: [1]))
  static let stranger = Attempt(name: "stranger", credential: .stranger, view: .none)
}
