import Foundation
import Glibc
import Secrets
import SecretsTesting
import Testing

/// What the bytes of a vault show, and what happens if they change.
extension SecretItemTests {
  // MARK: 111

  @Test func `item 111: a vault has no value and no name in the clear, and modes 0600 and 0700 under any umask`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      umask(0)
      let parent = try ThrowawayVault()
      let folder = Self.folder(parent) + "/new"
      let path = folder + "/s.spv"
      let key = try SealingKey(from: .system)
      let vault = try await Vault.create(at: path, slots: [NewSlot(.key(key))])
      let store = try SecretPreferences(service: "service \(Self.sentinel)", in: vault)
      for number in 0..<40 {
        try await store.set(
          "\(number) \(Self.sentinel)", forKey: "key \(Self.sentinel)", expires: nil, label: Self.sentinel)
        try await store.set(Data(Self.sentinel.utf8), forKey: "data")
        #expect(try traces(of: Self.sentinel, inFilesAt: folder) == [])
      }
      try await vault.compact()
      #expect(try traces(of: Self.sentinel, inFilesAt: folder) == [])
      #expect(try Self.mode(path) == 0o600)
      #expect(try Self.mode(folder) == 0o700)

      let link = folder + "/link.spv"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
      #expect(code { try Vault.open(at: link, credential: .key(key)) } == .insecurePermissions)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
      #expect(code { try Vault.open(at: path, credential: .key(key)) } == .insecurePermissions)
    }
  }

  // MARK: 112

  @Test func `item 112: the same value is never sealed to the same bytes`() throws {
    let vault = ThrowawayVault.current
    let store = try vault.preferences()
    var files: [Data] = []
    for _ in 0..<32 {
      try store.set(Self.sentinel, forKey: "token")
      try vault.vault.compact()
      files.append(try Self.bytes(vault.path))
    }
    // The header with the vault's id is the same in all, and the checksums differ with anything else: what is compared
    // are the sealed sections, in pieces of sixteen bytes.
    var pieces: [Data: Int] = [:]
    for (number, file) in files.enumerated() {
      let range = Int(file[48..<56].enumerated().reduce(UInt64(0)) { $0 | UInt64($1.element) << (8 * $1.offset) })
      for start in stride(from: range - 32 - 512, to: range - 32, by: 16) {
        let seen = pieces.updateValue(number, forKey: file[start..<start + 16])
        #expect(seen == nil || seen == number)
      }
    }
    #expect(pieces.count > 32 * 16)
  }

  // MARK: 113

  @Test func `item 113: what is flipped, cut, swapped or older is an error, and no missing value`() throws {
    var options = Vault.Options()
    let vault = try ThrowawayVault()
    let store = try vault.preferences()
    let start = Int(try VaultInfo(at: vault.path).snapshotBytes)
    try vault.preferences(service: "other").set("of another service", forKey: "token")
    let base = try VaultInfo(at: vault.path).journalBytes
    try store.set("one", forKey: "a")
    let middle = try VaultInfo(at: vault.path).journalBytes
    try store.set("two", forKey: "b")
    let end = try VaultInfo(at: vault.path).journalBytes
    let file = try Self.bytes(vault.path)
    try Self.read(file, of: vault)

    // Flipped, anywhere before the last entry.
    for place in stride(from: 0, to: start + middle, by: (start + middle) / 24) {
      var flipped = file
      flipped[place] ^= 0x10
      let found = code { try Self.read(flipped, of: vault) }
      #expect(found != nil && found != .notFound, "byte \(place)")
    }
    // Cut.
    for count in [0, 8, 100, start - 1] {
      let found = code { try Self.read(file.prefix(count), of: vault) }
      #expect(found == .damaged || found == .notAVault, "\(count) bytes")
    }
    // The entries of two keys, and of two services, in the place of each other.
    for (first, second, last) in [(0, base, middle), (base, middle, end)] {
      let swapped =
        file.prefix(start + first) + file[start + second..<start + last] + file[start + first..<start + second]
        + file.suffix(from: start + last)
      let found = code { try Self.read(swapped, of: vault) }
      #expect(found == .tampered || found == .damaged)
    }
    // Of another vault with the same credential.
    let other = Self.folder(vault) + "/other.spv"
    _ = try Vault.create(at: other, slots: [NewSlot(.key(vault.key))])
    try Self.bytes(other).write(to: URL(filePath: vault.path))
    #expect(code { try vault.unlock() } == .tampered)
    // Rolled back.
    try file.write(to: URL(filePath: vault.path))
    try vault.unlock()
    let mark = Self.folder(vault) + "/mark"
    try vault.vault.createMark(at: mark)
    options.markPath = mark
    let marked = try vault.reopened(options: options)
    try SecretPreferences(service: "com.example.test", in: marked).set("three", forKey: "c")
    #expect(code { try Self.read(file, of: vault, options: options) } == .rolledBack)
  }

  // MARK: 124

  @Test func `item 124: a file of a later version is refused and stays as it is`() throws {
    let vault = ThrowawayVault.current
    var file = try Self.bytes(vault.path)
    #expect(file[8] == 1)
    file[8] = 2
    try file.write(to: URL(filePath: vault.path))

    #expect(code { try vault.reopened() } == .unsupportedVersion)
    #expect(try Self.bytes(vault.path) == file)
  }
}
