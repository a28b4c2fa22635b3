import Foundation
import Glibc
import Testing
import VaultSealing

@testable import VaultCore

/// What is at the name that a replacement uses for a while: what a killed program left is removed, anything else stays.
struct TemporaryFileTests {
  private func withVault(_ body: (_ vault: Vault, _ path: String, _ temporary: String) throws -> Void) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      try body(try Vault.sample(at: path), path, path + ".tmp")
    }
  }

  // MARK: Leftovers

  /// What a write that was killed, or a power cut, may have left.
  private static func leftover(_ thing: String, of path: String) throws -> [UInt8] {
    let file = try FileBytes.read(path)
    return switch thing {
    case "nothing": []
    case "five bytes": Array(file[..<5])
    case "zeros": [UInt8](repeating: 0, count: 5000)
    case "all but the first sector": [UInt8](repeating: 0, count: 512) + file[512...]
    default: file
    }
  }

  @Test(arguments: ["nothing", "five bytes", "zeros", "all but the first sector", "everything"])
  func `row 48: what a killed write left is removed by the next`(thing: String) throws {
    try withVault { vault, path, temporary in
      try FileBytes.write(Self.leftover(thing, of: path), to: temporary)
      try vault.compact()
      #expect(access(temporary, F_OK) != 0)
      try FileBytes.write(Self.leftover(thing, of: path), to: temporary)
      try Vault.opened(at: path).set("v", forKey: "key")
      #expect(access(temporary, F_OK) != 0)
      #expect(try Vault.opened(at: path).text("key") == "v")
    }
  }

  // MARK: Other files

  private static let things = ["symbolic link", "hard link", "FIFO", "directory", "key", "one byte"]

  /// Puts something at the temporary name, and returns what must be there afterwards.
  private static func put(_ thing: String, at temporary: String) throws -> [UInt8] {
    let other = temporary + ".other"
    try FileBytes.write([0x89], to: other)
    switch thing {
    case "symbolic link": try #require(symlink(other, temporary) == 0)
    case "hard link": try #require(link(other, temporary) == 0)
    case "FIFO": try #require(mkfifo(temporary, 0o600) == 0)
    case "directory": try #require(mkdir(temporary, 0o700) == 0)
    case "key": try FileBytes.write(Array("spv-key-1:00".utf8), to: temporary)
    default: try FileBytes.write([9], to: temporary)
    }
    return try FileBytes.read(["key", "one byte"].contains(thing) ? temporary : other)
  }

  private static func isThere(_ thing: String, _ bytes: [UInt8], at temporary: String) throws -> Bool {
    try access(temporary, F_OK) == 0
      && FileBytes.read(["key", "one byte"].contains(thing) ? temporary : temporary + ".other") == bytes
  }

  @Test(arguments: things)
  func `row 48: a full write refuses anything else at the temporary name, and names it`(thing: String) throws {
    try withVault { vault, path, temporary in
      let bytes = try Self.put(thing, at: temporary)

      let error = #expect(throws: VaultError.self) { try vault.compact() }

      #expect(error?.code == .io)
      #expect(error?.message.contains(temporary) == true)
      #expect(try Self.isThere(thing, bytes, at: temporary))
      #expect(try VaultSummary(at: path).generation == 1)
    }
  }

  @Test(arguments: things)
  func `row 48: with anything else at the temporary name a fold by length becomes an append`(thing: String) throws {
    try withVault { vault, path, temporary in
      let bytes = try Self.put(thing, at: temporary)

      try Vault.opened(at: path).fold()

      #expect(try VaultSummary(at: path).generation == 1)
      #expect(try Vault.opened(at: path).bytes("long")?.count == 70_000)
      #expect(try Self.isThere(thing, bytes, at: temporary))
    }
  }

  @Test(arguments: things)
  func `row 48: creation refuses anything else at the temporary name`(thing: String) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let bytes = try Self.put(thing, at: path + ".tmp")

      #expect(refusal { try Vault.sample(at: path) } == .io)
      #expect(try Self.isThere(thing, bytes, at: path + ".tmp"))
      #expect(access(path, F_OK) != 0)
    }
  }

  @Test func `a backup refuses a file of another kind at its temporary name`() throws {
    try withVault { vault, path, _ in
      try FileBytes.write([1, 2, 3], to: path + ".bk.tmp")

      #expect(refusal { try vault.backUp(to: path + ".bk") } == .io)
      #expect(try FileBytes.read(path + ".bk.tmp") == [1, 2, 3])
    }
  }

  @Test func `a mark at the vault's temporary name is not removed, nor a vault at the mark's`() throws {
    try SharedVault.withMark { shared in
      try #require(rename(shared.mark, shared.path + ".tmp") == 0)
      #expect(refusal { try shared.owner.compact() } == .io)
      #expect(try RollbackMark(at: shared.path + ".tmp").groups.count == 3)
      try #require(rename(shared.path + ".tmp", shared.mark) == 0)

      try FileBytes.write(shared.bytes, to: shared.mark + ".tmp")
      try shared.owner.set("v", forKey: "user", in: "one")
      #expect(refusal { try shared.owner.acceptMark(at: shared.mark) } == .io)
      #expect(try FileBytes.read(shared.mark + ".tmp").count > 1000)
    }
  }

  // MARK: Names

  @Test(arguments: ["create", "backUp", "restore", "salvage", "exportBundle", "createMark", "create with mark"])
  func `nothing is made under the name of a temporary file`(what: String) throws {
    try withVault { vault, path, temporary in
      let before = try FileBytes.read(path)
      let code = refusal {
        switch what {
        case "create": _ = try Vault.sample(at: path + "2.tmp")
        case "backUp": try vault.backUp(to: temporary)
        case "restore": try Vault.restore(path, to: temporary, credential: .key(.sample()))
        case "salvage": _ = try Vault.salvage(at: path, credential: .key(.sample()), to: temporary)
        case "exportBundle":
          let group = try vault.group()
          try vault.exportBundle(
            vault.records(in: group), of: group, to: temporary, slot: NewSlot(.key(.sample(from: 9))))
        case "createMark": try vault.createMark(at: temporary)
        default:
          var options = Vault.Options.sample()
          options.markPath = path + ".mark.tmp"
          _ = try Vault.sample(at: path + "2", options: options)
        }
      }
      #expect(code == .io)
      #expect(try FileManager.default.contentsOfDirectory(atPath: String(path.dropLast(10))) == ["vault.spv"])
      #expect(try FileBytes.read(path) == before)
    }
  }

  @Test func `what a restore or salvage reads is not removed to make room for what it writes`() throws {
    try withVault { vault, path, temporary in
      let before = try FileBytes.read(path)
      try #require(rename(path, temporary) == 0)

      #expect(refusal { try Vault.restore(temporary, to: path, credential: .key(.sample())) } == .io)
      #expect(refusal { try Vault.salvage(at: temporary, credential: .key(.sample()), to: path) } == .io)
      #expect(try FileBytes.read(temporary) == before)
    }
  }

  @Test(arguments: ["backUp", "exportBundle"])
  func `an open vault is not removed to make room for its backup or bundle`(what: String) throws {
    try withVault { vault, path, temporary in
      let before = try FileBytes.read(path)
      try #require(rename(path, temporary) == 0)
      let moved = try Vault.opened(at: temporary)

      let code = refusal {
        if what == "backUp" { return try moved.backUp(to: path) }
        let group = try moved.group()
        try moved.exportBundle(moved.records(in: group), of: group, to: path, slot: NewSlot(.key(.sample(from: 9))))
      }

      #expect(code == .io)
      #expect(try FileBytes.read(temporary) == before)
      #expect(access(path, F_OK) != 0)
    }
  }

  @Test(arguments: ["/", "/.", "/.."])
  func `a path that names a directory is refused, and the directory not made`(end: String) throws {
    try TemporaryDirectory.with { directory throws in
      let path = directory + "/new" + end

      #expect(refusal { try Vault.sample(at: path) } == .io)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }
  }

  // MARK: Waiting

  @Test func `a fold by length becomes an append while another process holds the temporary file`() throws {
    try withVault { _, path, temporary in
      try FileBytes.write([], to: temporary)
      let lock = try ForeignLock(on: temporary)
      defer { lock.release() }
      var options = Vault.Options.sample()
      options.lockTimeout = .milliseconds(100)

      try Vault.opened(at: path, options: options).fold()

      #expect(try VaultSummary(at: path).generation == 1)
      #expect(try Vault.opened(at: path).bytes("long")?.count == 70_000)
    }
  }

  @Test func `row 48: creation waits for the creator that holds the temporary file`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      try FileBytes.write([], to: path + ".tmp")
      let lock = try ForeignLock(on: path + ".tmp")
      var options = Vault.Options.sample()
      options.lockTimeout = .milliseconds(100)

      #expect(refusal { try Vault.sample(at: path, options: options) } == .lockTimeout)
      #expect(access(path, F_OK) != 0)
      lock.release()
      #expect(try Vault.sample(at: path, options: options).text("password") == "s3cret")
    }
  }
}
