import CVaultSodium
import Testing
import VaultSealing

struct SealRefusalTests {
  private let sealer: Sealer
  private let key: SealingKey
  private let sealed: [UInt8]
  private let place: Context = {
    $0.add("value")
    $0.add("db")
  }

  init() throws {
    sealer = try Sealer()
    key = try SealingKey(from: .system)
    sealed = sealer.sealed(Array("hello".utf8), with: key, place)
  }

  @Test func `every flipped bit is refused`() {
    let opened = (0..<sealed.count * 8).filter { bit in
      var changed = sealed
      changed[bit / 8] ^= 1 << (bit % 8)
      return sealer.opened(changed, with: key, place) != nil
    }

    #expect(opened.isEmpty)
  }

  @Test func `every truncation at the end is refused`() {
    let opened = (0..<sealed.count).filter {
      sealer.opened(Array(sealed.prefix($0)), with: key, place) != nil
    }

    #expect(opened.isEmpty)
  }

  @Test func `every truncation at the front is refused`() {
    let opened = (0..<sealed.count).filter {
      sealer.opened(Array(sealed.suffix($0)), with: key, place) != nil
    }

    #expect(opened.isEmpty)
  }

  @Test func `every extension by a byte is refused`() {
    let opened = (0...255).filter { sealer.opened(sealed + [UInt8($0)], with: key, place) != nil }

    #expect(opened.isEmpty)
  }

  @Test func `a byte put in anywhere is refused`() {
    let opened = sealed.indices.filter { index in
      var changed = sealed
      changed.insert(changed[index], at: index)
      return sealer.opened(changed, with: key, place) != nil
    }

    #expect(opened.isEmpty)
  }

  @Test(arguments: [0, 1, 23, 24, 55, 56, 71]) func `less than 72 bytes are refused`(_ count: Int) {
    #expect(sealer.opened(repeated(0, count), with: key, place) == nil)
  }

  @Test(arguments: [72, 73, 1000]) func `zeros are refused`(_ count: Int) {
    #expect(sealer.opened(repeated(0, count), with: key, place) == nil)
  }

  @Test func `another key is refused`() throws {
    #expect(sealer.opened(sealed, with: try SealingKey(from: .system), place) == nil)
  }

  @Test func `a key that differs in one bit is refused`() throws {
    let opened = try (0..<256).filter { bit in
      var bytes = key.copy
      bytes[bit / 8] ^= 1 << (bit % 8)
      return sealer.opened(sealed, with: try .of(bytes), place) != nil
    }

    #expect(opened.isEmpty)
  }

  @Test(arguments: Place.others) func `another place is refused`(_ other: Place) {
    #expect(sealer.opened(sealed, with: key, other.context) == nil)
  }

  @Test(arguments: Place.pairs) func `items split in another way are another place`(_ pair: Place.Pair) {
    let sealed = sealer.sealed([1], with: key, pair.first)

    #expect(sealer.opened(sealed, with: key, pair.first) == [1])
    #expect(sealer.opened(sealed, with: key, pair.second) == nil)
  }

  @Test func `nonce, tag and box of three messages do not open together`() {
    let other = sealer.sealed(Array("world".utf8), with: key, place)

    for range in [0..<24, 24..<56, 56..<77] {
      var mixed = sealed
      mixed.replaceSubrange(range, with: other[range])
      #expect(sealer.opened(mixed, with: key, place) == nil)
    }
  }

  @Test func `a right tag over a wrong box is refused`() {
    // Only a holder of the key can make this. CVaultSodium: the tag is a hash without a transcript in front.
    let subkeys = sealer.derived(64, "seal", from: key, place)
    var forged = sealed
    forged[60] ^= 1
    let tag = blake2b(32, key: Array(subkeys[32...]), Array(forged[..<24] + forged[56...]))
    forged.replaceSubrange(Sealer.tag, with: tag)

    #expect(sealer.opened(forged, with: key, place) == nil)
  }

  @Test func `a box made right by hand opens`() {
    // The control of the test before: with the box as it was, the tag made the same way is accepted.
    let subkeys = sealer.derived(64, "seal", from: key, place)
    let tag = blake2b(32, key: Array(subkeys[32...]), Array(sealed[..<24] + sealed[56...]))

    #expect(Array(sealed[Sealer.tag]) == tag)
  }

  @Test func `a refusal leaves nothing of the message`() throws {
    var out = repeated(0x55, 5)
    var changed = sealed
    changed[76] ^= 1

    let isOpen = changed.withUnsafeBytes { changed in
      out.withUnsafeMutableBytes { sealer.open(changed, with: key, into: $0, context: place) }
    }

    #expect(!isOpen)
    #expect(out == repeated(0x55, 5))
  }
}

/// Places that are not ("value", "db").
struct Place: Row {
  let id: String
  let context: Context

  static let others = [
    Place(id: "none") { _ in },
    Place(id: "fewer items") { $0.add("value") },
    Place(id: "more items") {
      $0.add("value")
      $0.add("db")
      $0.add("")
    },
    Place(id: "an empty item in front") {
      $0.add("")
      $0.add("value")
      $0.add("db")
    },
    Place(id: "another first item") {
      $0.add("previous")
      $0.add("db")
    },
    Place(id: "another last item") {
      $0.add("value")
      $0.add("dc")
    },
    Place(id: "a terminator behind an item") {
      $0.add("value")
      $0.add("db\0")
    },
    Place(id: "upper case") {
      $0.add("value")
      $0.add("DB")
    },
    Place(id: "the other order") {
      $0.add("db")
      $0.add("value")
    },
    Place(id: "one item of both") { $0.add("valuedb") },
  ]

  struct Pair: Row {
    let id: String
    let first: Context
    let second: Context
  }

  static let pairs = [
    Pair(
      id: "ab, c and a, bc",
      first: {
        $0.add("ab")
        $0.add("c")
      },
      second: {
        $0.add("a")
        $0.add("bc")
      }),
    Pair(
      id: "empty, a and a, empty",
      first: {
        $0.add("")
        $0.add("a")
      },
      second: {
        $0.add("a")
        $0.add("")
      }),
    Pair(
      id: "an item that looks like two",
      first: { $0.add([0x61, 1, 0, 0, 0, 0, 0, 0, 0, 0x62]) },
      second: {
        $0.add("a")
        $0.add("b")
      }),
    Pair(id: "none and one empty", first: { _ in }, second: { $0.add("") }),
    Pair(id: "u32 1 and u64 1", first: { $0.add(1 as UInt32) }, second: { $0.add(1 as UInt64) }),
    Pair(
      id: "u8 1, u8 2 and the two bytes 1, 2",
      first: {
        $0.add(1 as UInt8)
        $0.add(2 as UInt8)
      },
      second: { $0.add([1, 2] as [UInt8]) }),
    Pair(
      id: "u32 1 and u32 0x01000000", first: { $0.add(1 as UInt32) },
      second: { $0.add(0x0100_0000 as UInt32) }),
  ]
}
