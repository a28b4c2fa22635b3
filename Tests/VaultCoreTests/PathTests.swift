import Foundation
import Glibc
import Testing
import VaultCore
import VaultSealing

/// What may be at a vault's path, its owner, and what its links lead to.
struct PathTests {
  private static func options(_ policy: PathPolicy) -> Vault.Options {
    var options = Vault.Options.sample()
    options.pathPolicy = policy
    return options
  }

  // MARK: Other things than a vault

  @Test(arguments: ["SQLite database", "executable", "directory", "FIFO", "socket", "empty file", "one byte"])
  func `row 6: what is no vault is not a vault, and nothing hangs`(thing: String) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      switch thing {
      case "SQLite database":
        try FileBytes.write(Array("SQLite format 3\u{0}".utf8) + repeated(4096), to: path)
      case "executable": try FileBytes.write([0x7F, 0x45, 0x4C, 0x46] + repeated(4096), to: path)
      case "directory": try #require(mkdir(path, 0o700) == 0)
      case "FIFO": try #require(mkfifo(path, 0o600) == 0)
      case "socket": try Self.makeSocket(path)
      case "empty file": try FileBytes.write([], to: path)
      default: try FileBytes.write([0x89], to: path)
      }

      #expect(refusal { try Vault.opened(at: path) } == .notAVault)
      #expect(refusal { try VaultInfo(at: path) } == .notAVault)
    }
  }

  @Test(
    arguments: [
      [0x89, 0x53, 0x50, 0x56, 0x0A, 0x1A, 0x0A], [0x89, 0x53, 0x50, 0x56, 0x0D, 0x0D, 0x0A, 0x1A, 0x0D, 0x0A],
      [0x89, 0x53, 0x50, 0x56, 0x0D, 0x0A, 0x1A, 0x0D, 0x0A],
    ] as [[UInt8]])
  func `a vault whose line ends were converted is not a vault, and the message says why`(start: [UInt8]) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      try FileBytes.write(start + repeated(4096), to: path)
      let error = #expect(throws: VaultError.self) { _ = try VaultInfo(at: path) }
      #expect(error?.code == .notAVault)
      #expect(error?.message.contains("its line ends were converted") == true)
    }
  }

  @Test(.enabled(if: isRoot, "only root makes device files"))
  func `row 6: a device is not a vault`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/null"
      // A copy of /dev/null; some containers forbid even root to make one.
      guard mknod(path, S_IFCHR | 0o600, 1 << 8 | 3) == 0 else { return }

      #expect(refusal { try Vault.opened(at: path) } == .notAVault)
    }
  }

  @Test func `a missing vault or directory is not found`() throws {
    try TemporaryDirectory.with { directory throws in
      #expect(refusal { try Vault.opened(at: directory + "/vault.spv") } == .notFound)
      #expect(refusal { try Vault.opened(at: directory + "/missing/vault.spv") } == .notFound)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }
  }

  @Test func `row 50: a path with a NUL is refused, and the file named before the NUL stays`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Vault.sample(at: path)
      let before = try FileBytes.read(path)
      let (cut, key) = (path + "\0x", Vault.Credential.key(try .sample()))
      var options = Vault.Options.sample()
      options.markPath = directory + "/mark\0x"
      let group = try vault.group()
      let attempts: [() throws -> Void] = [
        { _ = try Vault.opened(at: cut) }, { _ = try Vault.opened(at: path, options: options) },
        { _ = try VaultInfo(at: cut) }, { _ = try RollbackMark(at: cut) },
        { _ = try Vault.sample(at: directory + "/new\0x") },
        { _ = try Vault.sample(at: directory + "/new", options: options) },
        { try vault.backUp(to: directory + "/new\0x") }, { try vault.createMark(at: directory + "/new\0x") },
        { try vault.acceptMark(at: cut) }, { try Vault.restore(cut, to: directory + "/new", credential: key) },
        { try Vault.restore(path, to: cut, credential: key, replacing: true) },
        { _ = try Vault.salvage(at: cut, credential: key, to: directory + "/new") },
        { _ = try Vault.salvage(at: path, credential: key, to: directory + "/new\0x") },
        {
          try vault.exportBundle(
            [], of: group, to: directory + "/new\0x", slot: NewSlot(.key(.sample(from: 9))))
        },
      ]
      for (number, attempt) in attempts.enumerated() {
        let error = #expect(throws: VaultError.self, "\(number)") { try attempt() }
        #expect(error?.errno == EINVAL, "\(number)")
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["vault.spv"])
      #expect(try FileBytes.read(path) == before)
    }
  }

  private static func makeSocket(_ path: String) throws {
    // A socket's path may have 107 bytes.
    let raw = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(raw) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(raw, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0)
  }

  private func repeated(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x2A, count: count) }

  // MARK: Links

  /// A vault with another name that is a symbolic link to it.
  private func withLink(_ body: (_ vault: String, _ link: String) throws -> Void) throws {
    try TemporaryDirectory.with { directory in
      try #require(mkdir(directory + "/real", 0o700) == 0)
      let path = directory + "/real/vault.spv"
      _ = try Vault.sample(at: path)
      try #require(symlink("real/vault.spv", directory + "/link.spv") == 0)
      try body(path, directory + "/link.spv")
    }
  }

  @Test func `row 49: a symbolic link is refused by the strict policy`() throws {
    try withLink { _, link throws in
      #expect(refusal { try Vault.opened(at: link) } == .insecurePermissions)
    }
  }

  @Test func `row 49: the relaxed policy updates the link's target and keeps the link`() throws {
    try withLink { path, link in
      let vault = try Vault.opened(at: link, options: Self.options(.relaxed))
      try vault.set("appended", forKey: "a")
      try vault.fold()

      #expect(try FileBytes.status(link).st_mode & S_IFMT == S_IFLNK)
      #expect(try Vault.opened(at: path).text("a") == "appended")
      #expect(try Vault.opened(at: path).bytes("long")?.count == 70_000)
    }
  }

  @Test(arguments: [(PathPolicy.strict, VaultError.Code.insecurePermissions), (.relaxed, .notFound)])
  func `row 50: a dangling symbolic link`(policy: PathPolicy, code: VaultError.Code) throws {
    try TemporaryDirectory.with { directory in
      try #require(symlink("nothing", directory + "/link.spv") == 0)

      #expect(
        refusal { try Vault.opened(at: directory + "/link.spv", options: Self.options(policy)) } == code)
    }
  }

  @Test func `row 50: a link put in the place of an open vault is refused by the strict policy`() throws {
    try withLink { path, _ in
      let vault = try Vault.opened(at: path)
      try #require(rename(path, path + ".moved") == 0)
      try #require(symlink("vault.spv.moved", path) == 0)

      #expect(refusal { try vault.text("password") } == .insecurePermissions)
      #expect(refusal { try vault.set("new", forKey: "password") } == .insecurePermissions)
    }
  }

  @Test func `row 51: with a second hard link reading is allowed and writing is not`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Vault.sample(at: path)
      try #require(link(path, directory + "/second.spv") == 0)
      let before = try FileBytes.read(path)

      #expect(try vault.text("password") == "s3cret")
      #expect(try Vault.opened(at: directory + "/second.spv").text("password") == "s3cret")
      #expect(refusal { try vault.set("new", forKey: "password") } == .hardLinked)
      #expect(refusal { try vault.fold() } == .hardLinked)
      #expect(try FileBytes.read(path) == before)
      try #require(unlink(directory + "/second.spv") == 0)
      try vault.set("new", forKey: "password")
      #expect(try vault.text("password") == "new")
    }
  }

  // MARK: Modes and owners

  struct Modes: CustomTestStringConvertible, Sendable {
    let file, directory: mode_t
    let policy: PathPolicy
    let code: VaultError.Code?
    var testDescription: String {
      "\(policy), file 0\(String(file, radix: 8)) in 0\(String(directory, radix: 8))"
    }

    static let all = [
      Modes(file: 0o600, directory: 0o700, policy: .strict, code: nil),
      Modes(file: 0o400, directory: 0o755, policy: .strict, code: nil),
      Modes(file: 0o666, directory: 0o700, policy: .strict, code: .insecurePermissions),
      Modes(file: 0o644, directory: 0o700, policy: .strict, code: .insecurePermissions),
      Modes(file: 0o640, directory: 0o700, policy: .strict, code: .insecurePermissions),
      Modes(file: 0o601, directory: 0o700, policy: .strict, code: .insecurePermissions),
      Modes(file: 0o600, directory: 0o777, policy: .strict, code: .insecurePermissions),
      Modes(file: 0o600, directory: 0o1777, policy: .strict, code: .insecurePermissions),
      Modes(file: 0o600, directory: 0o770, policy: .strict, code: .insecurePermissions),
      Modes(file: 0o666, directory: 0o700, policy: .relaxed, code: .insecurePermissions),
      Modes(file: 0o602, directory: 0o700, policy: .relaxed, code: .insecurePermissions),
      Modes(file: 0o644, directory: 0o700, policy: .relaxed, code: nil),
      Modes(file: 0o640, directory: 0o700, policy: .relaxed, code: nil),
      Modes(file: 0o660, directory: 0o770, policy: .relaxed, code: nil),
      Modes(file: 0o600, directory: 0o777, policy: .relaxed, code: .insecurePermissions),
      Modes(file: 0o600, directory: 0o1777, policy: .relaxed, code: nil),
      Modes(file: 0o660, directory: 0o2770, policy: .sharedWithGroup, code: nil),
      Modes(file: 0o660, directory: 0o2775, policy: .sharedWithGroup, code: nil),
      Modes(file: 0o600, directory: 0o700, policy: .sharedWithGroup, code: nil),
      Modes(file: 0o664, directory: 0o2770, policy: .sharedWithGroup, code: .insecurePermissions),
      Modes(file: 0o661, directory: 0o2770, policy: .sharedWithGroup, code: .insecurePermissions),
      Modes(file: 0o660, directory: 0o2772, policy: .sharedWithGroup, code: .insecurePermissions),
      Modes(file: 0o660, directory: 0o1777, policy: .sharedWithGroup, code: .insecurePermissions),
    ]
  }

  @Test(arguments: Modes.all)
  func `row 52: modes of file and directory are judged by the policy`(modes: Modes) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      _ = try Vault.sample(at: path)
      try setMode(modes.file, of: path)
      try setMode(modes.directory, of: directory)
      defer { chmod(directory, 0o700) }

      #expect(refusal { try Vault.opened(at: path, options: Self.options(modes.policy)) } == modes.code)
      #expect(refusal { try VaultInfo(at: path, options: Self.options(modes.policy)) } == modes.code)
    }
  }

  @Test func `row 52: a refusal names the path, the mode found and the widest accepted`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      _ = try Vault.sample(at: path)
      try setMode(0o640, of: path)
      let file = #expect(throws: VaultError.self) { try Vault.opened(at: path) }
      try setMode(0o600, of: path)
      try setMode(0o775, of: directory)
      let place = #expect(throws: VaultError.self) { try Vault.opened(at: path) }

      #expect(
        file?.message
          == "\(path): other users may access the file: its mode is 0640, and 0600 is the widest accepted")
      #expect(
        place?.message == "\(directory): group or others may write to the directory: its mode is 0775, and 0755 is the "
          + "widest accepted")
      try setMode(0o700, of: directory)
      let missing = #expect(throws: VaultError.self) { try Vault.opened(at: path + "x") }
      #expect(missing?.message == "\(path)x: there is no vault at this path")
    }
  }

  @Test(arguments: ["append", "fold"])
  func `row 53: a relaxed write keeps mode 0640`(write: String) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      _ = try Vault.sample(at: path)
      try setMode(0o640, of: path)
      let vault = try Vault.opened(at: path, options: Self.options(.relaxed))
      let inode = try FileBytes.status(path).st_ino

      if write == "fold" { try vault.fold() } else { try vault.set("new", forKey: "password") }

      #expect(try mode(of: path) == 0o640)
      #expect(try (FileBytes.status(path).st_ino == inode) == (write == "append"))
    }
  }

  @Test func `row 53: a relaxed fold takes the write bit of others away and keeps the rest of 0664`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      _ = try Vault.sample(at: path)
      try setMode(0o775, of: path)
      try Vault.opened(at: path, options: Self.options(.relaxed)).fold()

      #expect(try mode(of: path) == 0o664)
    }
  }

  @Test(.enabled(if: isRoot, "only root gives files away"))
  func `row 54: root's write to a user's vault keeps owner and mode`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      _ = try Vault.sample(at: path)
      try #require(chown(path, 65534, 65534) == 0)
      let vault = try Vault.opened(at: path)
      try vault.set("new", forKey: "password")
      try vault.fold()

      let status = try FileBytes.status(path)
      #expect(status.st_uid == 65534)
      #expect(status.st_gid == 65534)
      #expect(status.st_mode & 0o7777 == 0o600)
    }
  }

  @Test(.enabled(if: isRoot, "only root gives directories away"), arguments: [true, false])
  func `another user's directory is refused by the strict policy only`(isStrict: Bool) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      _ = try Vault.sample(at: path)
      try #require(chown(directory, 65534, 65534) == 0)

      #expect(
        refusal { try Vault.opened(at: path, options: Self.options(isStrict ? .strict : .relaxed)) }
          == (isStrict ? .insecurePermissions : nil))
    }
  }

  // MARK: Read-only places

  @Test func `row 43: a file without write permission is read, and written is readOnly`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try asUser { directory, path in
        _ = try Vault.sample(at: path)
        chmod(path, 0o400)
        let vault = try Vault.opened(at: path)
        let before = try FileManager.default.contentsOfDirectory(atPath: directory)
        return try vault.text("password") == "s3cret"
          && refusal { try vault.set("new", forKey: "password") } == .readOnly
          && FileManager.default.contentsOfDirectory(atPath: directory) == before
      }
    }
  }

  @Test func `row 43: in a directory without write permission appending works`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try asUser { directory, path in
        _ = try Vault.sample(at: path)
        chmod(directory, 0o500)
        let vault = try Vault.opened(at: path)
        try vault.set("new", forKey: "password")
        return try Vault.opened(at: path).text("password") == "new"
      }
    }
  }

  @Test func `row 43: a fold that is due only by length becomes an append where the directory is read-only`()
    async
  {
    await #expect(processExitsWith: .exitCode(42)) {
      try asUser { directory, path in
        _ = try Vault.sample(at: path)
        chmod(directory, 0o500)
        let vault = try Vault.opened(at: path)
        for _ in 0..<3 { try vault.fold() }
        let status = try Vault.opened(at: path).status()
        return status.entryCount == 3 && status.generation == 1
      }
    }
  }

  @Test func `row 43: a change too long for an entry is readOnly where the directory is read-only`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try asUser { directory, path in
        var options = Vault.Options.sample()
        options.limits.writtenValueBytes = 16 << 20
        let vault = try Vault.sample(at: path, options: options)
        chmod(directory, 0o500)
        let before = try FileBytes.read(path)
        let value = [UInt8](repeating: 0, count: 16 << 20)
        let code = refusal {
          try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
            for key in ["a", "b"] { try batch.set(value, forKey: key) }
          }
        }
        return try code == .readOnly && FileBytes.read(path) == before && vault.allKeys() == ["password"]
      }
    }
  }

  @Test func `a vault opened by a relative path is used where it is after the program changes its directory`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try asUser { directory, path in
        try #require(chdir(directory) == 0)
        let vault = try Vault.sample(at: "vault.spv")
        try #require(mkdir("elsewhere", 0o700) == 0 && chdir("elsewhere") == 0)
        try vault.set("new", forKey: "password")
        try vault.fold()
        return try vault.text("password") == "new" && Vault.opened(at: path).text("password") == "new"
          && access("vault.spv", F_OK) != 0
      }
    }
  }
}
