import Testing
import VaultCore
import VaultSealing

/// The code of VaultCore.docc, word for word: Scripts/documents guide compares the two.
struct GuideTests {
  @Test func `a value is sealed, and its bytes are lent`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/shop.spv"

      let key = try SealingKey(from: .system)
      let vault = try Vault.create(at: path, slots: [NewSlot(.key(key), label: "shop")])
      let (service, group) = (try Vault.Name("com.example.shop"), try vault.group())

      try vault.transaction(service: service, in: group) { (transaction) throws(VaultError) in
        try transaction.set("ghp_example".utf8Span.span.bytes, kind: .string, forKey: "github")
      }
      let length = try vault.withValue(service: service, key: "github", in: group) { kind, bytes in bytes.byteCount }

      #expect(length == 11)
      #expect(try vault.records(in: group).map(\.key.text) == ["github"])
    }
  }
}
