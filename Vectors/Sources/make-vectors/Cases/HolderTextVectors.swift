import FoundationEssentials

/// Agreements, and the texts of identities, public keys and pins (annex G): `holder-texts.json`.
enum HolderTextVectors {
  private struct Text {
    let name: String
    let about: String
    /// `identity`, `public` or `pin`.
    let form: String
    let text: String
    let isRefused: Bool

    var json: JSON {
      .object(
        [("name", .text(name)), ("about", .text(about)), ("form", .text(form)), ("text", .text(text))]
          + (isRefused ? [("error", .text("invalidKeyText"))] : []))
    }
  }

  static func write(to directory: String) throws {
    let json = JSON.object([
      ("format", .number(1)), ("agreements", .list(agreements)), ("texts", .list(texts.map(\.json))),
    ])
    try Data((json.written() + "\n").utf8).write(to: URL(filePath: directory + "/holder-texts.json"))
  }

  /// That of G.5, and more with keys that hashes give.
  private static var agreements: [JSON] {
    let annex = Draft(seed: "SPV1 minimal")
    let more = (1...8).map { number in
      (
        Sealing.hash(32, Bytes("vault key \(number)")), Sealing.hash(16, Bytes("vault \(number)")),
        Sealing.hash(32, Bytes("identity \(number)")), Sealing.hash(16, Bytes("slot \(number)"))
      )
    }
    return ([(annex.vaultKey, annex.vaultID, Bytes.run(from: 0), Bytes.run(from: 0, count: 16))] + more).map {
      vaultKey, vaultID, identity, slot in
      let (secret, holder) = (Agreement.vaultSecret(of: vaultKey), Agreement.point(of: identity))
      let key = Agreement.ownerKey(vaultKey: vaultKey, vaultID: vaultID, holder: holder)
      return .object([
        ("vault_key", .text(vaultKey.hexadecimal)), ("vault", .text(vaultID.hexadecimal)),
        ("slot", .text(slot.hexadecimal)), ("identity", .text(Agreement.text(ofIdentity: identity))),
        ("vault_secret", .text(secret.hexadecimal)), ("public_key", .text(Agreement.text(ofPublicKey: holder))),
        ("pin", .text(Agreement.pin(vaultID: vaultID, point: Agreement.point(of: secret)))),
        ("product", .text(Agreement.product(secret, holder)!.hexadecimal)), ("key", .text(Sealing.text(ofKey: key))),
        ("kek", .text(Sealing.derive(32, key, "kek", vaultID, slot).hexadecimal)),
      ])
    }
  }

  private static var texts: [Text] {
    let digits = Agreement.point(of: .run(from: 0)).hexadecimal
    let id = Bytes.run(from: 0, count: 16).hexadecimal
    return [("identity", "spv-identity-1:"), ("public", "spv-public-1:"), ("pin", "spv-vault-1:\(id):")].flatMap {
      form, start in
      spellings(form, start, digits) + (form == "identity" ? [] : numbers(form, start))
    } + pins(id, digits)
  }

  private static func spellings(_ form: String, _ start: String, _ digits: String) -> [Text] {
    let good = start + digits
    let refused: [(name: String, about: String, text: String)] = [
      ("empty", "nothing", ""), ("line", "a line feed alone", "\n"), ("prefix", "no digits", start),
      ("digits", "the digits alone", digits), ("crlf", "CRLF at the end", good + "\r\n"),
      ("two-lf", "two line feeds", good + "\n\n"), ("space-before", "a space in front", " " + good),
      ("space-behind", "a space at the end", good + " "),
      ("space-within", "a space before the digits", start + " " + digits),
      ("digits-63", "63 digits", String(good.dropLast())), ("digits-65", "65 digits", good + "0"),
      ("letter", "a digit that is none", good.dropLast() + "g"),
      ("behind-9", "a character behind 9 as a digit", good.dropLast() + ";"),
      ("upper-digits", "upper-case digits", start + digits.uppercased()),
      ("upper-prefix", "an upper-case prefix", start.uppercased() + digits),
      (
        "version", "a different version",
        String(start.prefix { $0 != "1" }) + "2:" + start.drop { $0 != ":" }.dropFirst() + digits
      ),
      ("key", "the prefix of a raw key", "spv-key-1:" + digits), ("nul", "a NUL at the end", good + "\u{0}"),
      ("twice", "two lines", good + "\n" + good),
    ]
    return [
      Text(name: form, about: "as it is written", form: form, text: good, isRefused: false),
      Text(name: form + "-lf", about: "with a line feed", form: form, text: good + "\n", isRefused: false),
    ] + refused.map { Text(name: "\(form)-\($0)", about: $1, form: form, text: $2, isRefused: true) }
  }

  /// Numbers that are no public key, and the nearest ones that are.
  private static func numbers(_ form: String, _ start: String) -> [Text] {
    let ones = Bytes(repeating: 0xFF, count: 30)
    let orderEight = [
      "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
      "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    ]
    var refused: [(String, String, Bytes)] = [
      ("zero", "the number 0", .zeros(32)), ("one", "the number 1", Bytes([1]) + .zeros(31)),
      ("minus-one", "p − 1", Bytes([0xEC]) + ones + Bytes([0x7F])),
      ("order-8", "a point of order 8", Bytes(hexadecimal: orderEight[0])),
      ("order-8-other", "the other point of order 8", Bytes(hexadecimal: orderEight[1])),
      ("ones", "all ones", Bytes(repeating: 0xFF, count: 32)),
    ]
    var high = Agreement.point(of: .run(from: 0))
    high[31] |= 0x80
    refused.append(("top-bit", "a public key with the highest bit", high))
    for number in UInt8(0)..<19 {
      refused.append(("p-\(number)", "p + \(number)", Bytes([0xED + number]) + ones + Bytes([0x7F])))
    }
    let accepted: [(String, String, Bytes)] = [
      ("minus-two", "p − 2", Bytes([0xEB]) + ones + Bytes([0x7F])),
      ("two", "the number 2", Bytes([2]) + .zeros(31)),
    ]
    return refused.map {
      Text(name: "\(form)-\($0)", about: $1, form: form, text: start + $2.hexadecimal, isRefused: true)
    }
      + accepted.map {
        Text(name: "\(form)-\($0)", about: $1, form: form, text: start + $2.hexadecimal, isRefused: false)
      }
  }

  private static func pins(_ id: String, _ digits: String) -> [Text] {
    [
      ("no-id", "no id", "spv-vault-1:" + digits), ("no-colon", "no second colon", "spv-vault-1:\(id)\(digits)"),
      ("exchanged", "key and id exchanged", "spv-vault-1:\(digits):\(id)"),
      ("id-31", "31 digits of the id", "spv-vault-1:\(id.dropLast()):\(digits)"),
      ("id-33", "33 digits of the id", "spv-vault-1:\(id)0:\(digits)"),
      ("colon-left", "the second colon one digit early", "spv-vault-1:\(id.dropLast()):0\(digits)"),
      ("colon-end", "a third colon", "spv-vault-1:\(id):\(digits):"),
      ("id-upper", "an upper-case id", "spv-vault-1:\(id.uppercased()):\(digits)"),
    ].map { Text(name: "pin-\($0)", about: $1, form: "pin", text: $2, isRefused: true) }
  }
}

extension Bytes {
  fileprivate init(hexadecimal digits: String) {
    let values = digits.utf8.map { UInt8($0 < 0x60 ? $0 - 0x30 : $0 - 0x57) }
    self = stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
  }
}
