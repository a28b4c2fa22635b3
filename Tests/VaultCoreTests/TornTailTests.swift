import Foundation
import Glibc
import Testing
import VaultSealing

@testable import VaultCore

/// A broken last entry, which may have been acknowledged or not: its bytes are kept before a
/// write takes their place (`Docs/Format.md` 10.3).
struct TornTailTests {
  /// A vault whose last entry, which was acknowledged, has one bit flipped.
  private func withFlippedEntry(
    _ body: (_ path: String, _ torn: [UInt8]) throws -> Void
  ) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      try Vault.sample(at: path).set("lost", forKey: "password")
      var parts = try Parts(FileBytes.read(path))
      var torn = parts.entries.removeLast()
      torn[100] ^= 1
      parts.reserve = torn + parts.reserve
      try FileBytes.write(parts.file, to: path)
      try body(path, torn)
    }
  }

  @Test func `a broken last entry shows without opening a group`() throws {
    try withFlippedEntry { path, _ in
      let vault = try Vault.opened(at: path)
      #expect(try vault.hasTornTail)
      #expect(try vault.text("password") == "s3cret")
      try vault.set("new", forKey: "password")
      #expect(try !vault.hasTornTail)
    }
  }

  @Test(arguments: ["append", "fold", "compact", "rotate"])
  func `row J24: a write keeps the bytes that it takes the place of`(write: String) throws {
    try withFlippedEntry { path, torn in
      let vault = try Vault.opened(at: path)
      switch write {
      case "append": try vault.set("new", forKey: "key")
      case "fold": try vault.fold()
      case "compact": try vault.compact()
      default: try vault.rotateVault()
      }

      #expect(try FileBytes.read(path + ".torn") == torn)
      #expect(try mode(of: path + ".torn") == 0o600)
      #expect(try Vault.opened(at: path).status().hasTornTail == false)
    }
  }

  @Test func `an ordinary write keeps nothing`() throws {
    try TemporaryDirectory.with { directory in
      let vault = try Vault.sample(at: directory + "/vault.spv")
      try vault.set("v", forKey: "key")
      try vault.compact()
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["vault.spv"])
    }
  }

  @Test func `what was kept before stays, and the same bytes are kept once`() throws {
    try withFlippedEntry { path, torn in
      try FileBytes.write([1, 2, 3], to: path + ".torn")
      let file = try FileBytes.read(path)
      for _ in 0..<2 {
        try FileBytes.write(file, to: path)
        try Vault.opened(at: path).set("new", forKey: "key")
      }

      #expect(try FileBytes.read(path + ".torn") == [1, 2, 3])
      #expect(try FileBytes.read(path + ".torn.2") == torn)
      #expect(access(path + ".torn.3", F_OK) != 0)
    }
  }

  @Test(arguments: ["vault", "key"])
  func `a file of the package at the name stays, and keeps no write back`(what: String) throws {
    try withFlippedEntry { path, torn in
      let other = try what == "vault" ? FileBytes.read(path) : Array("spv-key-1:0123\n".utf8)
      try FileBytes.write(other, to: path + ".torn")
      try Vault.opened(at: path).set("new", forKey: "key")

      #expect(try FileBytes.read(path + ".torn") == other)
      #expect(try FileBytes.read(path + ".torn.2") == torn)
    }
  }

  @Test func `a link at the name is not followed`() throws {
    try withFlippedEntry { path, torn in
      try #require(symlink("elsewhere", path + ".torn") == 0)
      try Vault.opened(at: path).set("new", forKey: "key")
      #expect(try FileBytes.read(path + ".torn.2") == torn)
    }
  }

  @Test func `where the bytes cannot be kept the write is refused, and they stay where they are`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try asUser { directory, path in
        _ = try Vault.sample(at: path)
        var file = try FileBytes.read(path)
        file[file.count - 64] = 9
        try FileBytes.write(file, to: path)
        chmod(directory, 0o500)
        return try refusal { try Vault.opened(at: path).set("new", forKey: "key") } == .readOnly
          && FileBytes.read(path) == file
      }
    }
  }
}
