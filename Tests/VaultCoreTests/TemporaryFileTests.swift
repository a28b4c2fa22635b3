import DurableFiles
import Foundation
import Glibc
import Testing
import VaultSealing

@testable import VaultCore

/// What is at `<vault>.tmp` is a user's, and is left alone (`Docs/Format.md` section 9.3).
struct TemporaryFileTests {
  private func withVault(_ body: (_ vault: Vault, _ path: String, _ temporary: String) throws -> Void) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      try body(try Vault.sample(at: path), path, path + ".tmp")
    }
  }

  // MARK: Files of others

  private static let things = [
    "symbolic link", "hard link", "FIFO", "directory", "key", "one byte", "nothing", "zeros", "a vault",
    "a locked file",
  ]

  /// Puts something at a name, and returns what must be there afterwards.
  private static func put(_ thing: String, at temporary: String) throws -> [UInt8] {
    let other = temporary + ".other"
    try FileBytes.write([0x89], to: other)
    switch thing {
    case "symbolic link": try #require(symlink(other, temporary) == 0)
    case "hard link": try #require(link(other, temporary) == 0)
    case "FIFO": try #require(mkfifo(temporary, 0o600) == 0)
    case "directory": try #require(mkdir(temporary, 0o700) == 0)
    case "key": try FileBytes.write(Array("spv-key-1:00".utf8), to: temporary)
    case "nothing": try FileBytes.write([], to: temporary)
    case "zeros": try FileBytes.write([UInt8](repeating: 0, count: 5000), to: temporary)
    case "a vault": try FileBytes.write(Snapshot.magic + [1, 2, 3], to: temporary)
    default: try FileBytes.write([9], to: temporary)
    }
    return try FileBytes.read(isLink(thing) ? other : temporary)
  }

  private static func isLink(_ thing: String) -> Bool {
    ["symbolic link", "hard link", "FIFO", "directory"].contains(thing)
  }

  private static func isThere(_ thing: String, _ bytes: [UInt8], at temporary: String) throws -> Bool {
    var status = stat()
    return try lstat(temporary, &status) == 0
      && FileBytes.read(isLink(thing) ? temporary + ".other" : temporary) == bytes
  }

  /// Runs `body` with something at a name, which must be there afterwards.
  private static func with(_ thing: String, at temporary: String, _ body: () throws -> Void) throws {
    let bytes = try put(thing, at: temporary)
    let lock = thing == "a locked file" ? try ForeignLock(on: temporary) : nil
    defer { lock?.release() }
    try body()
    #expect(try isThere(thing, bytes, at: temporary))
  }

  @Test(arguments: things)
  func `row 48: a full write leaves what is at the name of an earlier version's temporary file`(thing: String) throws {
    try withVault { vault, path, temporary in
      try Self.with(thing, at: temporary) {
        try vault.compact()
        try vault.set("v", forKey: "key")
        try vault.compact()
      }
      #expect(try VaultInfo(at: path).generation == 3)
      #expect(try Vault.opened(at: path).text("key") == "v")
    }
  }

  @Test(arguments: things)
  func `row 48: so does creation`(thing: String) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      try Self.with(thing, at: path + ".tmp") { _ = try Vault.sample(at: path) }
      #expect(try Vault.opened(at: path).text("password") == "s3cret")
    }
  }

  @Test(arguments: things)
  func `row 48: so do a backup and a mark`(thing: String) throws {
    try SharedVault.withMark { shared in
      try Self.with(thing, at: shared.mark + ".tmp") { try shared.owner.acceptMark(at: shared.mark) }
      try Self.with(thing, at: shared.path + ".bk.tmp") { try shared.owner.backUp(to: shared.path + ".bk") }
    }
  }

  @Test func `a full write that is killed leaves the old file and no other`() async throws {
    try await TemporaryDirectory.with { directory in try await Self.killFullWrite(in: directory) }
  }

  private static func killFullWrite(in directory: String) async throws {
    let path = directory + "/vault.spv"
    try Vault.sample(at: path).set(String(repeating: "x", count: 100_000), forKey: "long")
    let before = try FileBytes.read(path)

    await #expect(processExitsWith: .signal(SIGXFSZ)) { [path = path as String] in
      // The kernel kills it in the middle of the file, unless the thread or the parent has been spared.
      signal(SIGXFSZ, SIG_DFL)
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGXFSZ)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      var limit = rlimit(rlim_cur: 50_000, rlim_max: 50_000)
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      try Vault.opened(at: path).compact()
    }

    #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["vault.spv"])
    #expect(try FileBytes.read(path) == before)
  }

  // MARK: Names

  @Test(arguments: ["create", "backUp", "restore", "salvage", "exportBundle", "createMark", "create with mark"])
  func `nothing is made under the name of a temporary file`(what: String) throws {
    try withVault { vault, path, temporary in
      let before = try FileBytes.read(path)
      let code = refusal {
        switch what {
        case "create": _ = try Vault.sample(at: path + "2.tmp")
        case "backUp": try vault.backUp(to: temporary)
        case "restore": try Vault.restore(path, to: temporary, credential: .key(.sample()))
        case "salvage": _ = try Vault.salvage(at: path, credential: .key(.sample()), to: temporary)
        case "exportBundle":
          let group = try vault.group()
          try vault.exportBundle(
            vault.records(in: group), of: group, to: temporary, slot: NewSlot(.key(.sample(from: 9))))
        case "createMark": try vault.createMark(at: temporary)
        default:
          var options = Vault.Options.sample()
          options.markPath = path + ".mark.tmp"
          _ = try Vault.sample(at: path + "2", options: options)
        }
      }
      #expect(code == .io)
      #expect(try FileManager.default.contentsOfDirectory(atPath: String(path.dropLast(10))) == ["vault.spv"])
      #expect(try FileBytes.read(path) == before)
    }
  }

  @Test(arguments: [".audit-0123456789abcdef0123456789abcdef", ".audit-1", ".torn", ".torn.7"])
  func `nothing is made under a name that belongs to another vault or mark`(suffix: String) throws {
    try SharedVault.withMark { shared in
      let group = try shared.owner.group()
      for path in [shared.path + suffix, shared.mark + suffix] {
        #expect(refusal { _ = try Vault.sample(at: path) } == .io)
        #expect(refusal { try shared.owner.backUp(to: path) } == .io)
        #expect(refusal { try shared.owner.createMark(at: path) } == .io)
        #expect(refusal { try Vault.restore(shared.path, to: path, credential: .key(.sample())) } == .io)
        #expect(refusal { _ = try Vault.salvage(at: shared.path, credential: .key(.sample()), to: path) } == .io)
        #expect(
          refusal { try shared.owner.exportBundle([], of: group, to: path, slot: NewSlot(.key(.sample(from: 9)))) }
            == .io)
        #expect(access(path, F_OK) != 0)
      }
    }
  }

  @Test func `a vault is restored and salvaged from the name of a temporary file`() throws {
    try withVault { _, path, temporary in
      let before = try FileBytes.read(path)
      try #require(rename(path, temporary) == 0)

      try Vault.restore(temporary, to: path, credential: .key(.sample()))
      _ = try Vault.salvage(at: temporary, credential: .key(.sample()), to: path + ".saved")

      #expect(try FileBytes.read(temporary) == before)
      #expect(try Vault.opened(at: path).text("password") == "s3cret")
    }
  }

  @Test(arguments: ["/", "/.", "/.."])
  func `a path that names a directory is refused, and the directory not made`(end: String) throws {
    try TemporaryDirectory.with { directory throws in
      let path = directory + "/new" + end

      #expect(refusal { try Vault.sample(at: path) } == .io)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }
  }

  // MARK: Kinds

  @Test func `every file of the package is known by its first bytes`() throws {
    try SharedVault.withMark { shared in
      let directory = PathName.directory(of: shared.path)
      _ = try shared.owner.setAuditing(.failClosed)
      try shared.owner.set("v", forKey: "user", in: "one")
      let log = try #require(
        FileManager.default.contentsOfDirectory(atPath: directory).first { $0.contains(".audit-") })
      #expect(OwnFile.at(shared.path) == .vault)
      #expect(OwnFile.at(shared.mark) == .mark)
      #expect(OwnFile.at("\(directory)/\(log)") == .auditLog)
      #expect(OwnFile.isName(log, besides: PathName.last(of: shared.path)))
      try KeyText.write(.sample()).withSpan { text in
        try FileBytes.write(text.withUnsafeBytes { Array($0) }, to: directory + "/key")
      }
      #expect(OwnFile.at(directory + "/key") == .key)
    }
  }
}
