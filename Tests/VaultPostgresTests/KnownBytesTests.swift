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

    @Test func `a new version is laid ready for loads of an older one, and dropped when they are gone`() {
      var (known, old) = Self.loaded(Self.bytes(900))
      let new = Self.bytes(700, 2)
      _ = known.take(.other(VaultRow(version: 8, new), bytes: new), asked: .now)
      #expect(Self.isReplaced(known.changes(since: Self.position(old, Self.bytes(900)), limit: .max)))
      let ready = known.ready(limit: .max)
      #expect(ready?.bytes.bytes == new)
      withExtendedLifetime(old) { known.trim() }
      let again = known.ready(limit: .max)
      #expect(again?.bytes.bytes == new)
      old = PostgresVersion(8, reached: 700)
      known.trim()
      let gone = known.ready(limit: .max)
      #expect(gone?.bytes.bytes == nil)
    }

    @Test func `other bytes before a position are another version`() {
      let start = Self.bytes(900)
      let (known, version) = Self.loaded(start)
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
      guard case .unknown = KnownBytes().changes(since: position, limit: .max) else {
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
