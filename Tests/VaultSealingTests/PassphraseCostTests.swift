import Testing
import VaultSealing

struct PassphraseCostTests {
  @Test(arguments: CostBound.table) func `a cost is accepted within the format's bounds alone`(
    _ row: CostBound
  ) {
    #expect(row.cost.isAcceptable == row.isAcceptable)
  }

  @Test(arguments: CostBound.table.filter { !$0.isAcceptable })
  func `a cost out of bounds is refused before it is spent`(_ row: CostBound) throws {
    // Spending 2^32 - 1 passes would take months.
    try #require(!row.cost.isAcceptable)
    let code = refusal { try PassphraseCost.stretch(run(1).span.bytes, salt: run(16), cost: row.cost) }

    #expect(code == .kdfRefused)
  }

  @Test func `all slots of a file together may cost twice what one may`() {
    #expect(PassphraseCost.acceptedTotalWork == 8 << 20)
    #expect(PassphraseCost.acceptedTotalWork == 2 * PassphraseCost.acceptedWork)
  }

  @Test func `the least to write with is 3 passes over 64 MiB`() {
    #expect(PassphraseCost.minimum == PassphraseCost(passes: 3, kibibytes: 65536))
    #expect(PassphraseCost.minimum.isAcceptable)
  }

  @Test func `the throwaway cost is the least that a reader accepts`() {
    #expect(PassphraseCost.throwaway == PassphraseCost(passes: 1, kibibytes: 8192))
    #expect(PassphraseCost.throwaway.isAcceptable)
  }

  @Test(arguments: Calibration.table) func `calibration keeps to its bounds`(_ row: Calibration) throws {
    let cost = try PassphraseCost.calibrated(within: row.limit, availableKibibytes: row.available)

    #expect(cost == PassphraseCost(passes: 3, kibibytes: row.expected))
    #expect(cost.isAcceptable)
  }

  @Test func `calibration has an asynchronous form`() async throws {
    #expect(try await PassphraseCost.calibrated(within: .zero) == .minimum)
  }
}

/// Costs around every bound of `Docs/Format.md` 3.10. 4 TiB, 2^32 KiB, cannot be expressed.
struct CostBound: Row {
  let id: String
  let cost: PassphraseCost
  let isAcceptable: Bool

  init(_ id: String, passes: UInt32, kibibytes: UInt32, _ isAcceptable: Bool) {
    self.id = id
    self.cost = PassphraseCost(passes: passes, kibibytes: kibibytes)
    self.isAcceptable = isAcceptable
  }

  static let table = [
    CostBound("8 MiB", passes: 1, kibibytes: 8 << 10, true),
    CostBound("8 MiB less 1 KiB", passes: 1, kibibytes: (8 << 10) - 1, false),
    CostBound("4 MiB", passes: 1, kibibytes: 4 << 10, false),
    CostBound("no memory", passes: 1, kibibytes: 0, false),
    CostBound("1 GiB", passes: 1, kibibytes: 1 << 20, true),
    CostBound("1 GiB and 1 KiB", passes: 1, kibibytes: (1 << 20) + 1, false),
    CostBound("2 GiB", passes: 1, kibibytes: 2 << 20, false),
    CostBound("4 TiB less 1 KiB", passes: 1, kibibytes: .max, false),
    CostBound("no passes", passes: 0, kibibytes: 64 << 10, false),
    CostBound("no passes over no memory", passes: 0, kibibytes: 0, false),
    CostBound("2^32 - 1 passes", passes: .max, kibibytes: 8 << 10, false),
    CostBound("as much as can be expressed", passes: .max, kibibytes: .max, false),
    CostBound("4 passes over 1 GiB", passes: 4, kibibytes: 1 << 20, true),
    CostBound("5 passes over 1 GiB", passes: 5, kibibytes: 1 << 20, false),
    CostBound("64 passes over 64 MiB", passes: 64, kibibytes: 64 << 10, true),
    CostBound("64 passes over 64 MiB and 1 KiB", passes: 64, kibibytes: (64 << 10) + 1, false),
    CostBound("65 passes over 64 MiB", passes: 65, kibibytes: 64 << 10, false),
    CostBound("512 passes over 8 MiB", passes: 512, kibibytes: 8 << 10, true),
    CostBound("513 passes over 8 MiB", passes: 513, kibibytes: 8 << 10, false),
    // 2^19 passes over 8 MiB are 2^32 as a 32-bit product: zero.
    CostBound("a product beyond 32 bits", passes: 1 << 19, kibibytes: 8 << 10, false),
  ]
}

/// What time and memory allow, and the memory that is chosen.
struct Calibration: Row {
  let id: String
  let limit: Duration
  let available: UInt64
  let expected: UInt32

  static let table = [
    Calibration(id: "no time", limit: .seconds(0), available: .max, expected: 64 << 10),
    Calibration(id: "negative time", limit: .seconds(-1), available: .max, expected: 64 << 10),
    Calibration(id: "no memory", limit: .seconds(10_000), available: 0, expected: 64 << 10),
    Calibration(
      id: "a quarter just short of 128 MiB", limit: .seconds(10_000), available: (512 << 10) - 1, expected: 64 << 10),
    Calibration(id: "a quarter of 128 MiB", limit: .seconds(10_000), available: 512 << 10, expected: 128 << 10),
    Calibration(id: "all time and memory", limit: .seconds(10_000), available: .max, expected: 256 << 10),
  ]
}
