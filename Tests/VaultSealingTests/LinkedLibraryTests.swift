import CVaultSodium
import Testing
import VaultSealing

/// Checks that the linked libsodium gives the published answers.
///
/// `CVaultSodium` is imported because the module has no call with a nonce, key length or output length of one's
/// own choosing: SEAL hedges its nonce, hashes have transcripts in front, and a root has 32 bytes.
struct LinkedLibraryTests {
  init() { _ = RandomSource.system.bytes(1) }  // makes the library ready

  @Test func `secretbox gives and takes the box of the NaCl test suite`() {
    // tests/secretbox.c and secretbox.out of NaCl 2011-02-21, without the leading zeros of its old calls.
    let key = hex("1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389")
    let nonce = hex("69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37")
    let message = hex(
      """
      be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c6129
      6cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde
      048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705
      """)
    let expected = hex(
      """
      f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186a
      c0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae
      90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74
      e355a5
      """)
    var box = repeated(0, message.count + 16)
    var opened = repeated(0, message.count)

    crypto_secretbox_easy(&box, message, UInt64(message.count), nonce, key)
    let answer = crypto_secretbox_open_easy(&opened, box, UInt64(box.count), nonce, key)

    #expect(box == expected)
    #expect(answer == 0)
    #expect(opened == message)
  }

  @Test func `BLAKE2b of abc is the value of RFC 7693 appendix A`() {
    let expected = hex(
      """
      ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1
      7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923
      """)

    #expect(blake2b(64, key: [], Array("abc".utf8)) == expected)
  }

  @Test(arguments: KeyedHash.table) func `keyed BLAKE2b gives its authors' known answers`(_ row: KeyedHash) {
    #expect(blake2b(64, key: run(64), run(row.count)) == row.answer)
  }

  @Test func `BLAKE2b passes the self-test of RFC 7693 appendix E`() {
    // 48 hashes with and without key, four output lengths, six input lengths, hashed together.
    var all: [UInt8] = []
    for outCount in [20, 32, 48, 64] {
      for inCount in [0, 3, 128, 129, 255, 1024] {
        let input = selfTestSequence(inCount)
        all += blake2b(outCount, key: [], input)
        all += blake2b(outCount, key: selfTestSequence(outCount), input)
      }
    }

    let expected = hex("c23a7800d98123bd10f506c61e29da5603d763b8bbad2e737f5e765a7bccd475")
    #expect(blake2b(32, key: [], all) == expected)
  }

  @Test func `Argon2id gives a known answer of libsodium's own suite`() {
    // test/default/pwhash_argon2id.c, seventh row of its first table: 1 pass, 231 bytes of output. All rows
    // use less than 8 MiB and other lengths than 32, so `stretch` cannot express them.
    let password = hex("b540beb016a5366524d4605156493f9874514a5aa58818cd0c6dfffaa9e90205f17b")
    let salt = hex("44071f6d181561670bda728d43fb79b4")
    let expected = hex(
      """
      7fb72409b0987f8190c3729710e98c3f80c5a8727d425fdcde7f3644d467fe973f5b5fee683bd3fce812cb9ae5e9921a
      2d06c2f1905e4e839692f2b934b682f11a2fe2b90482ea5dd234863516dba6f52dc0702d324ec77d860c2e181f84472b
      d7104fedce071ffa93c5309494ad51623d214447a7b2b1462dc7d5d55a1f6fd5b54ce024118d86f0c6489d16545aaa87
      b6689dad9f2fb47fda9894f8e12b87d978b483ccd4cc5fd9595cdc7a818452f915ce2f7df95ec12b1c72e3788d473441
      d884f9748eb14703c21b45d82fd667b85f5b2d98c13303b3fe76285531a826b6fc0fe8e3dddecf
      """)
    var out = repeated(0, expected.count)

    let answer = password.withUnsafeBytes { password in
      crypto_pwhash(
        &out, UInt64(out.count), password.assumingMemoryBound(to: CChar.self).baseAddress!,
        UInt64(password.count), salt, 1, 1_631_659, crypto_pwhash_ALG_ARGON2ID13)
    }

    #expect(answer == 0)
    #expect(out == expected)
  }

  @Test func `the version of the library is known`() {
    #expect(GuardedMemory.libraryVersion == String(cString: sodium_version_string()))
  }

  private func selfTestSequence(_ count: Int) -> [UInt8] {
    var (a, b) = (0xDEAD_4BAD &* UInt32(count), 1 as UInt32)
    return (0..<count).map { _ in
      (a, b) = (b, a &+ b)
      return UInt8(b >> 24)
    }
  }
}

/// Rows of `blake2b-kat.txt` of the BLAKE2 authors: key 00…3f, message 00, 01, 02 … of `count` bytes.
struct KeyedHash: Row {
  let count: Int
  let answer: [UInt8]
  var id: String { "\(count) bytes" }

  static let table = [
    KeyedHash(
      count: 0,
      answer: hex(
        """
        10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786
        b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568
        """)),
    KeyedHash(
      count: 1,
      answer: hex(
        """
        961f6dd1e4dd30f63901690c512e78e4b45e4742ed197c3c5e45c549fd25f2e4
        187b0bc9fe30492b16b0d0bc4ef9b0f34c7003fac09a5ef1532e69430234cebd
        """)),
    KeyedHash(
      count: 255,
      answer: hex(
        """
        142709d62e28fcccd0af97fad0f8465b971e82201dc51070faa0372aa43e9248
        4be1c1e73ba10906d5d1853db6a4106e0a7bf9800d373d6dee2d46d62ef2a461
        """)),
  ]
}

/// `B(count, key, message)` straight from the library.
func blake2b(_ count: Int, key: [UInt8], _ message: [UInt8]) -> [UInt8] {
  var out = repeated(0, count)
  crypto_generichash(&out, count, message, UInt64(message.count), key.isEmpty ? nil : key, key.count)
  return out
}
