import Testing
import VaultMemorySearching
import VaultSealing

@testable import secretprefs

/// One-time codes: the vectors of the standards, what is accepted as a value, and where the secret is.
struct OneTimePasswordTests {
  /// The secret of RFC 6238 and RFC 4226 in base32: the digits 1234567890 to this length.
  private static func secret(_ length: Int) -> String {
    var (text, word, bits) = ("", 0, 0)
    for index in 0..<length {
      (word, bits) = (word << 8 | Int(UInt8(ascii: "0")) + (index + 1) % 10, bits + 8)
      while bits >= 5 {
        bits -= 5
        text.append(Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")[word >> bits & 31])
      }
    }
    guard bits > 0 else { return text }
    return text + String(Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")[word << (5 - bits) & 31])
  }

  private static func password(_ value: String) throws -> OneTimePassword {
    try Array(value.utf8).withUnsafeBytes { try OneTimePassword($0) }
  }

  private static func code(_ value: String, _ number: UInt64) throws -> String {
    try password(value).code(number).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }

  private static func seconds(_ password: OneTimePassword) -> UInt64? {
    if case .time(let period) = password.factor { period } else { nil }
  }

  @Test(
    arguments: [
      (59, "94287082", "46119246", "90693936"), (1_111_111_109, "07081804", "68084774", "25091201"),
      (1_111_111_111, "14050471", "67062674", "99943326"), (1_234_567_890, "89005924", "91819424", "93441116"),
      (2_000_000_000, "69279037", "90698825", "38618901"), (20_000_000_000, "65353130", "77737706", "47863826"),
    ] as [(UInt64, String, String, String)])
  func `codes of the time are those of RFC 6238`(
    _ time: UInt64, _ sha1: String, _ sha256: String, _ sha512: String
  ) throws {
    for (name, length, expected) in [("SHA1", 20, sha1), ("sha256", 32, sha256), ("Sha512", 64, sha512)] {
      let uri = "otpauth://totp/a:b?secret=\(Self.secret(length))&algorithm=\(name)&digits=8"
      #expect(try Self.code(uri, time / 30) == expected)
    }
  }

  @Test func `codes with a number are those of RFC 4226`() throws {
    let uri = "otpauth://hotp/a?counter=0&secret=" + Self.secret(20)
    let codes = try (0..<10).map { try Self.code(uri, $0) }
    let expected = "755224 287082 359152 969429 338314 254676 287922 162583 399871 520489"
    #expect(codes == expected.split(separator: " ").map(String.init))
  }

  @Test(arguments: [
    "steam://63BEDWCQZKTQWPESARIERL5DTTQFCJTK", "note\nSTEAM://63bedwcqzktqwpesarierl5dttqfcjtk\r\n",
    "otpauth://totp/Steam:me?secret=63BEDWCQZKTQWPESARIERL5DTTQFCJTK&issuer=Steam",
    "otpauth://totp/Steam%3Ame?secret=63BEDWCQZKTQWPESARIERL5DTTQFCJTK",
    "otpauth://totp/x?secret=63BEDWCQZKTQWPESARIERL5DTTQFCJTK&issuer=Steam&digits=5",
    "otpauth://steam/x%3Ame?secret=63BEDWCQZKTQWPESARIERL5DTTQFCJTK&issuer=Other&digits=5&period=30",
    "otpauth://STEAM/x?secret=63BEDWCQZKTQWPESARIERL5DTTQFCJTK",
  ])
  func `other forms of Steam's secrets give the same codes`(_ value: String) throws {
    #expect(try Self.code(value, 1_511_200_518 / 30) == "FR8RV")
  }

  @Test(arguments: [
    "otpauth://totp/x?secret=63BEDWCQZKTQWPESARIERL5DTTQFCJTK&issuer=Steam&digits=6",
    "otpauth://totp/Steamboat:x?secret=63BEDWCQZKTQWPESARIERL5DTTQFCJTK",
    "otpauth://totp/Steam:x?secret=63BEDWCQZKTQWPESARIERL5DTTQFCJTK&issuer=Other",
  ])
  func `what only resembles Steam has six digits`(_ value: String) throws {
    #expect(try Self.code(value, 1).allSatisfy(\.isNumber))
    #expect(try Self.code(value, 1).count == 6)
  }

  @Test(
    arguments: [
      ("key=\(secret(20))&step=30&size=8", 59, "94287082"),
      ("KEY=\(secret(32))&size=8&otpHashMode=Sha256", 59, "46119246"),
      ("key=\(secret(64))&size=8&otpHashMode=HMAC-SHA-512&step=60", 118, "90693936"),
    ] as [(String, UInt64, String)])
  func `the parameters of older versions of KeePassXC are read`(_ value: String, _ time: UInt64, _ code: String) throws
  {
    let password = try Self.password(value)
    #expect(try Self.code(value, time / (Self.seconds(password) ?? 0)) == code)
  }

  @Test func `several accounts in one value are refused by name`() throws {
    #expect { try Self.password("otpauth-migration://offline?data=CjEKCkhlbGxvId6tvu8%3D") } throws: { error in
      (error as? ToolError)?.message.contains("the accounts of Google Authenticator") == true
    }
  }

  // Of KeePassXC's tests.
  @Test(arguments: [(1_511_200_518, "FR8RV"), (1_511_200_714, "9P3VP")] as [(UInt64, String)])
  func `codes of Steam have its characters`(_ time: UInt64, _ code: String) throws {
    let uri = "otpauth://totp/a:b?secret=63BEDWCQZKTQWPESARIERL5DTTQFCJTK&issuer=Valve&encoder=steam"
    #expect(try Self.code(uri, time / 30) == code)
    #expect(try Self.code(uri + "&digits=5", time / 30) == code)
  }

  // RFC 2202, test 6; RFC 4231, test 6.
  @Test(arguments: [
    (MessageDigest.sha1, 80, "aa4ae5e15272d00e95705637ce8a3b55ed402112"),
    (.sha256, 131, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
    (
      .sha512, 131,
      "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
        + "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598"
    ),
  ])
  func `a key that is longer than a block is hashed first`(
    _ digest: MessageDigest, _ length: Int, _ expected: String
  ) throws {
    var key = try SecretBytes(count: length)
    key.withUnsafeMutableBytes { for index in $0.indices { $0[index] = 0xAA } }
    let code = try digest.code(of: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8), key: key)
    #expect(
      code.withUnsafeBytes { $0.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) } }.joined() == expected)
  }

  @Test(arguments: [
    "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "gezd gnbv gy3t qojq gezd gnbv gy3t qojq",
    "GEZDGNBV-GY3TQOJQ-GEZDGNBV-GY3TQOJQ",
    " GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ====\r\n", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ=",
    "otpauth://totp/?secret=gezdgnbvgy3tqojqgezdgnbvgy3tqojq%3D%3d",
    "OTPAUTH://TOTP/x?SECRET=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ#x",
    "otpauth://totp/x?secret=GEZDGNBV%20GY3TQOJQ+GEZDGNBVGY3TQOJQ&algorithm=&digits=&image=a%26b",
    "password\nuser: x\notpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ \r\nurl: y",
  ])
  func `a secret is read as people copy it`(_ value: String) throws {
    #expect(try Self.code(value, 1) == "287082")
    #expect(Self.seconds(try Self.password(value)) == 30)
  }

  @Test func `a secret of 52 characters has 32 bytes`() throws {
    let text = Self.secret(32)
    #expect(text.count == 52)
    #expect(try Self.code(text, 1) == Self.code(text + "A", 1))
  }

  @Test(arguments: [
    "", "short", "GEZDGNBVGY3TQOJ", "GEZDGNBVGY3TQOJQ0", "GEZDGNBVGY3TQOJQ=A", "GEZD\nGNBVGY3TQOJQGEZDGNBV",
    "otpauth:/totp",
    "otpauth://totp/x", "otpauth://totp/x?secret=", "otpauth://totp/x?secret=====", "otpauth://totp/x?secret=A1",
    "otpauth://totp/x?secret=AAAA%3", "otpauth://totp/x?secret=AAAA%4g", "otpauth://totp/x?secret=AAAA&secret=AAAA",
    "otpauth://motp/x?secret=AAAA", "otpauth://?secret=AAAA", "otpauth://totp/x?secret=AAAA&algorithm=MD5",
    "otpauth://totp/x?secret=AAAA&digits=0", "otpauth://totp/x?secret=AAAA&digits=11",
    "otpauth://totp/x?secret=AAAA&digits=6x", "otpauth://totp/x?secret=AAAA&period=0",
    "otpauth://totp/x?secret=AAAA&period=86401", "otpauth://totp/x?secret=AAAA&period=-30",
    "otpauth://steam/x?secret=AAAA&encoder=other", "otpauth://totp/x?secret=AAAA&encoder=other",
    "otpauth://hotp/x?secret=AAAA",
    "otpauth://hotp/x?secret=AAAA&counter=18446744073709551615",
    "otpauth://hotp/x?secret=AAAA&counter=18446744073709551616", "otpauth://hotp/x?secret=AAAA&counter=",
  ])
  func `any other value is refused and not repeated`(_ value: String) {
    #expect(throws: ToolError.self) { try Self.password(value) }
    do { _ = try Self.password(value) } catch {
      #expect(ToolError(thrown: error).code == "typeMismatch")
      #expect(!ToolError(thrown: error).message.contains("AAAA"))
    }
  }

  @Test(arguments: [
    ("counter=0&secret=AAAA", "counter=1&secret=AAAA"),
    ("secret=AAAA&counter=9#x\r\nmore", "secret=AAAA&counter=10#x\r\nmore"),
    ("counter=0041&secret=AAAA", "counter=42&secret=AAAA"),
    ("secret=AAAA&counter=18446744073709551614", "secret=AAAA&counter=18446744073709551615"),
  ])
  func `the next number replaces the number, and nothing else changes`(_ before: String, _ after: String) throws {
    let start = "first line\notpauth://hotp/a:b?"
    let successor = try #require(try Self.password(start + before).successor)
    #expect(successor.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } == start + after)
  }

  @Test func `the secret and the codes are in guarded memory alone`() throws {
    let search = MemorySearch()
    var bytes = try SecretBytes(count: 23 + 64)
    bytes.withUnsafeMutableBytes { bytes in
      bytes.copyBytes(from: "otpauth://totp/?secret=".utf8)
      for index in 23..<bytes.count { bytes[index] = UInt8(ascii: "A") + .random(in: 0..<26) }
    }
    let value = Kept(bytes)
    let password = try value.bytes.withUnsafeBytes { try OneTimePassword($0) }
    let codes = [Kept(try password.code(1)), Kept(try password.code(2))]
    try search.note { search in
      value.bytes.withUnsafeBytes { bytes in
        search.add("text", UnsafeRawBufferPointer(rebasing: bytes[23...]))
        guard let secret = try? Base32.decode(bytes[23...]) else { return }
        secret.withUnsafeBytes { search.add("secret", $0) }
      }
    }
    let finds = try search.finds()
    withExtendedLifetime((value, password, codes)) {}
    #expect(finds.contains { $0.secret == "secret" })
    for find in finds { #expect(Mapping.flags(at: find.address).contains("dd"), "\(find)") }
  }
}
