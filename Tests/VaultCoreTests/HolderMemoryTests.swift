import Glibc
import Synchronization
import Testing
import VaultMemorySearching
import VaultSealing

@testable import VaultCore
@testable import VaultSealing

/// Row G12: what an agreement leaves in the memory of a process. Each test has a process of its own, which has seen
/// nothing of the secrets before.
struct HolderMemoryTests {
  /// Makes a vault, a key file, an identity that opens a group and the public key of one that is not added yet, and
  /// notes their secrets.
  private static func make(in directory: String) throws {
    let search = MemorySearch()
    let vaultKey: SealingKey
    let (key, sealer) = (try SealingKey(from: .system), try Sealer())
    let vault = try Vault.create(at: directory + "/vault.spv", slots: [NewSlot(.key(key))], groups: [.sample()])
    vaultKey = try #require(try vault.handle.loaded.withLock { try $0.state.unlocked.vaultKey })
    let secret = try sealer.agreementSecret(of: vaultKey)
    let pin = try vault.pin()
    search.add("e", secret)
    for name in ["identity", "new"] {
      let own = try SealingKey(from: .system)
      let text = try KeyText.write(own, as: .identity).withUnsafeBytes { Array($0) }
      let identity = try VaultIdentity(text: text.span.bytes)
      search.add("h \(name)", own)
      search.add("text of h \(name)", Array(text.dropFirst(15)))
      search.add("q \(name)", try #require(try own.agreed(with: pin.point)))
      search.add("R \(name)", try identity.key(for: pin))
      try FileBytes.write(text, to: directory + "/" + name)
      try FileBytes.write(Array("\(identity.publicKey)".utf8), to: directory + "/\(name).public")
      if name == "identity" { try vault.addSlot(NewSlot(identity.publicKey), granting: vault.group()) }
    }
    try FileBytes.write(KeyText.write(key).withUnsafeBytes { Array($0) }, to: directory + "/key")
    try FileBytes.write(Array("\(pin)".utf8), to: directory + "/pin")
    try search.save(to: directory + "/notes")
  }

  private static func text(_ name: String, _ directory: String) throws -> String {
    String(decoding: try FileBytes.read(directory + "/" + name), as: UTF8.self)
  }

  /// Reads a secret file into guarded memory, as a program does.
  private static func secret(_ name: String, _ directory: String) throws -> SecretBytes {
    let file = Glibc.open(directory + "/" + name, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    var bytes = try SecretBytes(count: 100)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress!, $0.count) }
    return try bytes.prefix(count)
  }

  @Test func `row G12: a holder leaves nothing of its identity and of the agreed key, unlocked or locked`() async throws
  {
    try await TemporaryDirectory.with { directory in
      try Self.make(in: directory)
      await #expect(processExitsWith: .success) { [directory = directory as String] in
        let search = try MemorySearch(from: directory + "/notes")
        let pin = try VaultPin(Self.text("pin", directory))
        func open() throws -> Vault {
          let text = try Self.secret("identity", directory)
          let identity = try text.withSpan { (text) throws(VaultError) in try VaultIdentity(text: text) }
          return try Vault.open(
            at: directory + "/vault.spv", credential: .identity(identity, trusting: pin), options: Vault.Options())
        }
        let vault = try open()
        let value = try vault.text("password")
        // An open vault has the key of its slot, and none of these.
        let unlocked = try search.finds()
        vault.lock()
        let locked = try search.finds()

        #expect(value == "s3cret")
        #expect(unlocked.isEmpty, "\(unlocked)")
        #expect(locked.isEmpty, "\(locked)")
        withExtendedLifetime(vault) {}
      }
    }
  }

  @Test func `row G12: an owner that adds, renews and removes holders leaves nothing of an agreement`() async throws {
    try await TemporaryDirectory.with { directory in
      try Self.make(in: directory)
      await #expect(processExitsWith: .success) { [directory = directory as String] in
        let search = try MemorySearch(from: directory + "/notes")
        let text = try Self.secret("key", directory)
        let credential = try text.withSpan { (text) throws(VaultError) in try Vault.Credential.key(text: text) }
        let vault = try Vault.open(at: directory + "/vault.spv", credential: credential)
        let pin = try "\(vault.pin())"
        let new = try VaultIdentity.PublicKey(Self.text("new.public", directory))
        try vault.addSlot(NewSlot(new), granting: vault.group())
        let added = try search.finds()
        let renewed = try vault.rotateVault().renewedSlots.count
        try vault.removeSlots(of: new)
        let rotated = try search.finds()
        let expected = try Self.text("pin", directory)

        #expect(pin == expected)
        #expect(renewed == 2)
        #expect(added.isEmpty, "\(added)")
        #expect(rotated.isEmpty, "\(rotated)")
        withExtendedLifetime(vault) {}
      }
    }
  }
}
