import Testing
import VaultSealing

@testable import VaultCore

/// A ``SharedVault`` whose group `one` has a holder by public key.
struct HeldVault {
  let shared: SharedVault
  /// Of a machine that is the holder of `one`.
  let identity: VaultIdentity
  /// The vault's at the beginning.
  let pin: VaultPin
  let slot: Vault.Identifier

  var path: String { shared.path }
  var owner: Vault { shared.owner }

  static func with<R>(groups: [String] = ["default", "one", "two"], _ body: (HeldVault) throws -> R) throws -> R {
    try SharedVault.with(groups: groups) { try body(HeldVault($0)) }
  }

  private init(_ shared: SharedVault) throws {
    self.shared = shared
    identity = try .sample(1)
    slot = try shared.owner.addSlot(
      NewSlot(identity.publicKey, label: "web1"), granting: shared.owner.group(named: "one"))
    pin = try shared.owner.pin()
  }

  /// The credential of an identity, of the machine's if none is named.
  func credential(_ identity: VaultIdentity? = nil, trusting pin: VaultPin? = nil) throws -> Vault.Credential {
    try .identity(identity ?? self.identity, trusting: pin ?? self.pin)
  }

  func open(_ identity: VaultIdentity? = nil, trusting pin: VaultPin? = nil) throws -> Vault {
    try Vault.open(
      in: stored(path), credential: try credential(identity, trusting: pin), options: .sample(seed: "identity"))
  }

  /// What opening is refused with; `nil` when it opens and every granted group verifies.
  func refusal(_ identity: VaultIdentity? = nil, trusting pin: VaultPin? = nil) throws -> VaultError.Code? {
    Vault.refusal(at: path, try credential(identity, trusting: pin))
  }

  /// Grants a group, or the whole vault, to one more identity.
  @discardableResult
  func add(_ identity: VaultIdentity, _ group: String? = nil, label: String = "more") throws -> Vault.Identifier {
    try owner.addSlot(
      NewSlot(identity.publicKey, label: label), granting: try group.map { try owner.group(named: $0) })
  }

  /// The items with tag 1 of the manifest.
  var items: [[UInt8]] {
    get throws {
      let field = try #require(try shared.loaded.manifest).extensionField
      var found: [[UInt8]] = []
      var items = Extension.Items(field.bytes)
      while let item = try items.next() { if item.tag == HolderKeys.tag { found.append(item.data.copy) } }
      return found
    }
  }
}

extension VaultIdentity {
  /// A fixed identity, a different one for each number.
  static func sample(_ number: UInt8) throws -> VaultIdentity {
    try VaultIdentity(from: RandomSource { $0.copyBytes(from: [UInt8](repeating: number, count: $0.count)) })
  }
}
