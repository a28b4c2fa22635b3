import Glibc
import Testing
import VaultSealing

struct SecretBytesTests {
  // Long arrays are compared outside #expect, which would look for their difference for hours.
  static let counts = [0, 1, 31, 32, 33, 4095, 4096, 4097, 1 << 20]

  @Test(arguments: counts) func `new bytes are zero`(_ count: Int) throws {
    let secret = try SecretBytes(count: count)

    #expect(secret.count == count)
    let isZero = secret.copy == repeated(0, count)
    #expect(isZero)
  }

  @Test(arguments: counts) func `copied bytes are the source's`(_ count: Int) throws {
    let source = run(count, step: 3)

    let secret = try SecretBytes.of(source)

    let isSame = secret.copy == source
    #expect(isSame)
  }

  @Test func `drawn bytes come from the random source`() throws {
    let secret = try SecretBytes(count: 24, from: .fixed(Array(1...24)))

    #expect(secret.copy == Array(1...24))
  }

  @Test func `written bytes are read back`() throws {
    var secret = try SecretBytes(count: 3)

    secret.withUnsafeMutableBytes { $0.copyBytes(from: [1, 2, 3]) }

    #expect(secret.copy == [1, 2, 3])
  }

  @Test func `a span shows the same bytes`() throws {
    let secret = try SecretBytes(count: 32, from: .fixed(run(32)))

    let shown = secret.withSpan { span in
      (0..<span.byteCount).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }
    #expect(shown == run(32))
  }

  @Test(arguments: [0, 1, 16, 31, 32]) func `a prefix has the first bytes`(_ length: Int) throws {
    let secret = try SecretBytes(count: 32, from: .fixed(run(32)))

    let prefix = try secret.prefix(length)

    #expect(prefix.count == length)
    #expect(prefix.copy == run(length))
  }

  @Test(arguments: Comparison.table) func `equal bytes are equal`(_ row: Comparison) throws {
    let first = try SecretBytes.of(row.first)
    let second = try SecretBytes.of(row.second)

    let answers = [first.isEqual(to: second), second.isEqual(to: first), first.isEqual(to: row.second.span.bytes)]
    #expect(answers == [row.isEqual, row.isEqual, row.isEqual])
  }

  @Test func `bytes are equal to themselves`() throws {
    let secret = try SecretBytes(count: 32, from: .system)

    let isEqual = secret.isEqual(to: secret)
    #expect(isEqual)
  }

  @Test func `more memory than there is is refused`() {
    #expect(refusal { try SecretBytes(count: .max) } == .io)
  }

  @Test func `an error thrown inside the loan comes out`() throws {
    var secret = try SecretBytes(count: 1)
    let error = VaultError(.invalidKeyText, "thrown inside")

    let codes = [
      refusal { try secret.withUnsafeBytes { _ in throw error } },
      refusal { try secret.withUnsafeMutableBytes { _ in throw error } },
      refusal { try secret.withSpan { _ in throw error } },
    ]
    #expect(codes == [.invalidKeyText, .invalidKeyText, .invalidKeyText])
  }

  @Test(.enabled(if: geteuid() == 0, "without root, RLIMIT_MEMLOCK decides"))
  func `root's bytes are locked in memory`() throws {
    let secret = try SecretBytes(count: 32)

    let isLocked = secret.isLocked
    #expect(isLocked)
  }
}

struct Comparison: Row {
  let id: String
  let first: [UInt8]
  let second: [UInt8]
  let isEqual: Bool

  static let table = [
    Comparison(id: "none and none", first: [], second: [], isEqual: true),
    Comparison(id: "none and a zero", first: [], second: [0], isEqual: false),
    Comparison(id: "the same", first: run(32), second: run(32), isEqual: true),
    Comparison(id: "first byte differs", first: [0, 2, 3], second: [1, 2, 3], isEqual: false),
    Comparison(id: "last byte differs", first: [1, 2, 3], second: [1, 2, 0x83], isEqual: false),
    Comparison(
      id: "one is the beginning of the other", first: [1, 2, 3], second: [1, 2, 3, 0], isEqual: false),
  ]
}
