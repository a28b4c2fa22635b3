import CSodium

/// The primitives of the format, section 2.
enum Sealing {
  /// How much longer sealed bytes are than the message.
  static let overhead = 72

  /// `B(count, key, message)`.
  static func hash(_ count: Int, key: Bytes = [], _ message: Bytes) -> Bytes {
    var out = Bytes.zeros(count)
    let status = crypto_generichash(&out, count, message, UInt64(message.count), key, key.count)
    precondition(status == 0, "BLAKE2b refuses these lengths")
    return out
  }

  /// `T(items…)`, an injective encoding of a list.
  static func transcript(_ items: [Bytes]) -> Bytes {
    items.flatMap { .integer(UInt64($0.count)) + $0 }
  }

  /// `D(count, key, label, items…)`.
  static func derive(_ count: Int = 32, _ key: Bytes, _ label: String, _ items: Bytes...) -> Bytes {
    derive(count, key, label, items)
  }

  static func derive(_ count: Int, _ key: Bytes, _ label: String, _ items: [Bytes]) -> Bytes {
    hash(count, key: key, transcript([Bytes("SPV1/" + label)] + items))
  }

  /// `argon2id(passphrase, salt, passes, memory)`.
  static func stretch(_ passphrase: Bytes, salt: Bytes, passes: UInt32, kibibytes: UInt32) -> Bytes {
    var out = Bytes.zeros(32)
    let status = passphrase.withUnsafeBytes { passphrase in
      crypto_pwhash(
        &out, 32, passphrase.baseAddress!.assumingMemoryBound(to: CChar.self), UInt64(passphrase.count), salt,
        UInt64(passes), Int(kibibytes) * 1024, crypto_pwhash_ALG_ARGON2ID13)
    }
    precondition(status == 0, "Argon2id found no memory")
    return out
  }

  /// `SEAL(key, context…, message)` with the 24 random bytes that go into the nonce.
  static func seal(_ message: Bytes, key: Bytes, context: [Bytes], random: Bytes) -> Bytes {
    let (boxKey, tagKey) = subkeys(key, context)
    let nonce = hash(24, key: tagKey, random + message)
    var box = Bytes.zeros(message.count + 16)
    crypto_secretbox_easy(&box, message, UInt64(message.count), nonce, boxKey)
    return nonce + hash(32, key: tagKey, nonce + box) + box
  }

  /// `OPEN(key, context…, sealed)`.
  static func open(_ sealed: Bytes, key: Bytes, context: [Bytes]) -> Bytes? {
    guard sealed.count >= overhead else { return nil }
    let (boxKey, tagKey) = subkeys(key, context)
    let (nonce, box) = (Bytes(sealed[..<24]), Bytes(sealed[56...]))
    guard hash(32, key: tagKey, nonce + box) == sealed.tag else { return nil }
    var message = Bytes.zeros(box.count - 16)
    return crypto_secretbox_open_easy(&message, box, UInt64(box.count), nonce, boxKey) == 0 ? message : nil
  }

  /// The same sealed thing with another box under a right tag: only somebody with the key can do that.
  static func retagged(_ sealed: Bytes, key: Bytes, context: [Bytes], _ change: (inout Bytes) -> Void) -> Bytes {
    let nonce = Bytes(sealed[..<24])
    var box = Bytes(sealed[56...])
    change(&box)
    return nonce + hash(32, key: subkeys(key, context).tag, nonce + box) + box
  }

  private static func subkeys(_ key: Bytes, _ context: [Bytes]) -> (box: Bytes, tag: Bytes) {
    let keys = derive(64, key, "seal", context)
    return (Bytes(keys[..<32]), Bytes(keys[32...]))
  }

  /// `PAD(step, body)`.
  static func pad(_ body: Bytes, step least: Int) -> Bytes {
    let count = body.count + 1
    let bits = Int.bitWidth - count.leadingZeroBitCount
    let step = bits > 5 ? max(least, 1 << (bits - 5)) : least
    return body + [0x80] + .zeros((count + step - 1) / step * step - count)
  }

  /// The text of a raw key (2.5).
  static func text(ofKey key: Bytes) -> String { "spv-key-1:" + key.hexadecimal }
}
