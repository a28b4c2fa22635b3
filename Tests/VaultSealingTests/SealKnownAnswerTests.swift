import Testing
import VaultSealing

/// Sealed bytes, made again outside.
///
/// Expected values: Python 3.11 with hashlib.blake2b for subkeys, nonce and tag, and with XSalsa20-Poly1305
/// written out in Python for the box (checked there against the NaCl vector and against PyNaCl).
struct SealKnownAnswerTests {
  private let sealer: Sealer
  private let key: SealingKey
  private let context: Context = {
    $0.add("value")
    $0.add("svc")
    $0.add("key")
    $0.add(1 as UInt8)
  }

  init() throws {
    sealer = try Sealer(random: .fixed(Array(1...24)))
    key = try .of(Array(0x80...0x9f))
  }

  @Test(arguments: Sealed.table) func `sealed bytes are the ones computed outside`(_ row: Sealed) {
    #expect(sealer.sealed(run(row.count, step: 7), with: key, context) == row.answer)
  }

  @Test(arguments: Sealed.table) func `bytes sealed outside open`(_ row: Sealed) {
    #expect(sealer.opened(row.answer, with: key, context) == run(row.count, step: 7))
  }

  @Test(arguments: LongSealed.table) func `long sealed bytes are the ones computed outside`(_ row: LongSealed) {
    let sealed = sealer.sealed(run(row.count, step: 7), with: key, context)

    let sum = array(checksum(sealed.span.bytes))
    #expect(Array(sealed.prefix(56)) == row.head)
    #expect(sum == row.checksum)
  }
}

/// A message 0, 7, 14 … of `count` bytes and what becomes of it.
struct Sealed: Row {
  let count: Int
  let answer: [UInt8]
  var id: String { "\(count) bytes" }

  init(_ count: Int, _ answer: String) {
    self.count = count
    self.answer = hex(answer)
  }

  static let table = [
    Sealed(
      0,
      """
      b49cbb59c074a8a2b0e010e9f4df81bd7430a17e3e633c68d84c755d6ccb78b41ff6cc37e7b63986fc6c643a8ab018c9
      5b9d3df7af07b3d0fc4c5257940bd8499e321b1616ec2d0e
      """),
    Sealed(
      1,
      """
      ba688e1caaeab96e2190becb754b3fae68fb09e589222ac1e6dbfe4a362186ff7c238404a511a24ad7072636f94255d5
      d6727695b01027da1359c4e2291f460abd5f39a7809bfd551b
      """),
    Sealed(
      15,
      """
      5326afcff32b76464c13ef3e1ff7fb330e2f06715add818311cf230fe87c2b4cfa42f68ec7e10a122b80df847649c7eb
      bec086393debee1282759759f7843307eb0d9259b2fed5b355f002ab5b22a010c6887f3013cdab
      """),
    Sealed(
      16,
      """
      45a391d9567d995664b7a45d600440484cabe56036c9ebf9c79cb7cfeb01ffa1853f1d5e38e41d0f98103f9a53ea4cf3
      88b5919046ba13ff0ddbc63797addfc18174e8d0b7ce94518da9b1158000963ea3701cca7bd15183
      """),
    Sealed(
      17,
      """
      cca2b61e5e1752db32d9a373a6860b9c20ef8bde6246fb7bae85618b6b0ea13f5b5c665c608e0aeff14ca3d3cfb070bc
      21671dcfebc1c2c98a0831b2ec0a00b8a4656eefdd2b105e66a17da807cd4286ef324c3d807006df2d
      """),
    Sealed(
      31,
      """
      8d50eb16b8b7c2dbb0e0b9c4ed94094011357b2afce0db2cdc1e4e635f2c5551d582369c86bfaec1921aae4534a8306a
      49274b704d873018869fa4471469e0d9b619cb80e2a2ffcb29b52a1165a9dcc4d2b466eed9f13959f4c467951bf6781a
      47a109c0d36593
      """),
    Sealed(
      32,
      """
      3de65dbba5b3794248c01417e8f274df0252362b56713f5c138f8b800586dc114f277d64f2390b8556a97adf80b454c1
      14163687aa02e2697608c3ac6865e20e73730184b7ed962b9a2459f28531d089f82d4b106aa6f3cce4a3f55dc2bf66f9
      12f6ccaa2a7d39e6
      """),
    Sealed(
      33,
      """
      c166d64fd3ad4183f2012ff444c90b8e82efebe9ac7fc8d8442ca9fc7cd6e2cf7d4c0361f8629d31fb48c6d14594ac2b
      924336d586c649f27c12b4d277d56488e7fe8c0c7e69670426def54a28c70db68f300b7932ca81bd942a2be142817a69
      38fa23216970a435f3
      """),
    Sealed(
      63,
      """
      b518cf090f87a64933ae1b2c268f1b2d41a3f435b1f614c130735fb0e0a5e7e3b55f8f380c716527db79becde49b8917
      575a404b3fce6acc6c42b8a20777bafd98407a790aa97a238266bec96160540f1a9e8b21a5157b5634398f8c73dbd2ad
      f0e5357179adea7284f5013994e31914b0e9257dbd30afaab1f24e9d04d13ee1b72663cca6f5be
      """),
    Sealed(
      64,
      """
      c68577bc64541b88334e73fdd70c5a298183940974e4686995e12d676f042c17a9b8e8782d91bcfd565ab508198cd9da
      b61318003945af35e855a6e313e6df7128756873016ef3c54a8dee0ae67025a6d1c81bd00f3b97e7aba99cde3a66db09
      71d95dd69333e335a1c99bbd12e71e4c2445ea8d488b5a2a4072c09686d979dfbdbba1f49ddd9af4
      """),
    Sealed(
      65,
      """
      3fdcf397d62708db8157241efc63f9a301df4b6af0d6af17fdb35a65a3d34e95e5d9bbf1d98479702895524674bd72ca
      fc11b7ca699b3b7c59497dfacceed949ccadaa698d2c36ec028a0ff47a3e12439b2cda140c0028331d8882370b3c79a7
      1e8a03a6b825127f14816880f3eedad3a738a7c15ca40632aedf887a9a58bdb68fafef9cddec55a44e
      """),
    Sealed(
      200,
      """
      7639ae416478e6d70187447631ebf0abb8e2db9c3dc1c06930114e1c7697ec4570bb786ba7d48b4a560e1d28dd46ab11
      cb05923786eba5fa6a6935ab5766f8622f575bf08ff48761bff88112a7b36a33cd1e8101359ebbf05d42d23d7b4a71b5
      beb4b34c4c0b489140892a1d3fb1595fccf899b5b2007ea1e535ce93d9e62637391aa11268abb0e6299252ba83eaa52e
      38f31c856676e5fb8c4201cd511f14cbeb3dc11a3ce742e1e279cde854664f2bb63f7bc203a6c57337cec9f588845db4
      f8f46744d9680b7513c961740f8fac3e2fd03c075b0c612512170a369c87ad1533d87722580c22fa55a640c4c6ed8aac
      9f396c86d5fe6ce44ff2bb68b2fa306c3148da84d27b337d0ecbfab4bf57b960
      """),
  ]
}

/// The same for longer messages: nonce and tag, and the checksum of everything sealed.
struct LongSealed: Row {
  let count: Int
  let head: [UInt8]
  let checksum: [UInt8]
  var id: String { "\(count) bytes" }

  static let table = [
    LongSealed(
      count: 4096,
      head: hex(
        """
        5414c52fa3763df6226c705688ade59f6177fe5de3c139e88ac5a01e85668534
        301f09224a7c31351964bef47d3eb30b56eddf677046e832
        """),
      checksum: hex("9500bf738f88a7e7d17eb4b1fea01af2132389b9a2da06f8f67675ea4705f7da")),
    LongSealed(
      count: 65_537,
      head: hex(
        """
        c81178fdb7a298fed046310ae0c05b56d0859034ed43ed8f2b350b181e92f6fa
        9cc2daebd73435a9a479fc63bb17d4dd484d6e62ad82d25d
        """),
      checksum: hex("48db99f8944de54e1f0bc9a7e2a6b1853b6a8029d8a74a10fcf523a421012617")),
  ]
}
