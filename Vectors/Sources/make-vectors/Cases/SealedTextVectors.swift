import FoundationEssentials

/// Sealed values outside a vault (annex C): `sealed-texts.json`.
enum SealedTextVectors {
  /// A text, and what a reader must make of it.
  struct Vector {
    enum Outcome {
      /// A writer with this key, context and random bytes makes the same text.
      case opens(kind: UInt8, Bytes, random: Bytes)
      case refused(Refusal)
    }

    let name: String
    let about: String
    let text: String
    let context: Bytes
    /// The greatest length of a value that the reader takes, where it is not that of the format.
    var limit: Int?
    let outcome: Outcome

    var json: JSON {
      var members: [(String, JSON)] = [
        ("name", .text(name)), ("about", .text(about)), ("context", .text(context.hexadecimal)), ("text", .text(text)),
      ]
      if let limit { members.append(("limit", .number(limit))) }
      switch outcome {
      case .opens(let kind, let value, let random):
        members += [
          ("random", .text(random.hexadecimal)), ("kind", .number(kind)), ("hex", .text(value.hexadecimal)),
        ]
      case .refused(let refusal): members.append(("error", .text(refusal.rawValue)))
      }
      return .object(members)
    }
  }

  static func write(to directory: String) throws {
    let json = JSON.object([
      ("format", .number(1)), ("key", .text(Sealing.text(ofKey: key))), ("texts", .list(all.map(\.json))),
    ])
    try Data((json.written() + "\n").utf8).write(to: URL(filePath: directory + "/sealed-texts.json"))
  }

  static var all: [Vector] { valid + seals + messages + spellings + limits }

  private static let key = Bytes.run(from: 0x80)
  /// The context of the Swift API: a store and a key.
  private static let place = Bytes.lp16(Bytes("settings")) + Bytes("smtp.password")
  private static let prefix = "spv-sealed-1:"

  // MARK: What opens

  private static var valid: [Vector] {
    [
      opening("string", "a string", 1, Bytes("s3cret")),
      opening("string-empty", "an empty string", 1, []),
      opening("string-unicode", "text of several planes, with a NUL", 1, Bytes("s\u{0}\n\u{1F511}")),
      opening("context-empty", "no context", 1, Bytes("s3cret"), context: []),
      opening("context-long", "a context of 2050 bytes", 1, Bytes("s3cret"), context: .run(from: 0, count: 2050)),
      opening("data-0", "no bytes: two digits at the end", 2, []),
      opening("data-1", "one byte: three digits at the end", 2, [0xFF]),
      opening("data-2", "two bytes: no digits over", 2, [0xFB, 0xFF]),
      opening("data-5000", "5000 bytes", 2, .run(from: 7, count: 5000)),
      opening("bool", "a truth value", 3, [1]),
      opening("signed", "the least signed integer", 4, .integer(Int64.min)),
      opening("unsigned", "the greatest unsigned integer", 5, .integer(UInt64.max)),
      opening("double", "not a number", 6, .integer(Double.nan.bitPattern)),
      opening("date", "a date", 7, .integer(Double.pi.bitPattern)),
      opening("url", "a URL", 8, Bytes("https://example.com/")),
      opening("json", "a list", 9, Bytes("[1,2]")),
      opening("kind-reserved", "a kind that version 1 does not know", 10, [0xFF]),
      opening("kind-private", "a private kind", 200, Bytes("private")),
    ]
  }

  private static func opening(
    _ name: String, _ about: String, _ kind: UInt8, _ value: Bytes, context: Bytes = place
  ) -> Vector {
    let random = random(name)
    let sealed = seal([kind] + value, context: context, random: random)
    return Vector(
      name: name, about: about, text: written(sealed), context: context,
      outcome: .opens(kind: kind, value, random: random))
  }

  // MARK: What does not open

  private static var seals: [Vector] {
    [
      tampered("key", "sealed with another key", key: .run(from: 0x81)),
      tampered("moved-key", "sealed for another key", context: .lp16(Bytes("settings")) + Bytes("smtp.user")),
      tampered("moved-store", "sealed for another store", context: .lp16(Bytes("settingt")) + Bytes("smtp.password")),
      tampered(
        "moved-joined", "sealed for store and key cut elsewhere",
        context: .lp16(Bytes("settingss")) + Bytes("mtp.password")),
      tampered("moved-empty", "sealed for no context", context: []),
      tampered(
        "items", "sealed for a context of two items",
        items: [Bytes("token"), Bytes("settings"), Bytes("smtp.password")]),
      tampered("label", "sealed as the value of a record", items: [Bytes("value"), place]),
      tampered("nonce", "a bit of the nonce flipped") { $0.flip(at: 0) },
      tampered("tag", "a bit of the tag flipped") { $0.flip(at: 24) },
      tampered("poly1305", "Poly1305 wrong under a right tag") {
        $0 = Sealing.retagged($0, key: key, context: [Bytes("token"), place]) { $0.flip(at: 15) }
      },
      tampered("box", "a bit of the value flipped") { $0.flip(at: $0.count - 1) },
      tampered("cut", "the last three bytes cut off") { $0.removeLast(3) },
      tampered("longer", "a byte added") { $0.append(0) },
      tampered("shortest", "71 bytes, too few for a seal") { $0.removeLast($0.count - 71) },
      tampered("nothing", "the prefix alone") { $0 = [] },
    ]
  }

  private static func tampered(
    _ name: String, _ about: String, key: Bytes = key, context: Bytes = place, items: [Bytes]? = nil,
    _ change: (inout Bytes) -> Void = { _ in }
  ) -> Vector {
    var sealed = Sealing.seal(
      [1] + Bytes("s3cret"), key: key, context: items ?? [Bytes("token"), context], random: random(name))
    change(&sealed)
    return refused(name, about, written(sealed), .tampered)
  }

  // MARK: What opens and is none

  private static var messages: [Vector] {
    [
      unfit("message-empty", "no kind", []), unfit("kind-zero", "kind 0", [0] + Bytes("s3cret")),
      unfit("unfit-string", "a string that is not UTF-8", [1, 0xFF]),
      unfit("unfit-bool", "a truth value of 2", [3, 2]), unfit("unfit-bool-long", "two truth values", [3, 1, 0]),
      unfit("unfit-signed", "an integer of 7 bytes", [4] + .zeros(7)),
      unfit("unfit-double", "a double of 9 bytes", [6] + .zeros(9)),
      unfit("unfit-url", "a URL that is not UTF-8", [8, 0xC0, 0x80]),
    ]
  }

  private static func unfit(_ name: String, _ about: String, _ message: Bytes) -> Vector {
    refused(name, about, written(seal(message, context: place, random: random(name))), .malformed)
  }

  // MARK: What is not the text of a sealed value

  private static var spellings: [Vector] {
    // 79 bytes: two digits at the end, with four unused bits.
    let text = written(seal([1] + Bytes("s3cret"), context: place, random: random("spelling")))
    let digits = text.dropFirst(prefix.count)
    return [
      malformed("plain", "a plain value", "s3cret"), malformed("plain-empty", "an empty text", ""),
      malformed("prefix-none", "without the prefix", String(digits)),
      malformed("prefix-cut", "the prefix without its colon", "spv-sealed-1" + digits),
      malformed("prefix-case", "the prefix in upper case", "SPV-SEALED-1:" + digits),
      malformed("prefix-version", "a later version", "spv-sealed-2:" + digits),
      malformed("prefix-key", "the text of a raw key", Sealing.text(ofKey: key)),
      malformed("space-before", "a space in front", " " + text),
      malformed("line-end", "a line feed behind", text + "\n"),
      malformed("line-break", "a line feed inside", prefix + digits.prefix(64) + "\n" + digits.dropFirst(64)),
      malformed("padded", "padded to a multiple of four", text + "=="),
      malformed("alphabet", "the digit + of the other alphabet", prefix + "+" + digits.dropFirst()),
      malformed("alphabet-slash", "the digit / of the other alphabet", prefix + "/" + digits.dropFirst()),
      malformed("digit-unicode", "a digit outside ASCII", text + "\u{FF21}"),
      malformed("digit-over", "a digit too many", written(Bytes(repeating: 0, count: 78)) + "A"),
      malformed("unused-bits", "an unused bit of the last digit is set", lastBitSet(in: text)),
    ]
  }

  private static func malformed(_ name: String, _ about: String, _ text: String) -> Vector {
    refused(name, about, text, .malformed)
  }

  private static func lastBitSet(in text: String) -> String {
    let last = Bytes(text).last!
    return text.dropLast() + String(UnicodeScalar(alphabet[alphabet.firstIndex(of: last)! + 1]))
  }

  // MARK: How long it may be

  private static var limits: [Vector] {
    let limit = 1000
    func text(_ count: Int) -> String {
      written(seal([2] + .run(from: 3, count: count), context: place, random: random("limit-\(count)")))
    }
    let longer = text(limit + 1)
    return [
      limited(
        "limit", "a value of exactly the limit", text(limit), limit,
        .opens(kind: 2, .run(from: 3, count: limit), random: random("limit-\(limit)"))),
      limited("limit-longer", "a value of a byte more than the limit", longer, limit, .refused(.limitExceeded)),
      limited(
        "limit-before-digits", "a value above the limit, with a digit that is none", longer.dropLast() + "!", limit,
        .refused(.limitExceeded)),
      limited(
        "limit-before-seal", "a value above the limit, cut off elsewhere", longer + "AAAA", limit,
        .refused(.limitExceeded)),
      limited(
        "limit-behind-prefix", "a text above the limit without the prefix", String(longer.dropFirst()), limit,
        .refused(.malformed)),
      limited(
        "limit-digit-over", "a digit too many within the limit", text(limit - 3) + "AA", limit, .refused(.malformed)),
    ]
  }

  private static func limited(_ name: String, _ about: String, _ text: String, _ limit: Int, _ outcome: Vector.Outcome)
    -> Vector
  {
    Vector(name: name, about: about, text: text, context: place, limit: limit, outcome: outcome)
  }

  // MARK: Making them

  private static func refused(_ name: String, _ about: String, _ text: String, _ refusal: Refusal) -> Vector {
    Vector(name: name, about: about, text: text, context: place, outcome: .refused(refusal))
  }

  private static func random(_ name: String) -> Bytes {
    var stream = RandomStream(seed: "SPV1 sealed-text " + name)
    return stream.draw(24)
  }

  private static func seal(_ message: Bytes, context: Bytes, random: Bytes) -> Bytes {
    Sealing.seal(message, key: key, context: [Bytes("token"), context], random: random)
  }

  private static let alphabet = Bytes("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

  /// The prefix, and base64url by groups of three bytes.
  private static func written(_ sealed: Bytes) -> String {
    var digits: Bytes = []
    for start in stride(from: 0, to: sealed.count, by: 3) {
      let group = sealed[start..<min(start + 3, sealed.count)]
      let word = (Bytes(group) + [0, 0]).prefix(3).reduce(0) { $0 << 8 | Int($1) }
      digits += (0...group.count).map { alphabet[word >> (18 - 6 * $0) & 63] }
    }
    return prefix + String(decoding: digits, as: UTF8.self)
  }
}
