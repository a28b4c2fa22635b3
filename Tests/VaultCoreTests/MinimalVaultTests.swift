import Foundation
import Testing
import VaultCore
import VaultSealing

/// Annex A of the format: a vault made with a fixed random sequence, byte for byte.
struct MinimalVaultTests {
  @Test func `row 72: the minimal vault of annex A is made byte for byte`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/minimal.spv"
      var options = Vault.Options()
      options.random = .sequence(seed: "SPV1 minimal")
      options.now = { 1_700_000_000_000 }
      options.reserveBytes = 8
      let key = try SealingKey(copying: Array(0..<32))
      let vault = try Vault.create(
        at: path, slots: [NewSlot(.key(key), label: "owner")],
        groups: [
          NewGroup("default", service: "db") { batch throws(VaultError) in try batch.set("s3cret", forKey: "password") }
        ],
        options: options)

      try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
        try batch.set("app", forKey: "user")
      }

      let file = [UInt8](try Data(contentsOf: URL(filePath: path)))
      #expect(file.count == 2872)
      #expect(hash(file) == "ed44d388064dc79e6794d19588d63c0729c90e292c476d477fde2addca0830e9")
    }
  }

  private func hash(_ bytes: [UInt8]) -> String {
    hexadecimal(checksum(of: bytes))
  }
}
