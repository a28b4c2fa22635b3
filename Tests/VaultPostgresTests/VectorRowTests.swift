#if PostgreSQL
  import Foundation
  import Testing
  import VaultCore
  import VaultSealing

  @testable import VaultPostgres

  /// The published vectors as rows of a database.
  @Suite(.needsServer) struct VectorRowTests {
    private static func vectors() throws -> [URL] {
      let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "VaultCoreTests/Vectors")
      let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
      return files.compactMap { $0 as? URL }.filter { $0.pathExtension == "spv" }
    }

    private static func code(_ storage: any VaultStorage) throws -> VaultError.Code? {
      let key = try SealingKey(from: .system)
      return refusal { _ = try Vault.open(in: storage, credential: .key(key)) }
    }

    @Test func `vectors are the same bytes in the database and after it, and are refused as in a file`() throws {
      let vectors = try Self.vectors()
      #expect(vectors.count > 20)
      let database = try TestServer.shared()
      let administrator = try Administrator(database)
      for file in vectors {
        let bytes = Array(try Data(contentsOf: file))
        let storage = try TestServer.storage()
        try storage.create(bytes).storage.release()
        #expect(try storage.reopened().load(limit: .max).bytes.bytes == bytes, "\(file.lastPathComponent)")
        let rows = try administrator.run(
          "select encode(string_agg(bytes, '' order by start), 'hex') from secretprefs.piece where vault = "
            + "'\(storage.vault)'")
        #expect(rows[0][0] == bytes.map { String(format: "%02x", $0) }.joined(), "\(file.lastPathComponent)")
        let memory = MemoryStorage()
        try memory.create(bytes).storage.release()
        #expect(try Self.code(storage) == Self.code(memory), "\(file.lastPathComponent)")
      }
    }

    @Test func `bytes are cut into pieces of a mebibyte`() throws {
      let storage = try TestServer.storage()
      let bytes = (0..<(5 << 19)).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) | 1 }
      let (locked, version) = try storage.create(bytes)
      let entry = Array(bytes.prefix(3 << 19))
      try locked.append(
        entry, at: StoragePosition(version: version, offset: bytes.count, lastBytes: Array(bytes.suffix(32))))
      locked.release()
      let lengths = try Administrator(TestServer.shared()).run(
        "select octet_length(bytes) from secretprefs.piece where vault = '\(storage.vault)' order by start")
      #expect(lengths.map { $0[0] } == ["1048576", "1048576", "524288", "1048576", "524288"])
      #expect(try storage.reopened().load(limit: .max).bytes.bytes == bytes + entry)
      #expect(refusal { _ = try storage.reopened().load(limit: bytes.count) } == .limitExceeded)
    }
  }
#endif
