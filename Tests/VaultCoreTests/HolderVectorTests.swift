import DurableFiles
import Foundation
import Testing
import VaultSealing

@testable import VaultCore

/// The agreements and texts of annex G that the second implementation writes, in `holder-texts.json`.
struct HolderVectorTests {
  struct File: Decodable, Sendable {
    let agreements: [Agreement]
    let texts: [Text]
  }

  struct Agreement: Decodable, Sendable {
    let vaultKey, vault, slot, identity, vaultSecret, publicKey, pin, product, key, kek: String

    enum CodingKeys: String, CodingKey {
      case vault, slot, identity, pin, product, key, kek
      case vaultKey = "vault_key"
      case vaultSecret = "vault_secret"
      case publicKey = "public_key"
    }
  }

  struct Text: Decodable, Sendable, CustomTestStringConvertible {
    let name, form, text: String
    let error: String?

    var testDescription: String { name }
  }

  private static let file: Result<File, any Error> = Result {
    let path = try #require(Bundle.module.resourcePath) + "/Vectors/faults/holder-texts.json"
    return try JSONDecoder().decode(File.self, from: Data(contentsOf: URL(filePath: path)))
  }

  private static func texts() throws -> [Text] { try file.get().texts }

  private static func bytes(_ digits: String) throws -> [UInt8] {
    try #require([UInt8](hexadecimal: Substring(digits)))
  }

  @Test func `row G1: both sides agree as the second implementation does`() throws {
    let agreements = try Self.file.get().agreements
    #expect(agreements.count == 9)
    for vector in agreements {
      let sealer = try Sealer()
      let id = Vault.Identifier(try Self.bytes(vector.vault))
      let vaultKey = try SealingKey(copying: Self.bytes(vector.vaultKey))
      let agreement = try VaultAgreement(of: id, vaultKey: vaultKey, sealer)
      let identity = try VaultIdentity(text: Array(vector.identity.utf8).bytes)
      let text = try identity.text().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      let keys = [try agreement.key(of: identity.publicKey, sealer), try identity.key(for: agreement.pin)]
      let slot = Vault.Identifier(try Self.bytes(vector.slot))
      let kek = try StoredSlot.kek(from: keys[0], vault: id, slot: slot, sealer)
      let secret = try sealer.agreementSecret(of: vaultKey)
      let product = try #require(try secret.agreed(with: identity.publicKey.point))

      #expect(text == vector.identity)
      #expect("\(identity.publicKey)" == vector.publicKey)
      #expect("\(agreement.pin)" == vector.pin)
      #expect(secret.withUnsafeBytes { Array($0) } == (try Self.bytes(vector.vaultSecret)))
      #expect(product.withUnsafeBytes { Array($0) } == (try Self.bytes(vector.product)))
      for key in keys {
        #expect(try KeyText.write(key).withUnsafeBytes { String(decoding: $0, as: UTF8.self) } == vector.key)
      }
      #expect(kek.withUnsafeBytes { Array($0) } == (try Self.bytes(vector.kek)))
    }
  }

  @Test(arguments: try texts()) func `row G4: a text is read or refused`(vector: Text) throws {
    var refusal: VaultError?
    do throws(VaultError) {
      switch vector.form {
      case "identity": _ = try VaultIdentity(text: Array(vector.text.utf8).bytes)
      case "public": _ = try VaultIdentity.PublicKey(vector.text)
      default: _ = try VaultPin(vector.text)
      }
    } catch { refusal = error }
    #expect(refusal?.code.rawValue == vector.error)
    // No part of a text of this length is in a message by chance.
    let shown = vector.text.split(separator: "\n").contains { $0.count > 20 && refusal?.message.contains($0) == true }
    #expect(!shown)
  }
}
