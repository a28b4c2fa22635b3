import Foundation
import Glibc
import VaultMemorySearching
import Secrets
import SecretsTesting
import Testing

/// What a ``Secret`` leaves in the memory of a process that has seen nothing of the value before.
struct SecretMemoryTests {
  private static let length = 48

  /// Makes a vault with a random value and another beside it in a file, both known to the search of another process.
  private static func make(in folder: String) throws {
    let search = MemorySearch()
    let key = try SealingKey(from: .system)
    let vault = try Vault.create(at: folder + "/vault.spv", slots: [NewSlot(.key(key))])
    for (name, place) in [("stored", nil), ("given", folder + "/given")] as [(String, String?)] {
      // Text, for a secret of a string.
      let text = (0..<length).map { _ in UInt8.random(in: 33...126) }
      search.add(name, text)
      if let place {
        try Data(text).write(to: URL(filePath: place))
      } else {
        try SecretPreferences(service: "db", in: vault).set(String(decoding: text, as: UTF8.self), forKey: "token")
      }
    }
    try key.withUnsafeBytes { try Data($0).write(to: URL(filePath: folder + "/key")) }
    try search.save(to: folder + "/notes")
  }

  private static func open(in folder: String) throws -> SecretPreferences {
    var bytes = try Data(contentsOf: URL(filePath: folder + "/key"))
    defer { bytes.resetBytes(in: 0..<bytes.count) }
    let key = try bytes.withUnsafeBytes { try SealingKey(copying: $0) }
    return try SecretPreferences(service: "db", in: Vault.open(at: folder + "/vault.spv", credential: .key(key)))
  }

  @Test func `item 120: a secret read from a vault is on one guarded page while it is held, and nowhere afterwards`()
    async throws
  {
    let folder = try TemporaryFolder()
    try Self.make(in: folder.path)
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      let search = try MemorySearch(from: path + "/notes")
      let tokens = try SecretMemoryTests.open(in: path)
      var held = try tokens.secret(String.self, forKey: "token")
      let length = try #require(held).withBytes { $0.byteCount }
      let copy = held
      let whileHeld = try search.finds()
      let flags = Mapping.flags(at: whileHeld.first?.address ?? 0)
      _ = copy == held
      held = nil
      let whileCopied = try search.finds()
      withExtendedLifetime(copy) {}

      #expect(length == SecretMemoryTests.length)
      #expect(whileHeld.map(\.secret) == ["stored"], "\(whileHeld)")
      // Locked in memory, and left out of core dumps.
      #expect(flags.contains("lo") && flags.contains("dd"), "\(flags)")
      #expect(whileCopied == whileHeld, "\(whileCopied)")
    }
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      let search = try MemorySearch(from: path + "/notes")
      let tokens = try SecretMemoryTests.open(in: path)
      for _ in 0..<10 { _ = try tokens.secret(String.self, forKey: "token")?.withBytes { $0.byteCount } }
      let left = try search.finds()

      #expect(left == [], "\(left)")
      withExtendedLifetime(tokens) {}
    }
  }

  @Test func `a secret copied from bytes and sealed leaves nothing behind`() async throws {
    let folder = try TemporaryFolder()
    try Self.make(in: folder.path)
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      let search = try MemorySearch(from: path + "/notes")
      let tokens = try SecretMemoryTests.open(in: path)
      do {
        let file = Glibc.open(path + "/given", O_RDONLY)
        defer { close(file) }
        let secret = try withUnsafeTemporaryAllocation(byteCount: SecretMemoryTests.length, alignment: 8) { bytes in
          defer { memset(bytes.baseAddress!, 0, bytes.count) }
          try #require(Glibc.read(file, bytes.baseAddress!, bytes.count) == bytes.count)
          return try Secret<String>(copying: UnsafeRawBufferPointer(bytes).bytes)
        }
        try tokens.set(secret, forKey: "new")
        #expect(try tokens.secret(forKey: "new") == secret)
      }
      let left = try search.finds()

      #expect(left == [], "\(left)")
      withExtendedLifetime(tokens) {}
    }
  }
}
