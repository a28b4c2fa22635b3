#if PostgreSQL
  import Testing
  import VaultCore

  @testable import VaultPostgres

  /// What a storage keeps in memory. Without a server.
  struct KnownBytesTests {
    private static func bytes(_ count: Int, _ seed: UInt8 = 1) -> [UInt8] {
      (0..<count).map { UInt8($0 % 251) &+ seed }
    }

    private static func position(_ version: PostgresVersion, _ bytes: [UInt8]) -> StoragePosition {
      StoragePosition(version: version, offset: bytes.count, lastBytes: Array(bytes.suffix(32)))
    }

    /// What is known after a load, with the version of that load.
    private static func loaded(_ bytes: [UInt8]) -> (known: KnownBytes, version: PostgresVersion) {
      var known = KnownBytes()
      let row = VaultRow(version: 7, bytes)
      let version = known.version(of: row)
      _ = known.take(.other(row, bytes: bytes), asked: .now)
      return (known, version)
    }

    private static func added(_ answer: KnownBytes.Answer) -> [UInt8]? {
      switch answer {
      case .changes(.added(let bytes)): bytes.bytes
      case .changes(.none): []
      default: nil
      }
    }

    private static func isReplaced(_ answer: KnownBytes.Answer) -> Bool {
      if case .changes(.replaced) = answer { true } else { false }
    }

    /// The new version that comes with the answer.
    private static func replacement(_ answer: KnownBytes.Answer) -> [UInt8]? {
      if case .changes(.replaced(let stored)) = answer { stored?.bytes.bytes } else { nil }
    }

    @Test func `what was appended is kept until each load has read it`() {
      let start = Self.bytes(900)
      var (known, first) = Self.loaded(start)
      let row = VaultRow(version: 7, start + [1, 2])
      let second = known.version(of: VaultRow(version: 7, start))
      let isChanged = known.take(.grown(row, bytes: [1, 2]), asked: .now)
      #expect(isChanged)
      #expect(Self.added(known.changes(since: Self.position(first, start), limit: .max)) == [1, 2])
      #expect(Self.added(known.changes(since: Self.position(first, start + [1, 2]), limit: .max)) == [])
      known.trim()
      #expect(Self.added(known.changes(since: Self.position(second, start), limit: .max)) == [1, 2])
      #expect(Self.added(known.changes(since: Self.position(second, start + [1, 2]), limit: .max)) == [])
      known.trim()
      // No load needs it any more.
      #expect(Self.added(known.changes(since: Self.position(first, start), limit: .max)) == nil)
    }

    private static let first = ServerHistory(system: 1, timeline: "00000001")
    private static let second = ServerHistory(system: 1, timeline: "00000002")
    private static let restored = ServerHistory(system: 2, timeline: "00000001")

    /// Whether a load of `bytes`, found on the first history, learns that what it has read may be lost.
    private static func isLost(_ bytes: [UInt8], _ found: FoundBytes, on server: ServerHistory?) -> Bool {
      var known = KnownBytes()
      known.limit = 1 << 20
      let row = VaultRow(version: 7, bytes)
      let version = known.version(of: row)
      known.compare(.other(row, bytes: bytes), on: first)
      _ = known.take(.other(row, bytes: bytes), asked: .now)
      known.compare(found, on: server)
      return version.mayBeLost
    }

    @Test func `what continues the known bytes loses nothing, on any history`() {
      let bytes = Self.bytes(900)
      let grown = bytes + Self.bytes(100)
      for server in [Self.first, Self.second, Self.restored, nil] {
        #expect(!Self.isLost(bytes, .unchanged, on: server))
        #expect(!Self.isLost(bytes, .absent, on: server))
        let row = VaultRow(version: 7, grown)
        #expect(!Self.isLost(bytes, .grown(row, bytes: Self.bytes(100)), on: server))
        #expect(!Self.isLost(bytes, .other(row, bytes: grown), on: server))
        // Too long to be compared.
        let long = VaultRow(version: 7, length: 1 << 21, tail: row.tail)
        #expect(!Self.isLost(bytes, .other(long, bytes: nil), on: server))
      }
    }

    @Test func `other bytes in the same version, and an earlier version, are a loss on any history`() {
      let bytes = Self.bytes(900)
      let other = Self.bytes(880) + Self.bytes(200, 9)
      for server in [Self.first, Self.second, Self.restored, nil] {
        #expect(Self.isLost(bytes, .other(VaultRow(version: 7, other), bytes: other), on: server))
        #expect(Self.isLost(bytes, .other(VaultRow(version: 7, other), bytes: nil), on: server))
        #expect(Self.isLost(bytes, .other(VaultRow(version: 7, Self.bytes(880)), bytes: nil), on: server))
        #expect(Self.isLost(bytes, .other(VaultRow(version: 6, bytes), bytes: bytes), on: server))
      }
    }

    @Test func `a later version is a loss if it was made on another history`() {
      let bytes = Self.bytes(900)
      let later = FoundBytes.other(VaultRow(version: 8, Self.bytes(700)), bytes: nil)
      #expect(!Self.isLost(bytes, later, on: Self.first))
      #expect(!Self.isLost(bytes, later, on: nil))
      #expect(Self.isLost(bytes, later, on: Self.second))
      #expect(Self.isLost(bytes, later, on: Self.restored))
    }

    @Test func `a server that does not say its history leaves the known one`() {
      var (known, version) = Self.loaded(Self.bytes(900))
      known.compare(.unchanged, on: Self.first)
      known.compare(.unchanged, on: nil)
      known.compare(.other(VaultRow(version: 8, Self.bytes(700)), bytes: nil), on: Self.second)
      #expect(version.mayBeLost)
    }

    @Test func `a new version is laid ready for loads of an older one, and dropped when they are gone`() {
      var (known, old) = Self.loaded(Self.bytes(900))
      let new = Self.bytes(700, 2)
      _ = known.take(.other(VaultRow(version: 8, new), bytes: new), asked: .now)
      #expect(Self.replacement(known.changes(since: Self.position(old, Self.bytes(900)), limit: .max)) == new)
      known.trim()
      #expect(Self.replacement(known.changes(since: Self.position(old, Self.bytes(900)), limit: .max)) == new)
      let tooLong = known.changes(since: Self.position(old, Self.bytes(900)), limit: 699)
      #expect(Self.isReplaced(tooLong) && Self.replacement(tooLong) == nil)
      old = PostgresVersion(8, reached: 700)
      known.trim()
      guard case .unknown = known.changes(since: .start(of: old), limit: .max) else {
        Issue.record("the whole is still in memory")
        return
      }
    }

    @Test func `a replica takes nothing back of what a primary has said, and confirms nothing after it`() {
      var (known, version) = Self.loaded(Self.bytes(900))
      let confirmed = known.confirmed
      let earlier: [FoundBytes] = [
        .absent, .other(VaultRow(version: 7, Self.bytes(880)), bytes: nil),
        .other(VaultRow(version: 6, Self.bytes(1_000)), bytes: nil),
      ]
      for found in earlier { #expect(known.isBehind(found)) }
      let grown = FoundBytes.grown(VaultRow(version: 7, Self.bytes(900) + [1]), bytes: [1])
      let later: [FoundBytes] = [.unchanged, grown, .other(VaultRow(version: 8, Self.bytes(700)), bytes: nil)]
      for found in later { #expect(!known.isBehind(found)) }
      let isChanged = known.take(grown, onReplica: true, asked: .now)
      #expect(isChanged)
      #expect(known.confirmed == confirmed)
      _ = known.take(.unchanged, asked: .now)
      #expect(known.confirmed != confirmed)
      withExtendedLifetime(version) {}
    }

    @Test func `for a program that has met replicas only, one is the database`() {
      var known = KnownBytes()
      let row = VaultRow(version: 7, Self.bytes(900))
      _ = known.take(.other(row, bytes: Self.bytes(900)), onReplica: true, asked: .now)
      let confirmed = known.confirmed
      #expect(confirmed != nil)
      #expect(!known.isBehind(.absent))
      #expect(!known.isBehind(.other(VaultRow(version: 7, Self.bytes(880)), bytes: nil)))
      _ = known.take(.unchanged, onReplica: true, asked: .now)
      #expect(known.confirmed != confirmed)
    }

    @Test func `other bytes before a position are another version`() {
      let start = Self.bytes(900)
      var (known, version) = Self.loaded(start)
      var changed = Array(start.suffix(32))
      changed[0] ^= 1
      let position = StoragePosition(version: version, offset: 900, lastBytes: changed)
      #expect(Self.isReplaced(known.changes(since: position, limit: .max)))
      let beyond = StoragePosition(version: version, offset: 901, lastBytes: Array(start.suffix(32)))
      #expect(Self.isReplaced(known.changes(since: beyond, limit: .max)))
    }

    @Test func `a vault that is gone is removed, and one that was not asked for is unknown`() {
      var (known, version) = Self.loaded(Self.bytes(900))
      let position = Self.position(version, Self.bytes(900))
      let isChanged = known.take(.absent, asked: .now)
      #expect(isChanged)
      guard case .changes(.removed) = known.changes(since: position, limit: .max) else {
        Issue.record("the vault is there")
        return
      }
      known = KnownBytes()
      guard case .unknown = known.changes(since: position, limit: .max) else {
        Issue.record("something is known")
        return
      }
    }

    @Test func `pauses grow and have an end`() {
      var pause = Pause()
      let lengths = (0..<40).map { _ in pause.take() }
      #expect(lengths.allSatisfy { $0 > .zero && $0 <= .seconds(30) })
      #expect(lengths[0] <= .milliseconds(50) && lengths[39] >= .seconds(15))
      #expect(Set(lengths.suffix(20)).count > 1)
    }
  }
#endif
