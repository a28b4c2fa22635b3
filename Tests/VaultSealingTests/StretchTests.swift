import Testing
import VaultSealing

struct StretchTests {
  @Test(arguments: Stretched.table) func `a root is Argon2id of the passphrase's bytes`(_ row: Stretched)
    throws
  {
    let root = try PassphraseCost.stretch(row.passphrase.span.bytes, salt: Stretched.salt, cost: row.cost)

    #expect(root.copy == row.root)
  }

  @Test(arguments: [0, 4097, 100_000]) func `a passphrase of another length is refused`(_ count: Int) {
    let code = refusal {
      try PassphraseCost.stretch(repeated(1, count).span.bytes, salt: run(16), cost: .throwaway)
    }

    #expect(code == .invalidPassphrase)
  }

  @Test(arguments: [1, 4096]) func `a passphrase of the least and the greatest length is taken`(_ count: Int) {
    let code = refusal {
      try PassphraseCost.stretch(repeated(1, count).span.bytes, salt: run(16), cost: .throwaway)
    }

    #expect(code == nil)
  }

  @Test func `another salt gives another root`() throws {
    let first = try PassphraseCost.stretch(run(1).span.bytes, salt: repeated(0, 16), cost: .throwaway)
    let second = try PassphraseCost.stretch(run(1).span.bytes, salt: repeated(0, 15) + [1], cost: .throwaway)

    #expect(first.copy != second.copy)
  }

  @Test func `a line feed at the end belongs to the passphrase`() throws {
    let first = try PassphraseCost.stretch(run(1).span.bytes, salt: run(16), cost: .throwaway)
    let second = try PassphraseCost.stretch([0 as UInt8, 0x0A].span.bytes, salt: run(16), cost: .throwaway)

    #expect(first.copy != second.copy)
  }

  @Test func `a refusal repeats nothing of the passphrase`() throws {
    let passphrase = Array(String(repeating: "sentinel", count: 600).utf8)
    var shown = ""

    do {
      _ = try PassphraseCost.stretch(passphrase.span.bytes, salt: run(16), cost: .throwaway)
      Issue.record("the passphrase was accepted")
    } catch {
      shown = "\(error)"
      dump(error, to: &shown)
    }

    #expect(!shown.isEmpty)
    #expect(!shown.contains("sentinel"))
  }
}

/// Known answers with one salt.
///
/// Expected values: argon2-cffi 25.1.0, `argon2.low_level.hash_secret_raw(passphrase, salt, passes,
/// kibibytes, parallelism=1, hash_len=32, type=Type.ID, version=19)`, which wraps the Argon2 authors' code.
/// The vectors of libsodium's own suite are outside the accepted bounds; see ``LinkedLibraryTests``.
struct Stretched: Row {
  static let salt = hex("00112233445566778899aabbccddeeff")

  let id: String
  let passphrase: [UInt8]
  let cost: PassphraseCost
  let root: [UInt8]

  init(_ id: String, _ passphrase: [UInt8], passes: UInt32, kibibytes: UInt32, _ root: String) {
    self.id = id
    self.passphrase = passphrase
    self.cost = PassphraseCost(passes: passes, kibibytes: kibibytes)
    self.root = hex(root)
  }

  static let table = [
    Stretched(
      "1 pass over 8 MiB", Array("password".utf8), passes: 1, kibibytes: 8192,
      "815f386130760189dd1fe525827cfe77f9bd87ad387005634201daeac7f962e5"),
    Stretched(
      "2 passes over 8 MiB", Array("password".utf8), passes: 2, kibibytes: 8192,
      "c2a55992cf3ec879bdd98db21b6613ed36e5f7acfc6a3787103bdddf97180b53"),
    Stretched(
      "3 passes over 9000 KiB", Array("password".utf8), passes: 3, kibibytes: 9000,
      "846d14c17ec23e950deb452eaadf68dee36fd0d4f8096c03663064df86f8df15"),
    Stretched(
      "1 pass over 64 MiB", Array("password".utf8), passes: 1, kibibytes: 65536,
      "0a269b690dc1d366d917ca55d72e90a6917711ddec7a47a0630e0c27a3ceba7e"),
    Stretched(
      "a NUL", [0], passes: 1, kibibytes: 8192,
      "4c697e8928fb1b527d0ab401bdd89a43735a596b850da813b6a1cd633f54531f"),
    Stretched(
      "a NUL in the middle", Array("a\0b".utf8), passes: 1, kibibytes: 8192,
      "7e09991541cf896a1589739ce5a25cf8247b5de7f51c0fb6199d6fc9dbef3c31"),
    Stretched(
      "what stands before that NUL", Array("a".utf8), passes: 1, kibibytes: 8192,
      "209939d5ceece6e1b85016a1cb111c0b09f46fca8c06233277999923aba2ae8b"),
    Stretched(
      "bytes that are not UTF-8", [0xff, 0xfe, 0x80], passes: 1, kibibytes: 8192,
      "22f8cf0c41a16cb422499e8337db1caf06fdb2e9f746f6a738a9e3c6248ff004"),
    Stretched(
      "4096 bytes", repeated(UInt8(ascii: "x"), 4096), passes: 1, kibibytes: 8192,
      "95e6b4d910829e49767a76f0b9298c2aca6d6375c1b566af349d2d12e7f3c979"),
    Stretched(
      "UTF-8", Array("Zażółć".utf8), passes: 1, kibibytes: 8193,
      "91d824748ab05ed2814f075570c67b611edc1883a9f4708f73d6641e22102b3b"),
  ]
}
