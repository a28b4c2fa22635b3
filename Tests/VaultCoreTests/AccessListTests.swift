import Foundation
import PreferencesTestSupport
import Testing
import VaultCore

/// Files with an access control list that are replaced.
@Suite(.enabled(if: AccessList.isSupported, "the file system has no access control lists"))
struct AccessListTests {
  @Test(arguments: [PathPolicy.relaxed, .sharedWithGroup])
  func `a vault keeps its list, so that its group gets no rights, and its log has the same`(policy: PathPolicy) throws {
    try TemporaryDirectory.with { directory in
      var options = Vault.Options.sample()
      options.pathPolicy = policy
      let vault = try Vault.sample(at: directory + "/vault.spv", options: options)
      try #require(AccessList.isSet(on: vault.path))
      try vault.compact()
      #expect(AccessList.of(vault.path) == AccessList.bytes())
      #expect(try mode(of: vault.path) == 0o640)

      try vault.setAuditing(.failClosed)
      #expect(AccessList.of(vault.path) == AccessList.bytes())
      let log = directory + "/vault.spv.audit-\(try vault.group().id)"
      #expect(AccessList.of(log) == AccessList.bytes(mask: 6))
    }
  }

  @Test func `with the strict policy a list gives no rights after a write`() throws {
    try TemporaryDirectory.with { directory in
      let vault = try Vault.sample(at: directory + "/vault.spv")
      try #require(AccessList.isSet(on: vault.path))
      try setMode(0o600, of: vault.path)
      try vault.compact()
      #expect(AccessList.of(vault.path) == [])
      #expect(try mode(of: vault.path) == 0o600)
    }
  }

  @Test func `a mark keeps its list`() throws {
    try SharedVault.withMark { shared in
      let vault = try shared.markedOwner()
      try #require(AccessList.isSet(on: shared.mark))
      let before = try FileBytes.read(shared.mark)
      try vault.set("new", forKey: "password")
      #expect(try FileBytes.read(shared.mark) != before)
      #expect(AccessList.of(shared.mark) == AccessList.bytes())
    }
  }

  @Test func `what is kept of a broken entry has the list of a vault that a group shares`() throws {
    try TemporaryDirectory.with { directory in
      var options = Vault.Options.sample()
      options.pathPolicy = .sharedWithGroup
      let path = directory + "/vault.spv"
      _ = try Vault.sample(at: path, options: options)
      var file = try FileBytes.read(path)
      file[file.count - 64] = 9
      try FileBytes.write(file, to: path)
      try #require(AccessList.isSet(on: path))
      options = .sample(seed: "opened")
      options.pathPolicy = .sharedWithGroup
      try Vault.opened(at: path, options: options).set("new", forKey: "key")
      #expect(AccessList.of(path + ".torn") == AccessList.bytes())
    }
  }
}
