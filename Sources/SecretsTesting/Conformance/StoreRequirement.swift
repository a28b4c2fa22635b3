internal import Preferences

/// What a rule requires of a store. The rule does not apply to other stores.
struct StoreRequirement: Sendable {
  /// The requirement after "a store that".
  let text: String
  private let holds: @Sendable (StoreUnderTest) throws -> Bool

  private init(_ text: String, _ holds: @escaping @Sendable (StoreUnderTest) throws -> Bool) {
    self.text = text
    self.holds = holds
  }

  /// Whether `store` meets the requirement. A store that cannot be made is an error of the check, which makes it again.
  func isMet(by store: StoreUnderTest) -> Bool {
    do { return try holds(store) } catch { return true }
  }

  static let writable = Self("can be written") { !$0.isReadOnly }
  static let damageable = Self("its test can damage") { $0.damage != nil }
  static let lists = Self("holds lists and dictionaries") { !$0.isText }
  static let leavesNames = Self("does not claim every name") { try !$0.custody().claimsEverything }

  static func holds(_ secrecy: Secrecy) -> Self { Self("holds \(secrecy) values") { try $0.custody().holds(secrecy) } }

  static func holdsNo(_ secrecy: Secrecy) -> Self {
    Self("holds no \(secrecy) values") { try !$0.custody().holds(secrecy) }
  }

  static func takes(_ secrecy: Secrecy) -> Self {
    Self("accepts \(secrecy) values") { try $0.custody().takes(secrecy) }
  }
}
