import Testing
import VaultSealing

@testable import VaultCore

/// The texts of holders by public key that are refused (`Docs/Format.md` G.1).
struct HolderTextTests {
  private static let digits = "8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f"
  private static let id = "efaa4335a150eb9ca12496a9eb33c55d"
  private static let secret = "5e471e15ec2e7b0d1e55ca11ab1ec0de5e471e15ec2e7b0d1e55ca11ab1ec0de"

  /// Texts made of one that is right, with `start` before the 64 digits.
  private static func wrong(_ start: String) -> [String] {
    let good = start + digits
    return [
      "", "\n", start, digits, good + "\r\n", good + "\r", good + "\n\n", "\n" + good, " " + good, good + " ",
      start + " " + digits, String(good.dropLast()), good + "0", good + "00", good.dropLast() + "g",
      good.dropLast() + ";", good.dropLast() + "?", good.dropLast() + "/",
      start + digits.uppercased(), start.uppercased() + digits, "x" + good, good + "\0", "\u{FEFF}" + good,
      good + "\n" + good, start.replacing("-1:", with: "-2:") + digits, "spv-key-1:" + digits,
      start + String(repeating: "0", count: 64), start + "01" + String(repeating: "0", count: 62),
      start + String(repeating: "f", count: 64), start + "ed" + String(repeating: "f", count: 60) + "7f",
      start + digits.dropLast(2) + "df",
    ]
  }

  private static func message<R>(of body: () throws(VaultError) -> R) -> String? {
    do throws(VaultError) {
      _ = try body()
      return nil
    } catch {
      #expect(error.code == .invalidKeyText)
      return error.message
    }
  }

  @Test func `row G4: nothing but its exact text is a public key`() throws {
    #expect("\(try VaultIdentity.PublicKey("spv-public-1:" + Self.digits))" == "spv-public-1:" + Self.digits)
    for text in Self.wrong("spv-public-1:") {
      #expect(Self.message { () throws(VaultError) in try VaultIdentity.PublicKey(text) } != nil, "\(text)")
    }
  }

  @Test func `row G4: nothing but its exact text is a pin`() throws {
    let start = "spv-vault-1:\(Self.id):"
    #expect("\(try VaultPin(start + Self.digits))" == start + Self.digits)
    let id =
      Self.wrong(start) + [
        "spv-vault-1:" + Self.digits, "spv-vault-1:\(Self.id)\(Self.digits)", "spv-vault-1:\(Self.digits):\(Self.id)",
        "spv-vault-1:\(Self.id.uppercased()):\(Self.digits)", "spv-vault-1:\(Self.id.dropLast()):\(Self.digits)",
        "spv-vault-1:\(Self.id)0:\(Self.digits)", "spv-vault-1:\(Self.id.dropLast()):0\(Self.digits)",
        "spv-vault-1::\(Self.id)\(Self.digits)", "spv-vault-1:\(Self.id):\(Self.digits):",
      ]
    for text in id { #expect(Self.message { () throws(VaultError) in try VaultPin(text) } != nil, "\(text)") }
  }

  @Test func `row G3: where a public text belongs, an identity is refused and not repeated`() {
    let identity = "spv-identity-1:" + Self.secret
    let messages = [
      Self.message { () throws(VaultError) in try VaultPin(identity) },
      Self.message { () throws(VaultError) in try VaultIdentity.PublicKey(identity) },
      Self.message { () throws(VaultError) in try VaultIdentity.PublicKey("spv-key-1:" + Self.secret) },
    ]
    for message in messages {
      #expect(message?.contains("must stay secret") == true)
      #expect(message?.contains("5e47") == false)
    }
  }

  @Test func `an identity has no public text, and no wrong text is repeated`() throws {
    for start in ["spv-public-1:", "spv-key-1:", "spv-vault-1:\(Self.id):", "spv-identity-2:", ""] {
      let text = Array((start + Self.secret).utf8)
      let message = Self.message { () throws(VaultError) in try VaultIdentity(text: text.bytes) }
      #expect(message?.contains("5e47") == false)
    }
  }

  @Test func `an identity is printed without its secret`() throws {
    let identity = try VaultIdentity.sample(1)
    var dumped = ""
    dump(identity, to: &dumped)
    let secret = try identity.text().withUnsafeBytes { Array($0) }.dropFirst(15)
    for text in ["\(identity)", String(reflecting: identity), dumped] {
      #expect(!text.contains(String(decoding: secret, as: UTF8.self)))
    }
  }
}
