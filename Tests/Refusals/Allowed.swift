// What is refused beside this compiles in its right form: items 38, 42 to 44, 50 and 107.
import PreferencesOperators
import Secrets

extension PreferenceKey<Int> {
  static let port = Self("server.port", default: 8080)
}
extension PreferenceKey<String?> {
  static let host = Self("proxy.host")
}
extension PreferenceKey<Secret<String>?> {
  static let token = Self("github.token")
}

func allowed(_ store: some PreferencesStore, _ vault: SecretPreferences) async throws {
  try await store.set(81, for: .port)
  try await store.set(nil, for: .host)
  try await (store <| .port) += 1
  let token = try vault.value(for: .token)
  try token?.withValue { _ in }
  // Static keys are used from several tasks.
  async let first = store.value(for: .port)
  async let second = store.value(for: .port)
  _ = try await (first, second)
}

struct User: Codable, Sendable {
  var name: String
}

enum Name: String {
  case motd
}

// Item 38: text in a variable, as well as literals and values of any kind.
func written(_ store: some PreferencesStore, _ text: String, _ optional: String?, _ value: PreferenceValue) -> Bool {
  store["motd"] = text
  store["motd"] = optional
  store["motd"] = value
  store["motd"] = "literal"
  store["motd"] = 1
  store["motd"] = [1, "two"]
  store["motd"] = nil
  store[Name.motd] = text
  store.members.motd = text
  let read: String? = store["motd"]
  let isSame = store["motd"] == text && store["motd"] != optional && store["motd"] == "literal" && store["motd"] != nil
  if let value = store["motd"] { return value == "literal" }
  if let value: String = store["motd"] { return value == text }
  store[.port] += 1
  return isSame || (store["motd"] ?? text) == read || (store["motd"] ?? "literal") == value
}

// Items 43 and 44.
func keys() {
  _ = PreferenceKey<User>.codable("user", default: User(name: "Ann"))
  _ = PreferenceKey<User>.codable("user") { User(name: "Ann") }
  _ = PreferenceKey<User>.codable("user", default: User(name: "Ann"), kind: .dictionary)
  _ = PreferenceKey<User?>.codable("user")
  _ = PreferenceKey<User?>.codable("user", kind: .dictionary)
}

// Item 107: a store of the registry is an operand, too.
func registered(_ registry: PreferencesRegistry) throws {
  guard let store = registry["main"] else { return }
  try (store <| "visits") += 1
  try store += ["a": 1]
  try store ?= ["a": 1]
  try store -= "a"
  store["motd"] = "text"
}

// A storage of another package: the requirements that have no default.
final class OutsideStorage: VaultStorage, LockedStorage, @unchecked Sendable {
  final class Version: StorageVersion {}

  let name = "outside"
  private var stored: (bytes: [UInt8], version: Version)?

  func load(limit: Int) throws(VaultError) -> StoredVault {
    guard let stored else { throw VaultError(.notFound, "there is no vault") }
    guard stored.bytes.count <= limit else { throw VaultError(.limitExceeded, "the vault is too long") }
    return StoredVault(version: stored.version, bytes: StoredBytes(stored.bytes))
  }

  func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
    guard let stored else { return .removed }
    guard stored.version === position.version, position.isInside(stored.bytes) else { return .replaced(nil) }
    return position.offset == stored.bytes.count ? .none : .added(StoredBytes(Array(stored.bytes[position.offset...])))
  }

  func lock(until deadline: LockDeadline) throws(VaultError) -> any LockedStorage {
    guard deadline.remaining > .zero else { throw VaultError(.lockTimeout, "waited for \(deadline.timeout)") }
    return self
  }

  func create(_ bytes: [UInt8]) throws(VaultError) -> (storage: any LockedStorage, version: any StorageVersion) {
    (self, try replace(with: bytes, behind: nil))
  }

  func append(_ entry: [UInt8], at position: StoragePosition) throws(VaultError) {
    stored?.bytes.replaceSubrange(position.offset..., with: entry)
  }

  func replace(with bytes: [UInt8], behind position: StoragePosition?) throws(VaultError) -> any StorageVersion {
    let version = Version()
    stored = (bytes, version)
    return version
  }

  func remove() -> Bool {
    stored = nil
    return true
  }
  func release() {}
}

func stored(_ key: SealingKey) async throws {
  let vault = try await Vault.create(in: OutsideStorage(), slots: [NewSlot(.key(key))])
  try await vault.backUp(to: .memory())
  _ = try await Vault.open(in: .file("shop.spv"), unlocking: .automatic)
}
