#if PostgreSQL
  import Foundation
  import Secrets
  import Testing
  import VaultCore

  @testable import VaultPostgres

  /// Holders by public key of a vault in a database.
  @Suite(.needsServer) struct HolderRowTests {
    @Test func `row G13: rows with an agreed slot are the bytes of a file, and both open by identity and pin`() throws {
      let identity = try VaultIdentity()
      let sample = try StoredSample(in: try TestServer.storage())
      try sample.secrets.set("value", forKey: "a")
      try sample.vault.addSlot(NewSlot(identity.publicKey), granting: sample.vault.group())
      try sample.secrets.set("newer", forKey: "a")
      let credential = try Vault.Credential.identity(identity, trusting: sample.vault.pin())

      let folder = NSTemporaryDirectory() + "/" + UUID().uuidString
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      defer { do { try FileManager.default.removeItem(atPath: folder) } catch {} }
      var options = Vault.Options()
      options.reserveBytes = 0
      let file = try FileStorage(folder + "/copy.spv", options: options)
      try Vault.copy(from: sample.storage, to: file, options: options)
      let rows = try Administrator(TestServer.shared()).run(
        "select encode(string_agg(bytes, '' order by start), 'hex') from secretprefs.piece where vault = "
          + "'\(sample.storage.vault)'")
      let bytes = Array(try Data(contentsOf: URL(filePath: folder + "/copy.spv")))
      #expect(rows[0][0] == bytes.map { String(format: "%02x", $0) }.joined())

      let places: [any VaultStorage] = [try sample.storage.reopened(), file]
      for place in places {
        let vault = try Vault.open(in: place, credential: credential)
        #expect(try vault.groups().count == 1)
        #expect(try StoredSample(sample.storage, key: sample.key, vault: vault).secrets.string(forKey: "a") == "newer")
      }
      try sample.vault.removeSlots(of: identity.publicKey)
      let reopened = try sample.storage.reopened()
      #expect(refusal { _ = try Vault.open(in: reopened, credential: credential) } == .credentialRejected)
    }
  }
#endif
