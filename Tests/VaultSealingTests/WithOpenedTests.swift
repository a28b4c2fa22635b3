import Testing
import VaultSealing

struct WithOpenedTests {
  private let sealer: Sealer
  private let key: SealingKey

  init() throws {
    sealer = try Sealer()
    key = try SealingKey(from: .system)
  }

  static let counts = [
    0, 1, 32, Sealer.scratchCount - 1, Sealer.scratchCount, Sealer.scratchCount + 1, 4095, 4096, 4097,
    100_000,
  ]

  @Test(arguments: counts) func `a value is lent as it was sealed`(_ count: Int) throws {
    let value = RandomSource.system.bytes(count)
    let sealed = sealer.sealed(value, with: key) { $0.add("value") }

    // Outside #expect, which would look for the difference of long arrays for hours.
    let isSame = try sealer.lent(sealed, with: key) { $0.add("value") } == value
    #expect(isSame)
  }

  @Test(arguments: counts) func `nothing is lent of what does not open`(_ count: Int) throws {
    let sealed = sealer.sealed(run(count), with: key) { $0.add("value") }
    var calls = 0

    let isOpen = try sealed.withUnsafeBytes { sealed in
      try sealer.withOpened(sealed, with: key, context: { $0.add("previous") }) { _ in calls += 1 }
    }

    #expect(!isOpen)
    #expect(calls == 0)
  }

  @Test(arguments: [0, 1, 71]) func `nothing is lent of less than 72 bytes`(_ count: Int) throws {
    #expect(try sealer.lent(repeated(0, count), with: key) == nil)
  }

  @Test(arguments: counts) func `nothing is lent of a value that its check refuses`(_ count: Int) throws {
    let value = run(count)
    let sealed = sealer.sealed(value, with: key)
    var (checked, calls): ([UInt8]?, Int) = (nil, 0)

    sealer.bind()
    let refuse = { (value: RawSpan) in
      checked = value.withUnsafeBytes { [UInt8]($0) }
      return false
    }
    let isValid = try sealer.withOpened(sealed.span.bytes, with: key, if: refuse) { _ in calls += 1 }

    #expect(isValid == false)
    #expect(calls == 0)
    let isSame = checked == value
    #expect(isSame)
  }

  @Test(arguments: [1, 32, Sealer.scratchCount]) func `a short value is wiped after the loan`(_ count: Int)
    throws
  {
    let sealed = sealer.sealed(repeated(0x5a, count), with: key)

    // The sealer's page outlives the loan, so it can be read; a longer value's page is unmapped by then.
    var place: UnsafeRawBufferPointer?
    _ = try sealed.withUnsafeBytes { sealed in
      try sealer.withOpened(sealed, with: key, context: { _ in }) { place = $0 }
    }

    let left = try #require(place)
    #expect(left.count == count)
    #expect([UInt8](left) == repeated(0, count))
  }

  @Test func `a lent value may be sealed anew by the same sealer`() throws {
    // Rotation does this.
    let value = run(Sealer.scratchCount)
    let other = try SealingKey(from: .system)
    let sealed = sealer.sealed(value, with: key)
    var again = repeated(0, sealed.count)

    _ = try sealed.withUnsafeBytes { sealed in
      try sealer.withOpened(sealed, with: key, context: { _ in }) { value in
        again.withUnsafeMutableBytes { sealer.seal(value, with: other, into: $0) { _ in } }
      }
    }

    #expect(sealer.opened(again, with: other) == value)
  }
}
