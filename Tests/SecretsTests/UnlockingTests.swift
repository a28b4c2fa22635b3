import Foundation
import Secrets
import SecretsTesting
import Testing

/// Ways to unlock, `Docs/Format.md` section 6. What reads the environment runs in a process of its own.
struct UnlockingTests {
  /// A directory with a vault and its key file.
  final class Fixture {
    let vault: ThrowawayVault
    let directory: String
    var keyFile: String { directory + "/key.txt" }

    init() throws {
      vault = try ThrowawayVault(withPassphrase: true)
      try vault.preferences().set("v", forKey: "key")
      directory = NSTemporaryDirectory() + "unlocking-" + UUID().uuidString
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      try write(keyText(), to: "key.txt")
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func keyText() throws -> String {
      try KeyText.write(vault.key).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    @discardableResult
    func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
      let path = directory + "/" + name
      try Data(text.utf8).write(to: URL(filePath: path))
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      return path
    }

    func opens(_ unlocking: Unlocking) throws -> Bool {
      let vault = try Vault.open(at: vault.path, unlocking: unlocking)
      return try SecretPreferences(service: "com.example.test", in: vault).string(forKey: "key") == "v"
    }
  }

  @Test func `a key file opens the vault, through a symbolic link too`() throws {
    let fixture = try Fixture()
    try fixture.write(fixture.keyText() + "\n", to: "key-lf.txt")
    try FileManager.default.createSymbolicLink(
      atPath: fixture.directory + "/link", withDestinationPath: fixture.keyFile)

    for name in ["key.txt", "key-lf.txt", "link"] {
      #expect(try fixture.opens(.keyFile(fixture.directory + "/" + name)))
    }
  }

  @Test func `a locked vault is unlocked with the credential that is found then`() throws {
    let fixture = try Fixture()
    let vault = try Vault.open(at: fixture.vault.path, unlocking: .keyFile(fixture.keyFile))
    vault.lock()

    #expect(code { try vault.unlock(Unlocking { nil }) } == .noCredential)
    #expect(code { try vault.unlock(.key(try SealingKey(from: .system))) } == .credentialRejected)
    #expect(vault.isLocked)
    try vault.unlock(.keyFile(fixture.keyFile))

    #expect(!vault.isLocked)
  }

  @Test(arguments: [0o644, 0o604, 0o620, 0o602, 0o666])
  func `row 63: a key file that others can use is refused`(_ mode: Int) throws {
    let fixture = try Fixture()
    let path = try fixture.write(fixture.keyText(), to: "wide.txt", mode: mode)

    #expect(code { try fixture.opens(.keyFile(path)) } == .insecurePermissions)
  }

  @Test(arguments: [0o400, 0o440, 0o640]) func `group may read a key file`(_ mode: Int) throws {
    let fixture = try Fixture()
    let path = try fixture.write(fixture.keyText(), to: "group.txt", mode: mode)

    #expect(try fixture.opens(.keyFile(path)))
  }

  @Test(arguments: ["", "spv-key-1:", "\r\n", "two lines", "upper", "63 digits", "raw"])
  func `row 63: a key file with other content is refused without repeating it`(_ kind: String) throws {
    let fixture = try Fixture()
    let text = try fixture.keyText()
    let content =
      switch kind {
      case "\r\n": text + "\r\n"
      case "two lines": text + "\n" + text
      case "upper": text.uppercased()
      case "63 digits": String(text.dropLast())
      case "raw": String(repeating: "k", count: 32)
      default: kind
      }
    let path = try fixture.write(content, to: "other.txt")

    let error = #expect(throws: VaultError.self) { try fixture.opens(.keyFile(path)) }
    #expect(error?.code == .invalidKeyText)
    #expect(error?.message.contains(path) == true)
    #expect(error?.failureClass.origin == .operator)
  }

  @Test(arguments: ["/dev/zero", "/tmp"]) func `row 63: what is not a file is no key file`(_ path: String) throws {
    let fixture = try Fixture()
    #expect(code { try fixture.opens(.keyFile(path)) } == .insecurePermissions)
  }

  @Test func `row 64: a missing key file is an error, and nothing else is tried`() throws {
    let fixture = try Fixture()
    let ways: [Unlocking] = [.keyFile(fixture.directory + "/missing"), .keyFile(fixture.keyFile)]

    #expect(code { try fixture.opens(.first(of: ways)) } == .io)
  }

  @Test func `a path with a NUL names no key file`() throws {
    let fixture = try Fixture()
    let path = fixture.keyFile + "\0x"

    let byKeyFile = #expect(throws: VaultError.self) { try Unlocking.keyFile(path).credential() }
    let byDevice = #expect(throws: VaultError.self) { try DeviceKey.file(path) }
    #expect(byKeyFile?.code == .io && byKeyFile?.errno == EINVAL)
    #expect(byDevice?.code == .io && byDevice?.errno == EINVAL)
  }

  @Test func `a refusal names the key file and its mode`() throws {
    let fixture = try Fixture()
    let path = try fixture.write(fixture.keyText(), to: "wide.txt", mode: 0o644)

    let error = #expect(throws: VaultError.self) { try Unlocking.keyFile(path).credential() }
    #expect(error?.message.contains(path) == true)
    #expect(error?.message.contains("its mode is 0644, and 0640 is the widest accepted") == true)
  }

  @Test(arguments: ["\n", "\r\n", ""]) func `one line end behind a passphrase is dropped`(_ end: String) throws {
    let fixture = try Fixture()
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data((ThrowawayVault.passphrase + end).utf8))
    try pipe.fileHandleForWriting.close()

    #expect(try fixture.opens(.passphraseDescriptor(pipe.fileHandleForReading.fileDescriptor)))
  }

  @Test(arguments: ["", "\n", String(repeating: "p", count: 4097)])
  func `an empty or endless passphrase is refused`(_ text: String) throws {
    let fixture = try Fixture()
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    try pipe.fileHandleForWriting.close()
    let unlocking = Unlocking.passphraseDescriptor(pipe.fileHandleForReading.fileDescriptor)

    #expect(code { try fixture.opens(unlocking) } == .invalidPassphrase)
  }

  @Test func `a passphrase closure is called once`() throws {
    let fixture = try Fixture()
    let unlocking = Unlocking.passphrase { () throws(VaultError) in
      let text = Array(ThrowawayVault.passphrase.utf8)
      var bytes = try SecretBytes(count: text.count)
      bytes.withUnsafeMutableBytes { $0.copyBytes(from: text) }
      return bytes
    }

    #expect(try fixture.opens(unlocking))
  }

  @Test func `a way of one's own provides the credential, is skipped, or fails`() throws {
    let fixture = try Fixture()
    let key = fixture.vault.key
    let own = Unlocking { () throws(VaultError) in .key(key) }
    let absent = Unlocking { () throws(VaultError) in nil }
    let failing = Unlocking { () throws(VaultError) in throw VaultError(.io, "no answer") }

    #expect(try fixture.opens(own))
    #expect(try fixture.opens(.first(of: [absent, own])))
    #expect(code { try fixture.opens(absent) } == .noCredential)
    #expect(code { try fixture.opens(.first(of: [failing, own])) } == .io)
  }

  @Test func `a key file that may be absent is skipped only if it does not exist`() throws {
    let fixture = try Fixture()
    let missing = fixture.directory + "/missing"
    let wide = try fixture.write(fixture.keyText(), to: "wide.txt", mode: 0o644)
    let nonsense = try fixture.write("nonsense", to: "nonsense.txt")

    #expect(try fixture.opens(.keyFile(ifPresent: fixture.keyFile)))
    #expect(try Unlocking.keyFile(ifPresent: missing).credential() == nil)
    #expect(try Unlocking.keyFile(ifPresent: missing + "/deeper").credential() == nil)
    #expect(try fixture.opens(.first(of: [.keyFile(ifPresent: missing), .keyFile(fixture.keyFile)])))
    let dangling = fixture.keyFile + ".link"
    try #require(symlink(missing, dangling) == 0)
    for (path, expected) in [
      (wide, VaultError.Code.insecurePermissions), (nonsense, .invalidKeyText), ("", .io), (missing + "\0", .io),
      (dangling, .io),
      // A component that is a file: the path cannot be looked up.
      (fixture.keyFile + "/key", .io),
    ] {
      let ways: [Unlocking] = [.keyFile(ifPresent: path), .keyFile(fixture.keyFile)]
      #expect(code { try fixture.opens(.first(of: ways)) } == expected, "\(path)")
    }
  }

  @Test func `a descriptor is named by a variable`() async {
    await #expect(processExitsWith: .success) {
      let fixture = try Fixture()
      let unlocking = Unlocking.passphraseDescriptor(fromVariable: "SHOP_PASSPHRASE_FD")
      unsetenv("SHOP_PASSPHRASE_FD")
      let absent = try unlocking.credential()
      #expect(absent == nil)

      let pipe = Pipe()
      try pipe.fileHandleForWriting.write(contentsOf: Data((ThrowawayVault.passphrase + "\n").utf8))
      try pipe.fileHandleForWriting.close()
      setenv("SHOP_PASSPHRASE_FD", "\(pipe.fileHandleForReading.fileDescriptor)", 1)
      let opens = try fixture.opens(.first(of: [unlocking, .keyFile(fixture.keyFile)]))
      #expect(opens)

      for nonsense in ["", "three", "-1", "3 ", "99999999999", "1000000"] {
        setenv("SHOP_PASSPHRASE_FD", nonsense, 1)
        let error = code { try fixture.opens(.first(of: [unlocking, .keyFile(fixture.keyFile)])) }
        #expect(error == .io, "\(nonsense)")
      }
    }
  }

  @Test func `row 64: nothing configured is an error of its own`() throws {
    let fixture = try Fixture()
    #expect(code { try fixture.opens(.first(of: [])) } == .noCredential)
  }

  @Test func `the automatic way leaves no passphrase in the environment, whichever way it takes`() async {
    await #expect(processExitsWith: .success) {
      let fixture = try Fixture()
      unsetenv("CREDENTIALS_DIRECTORY")
      setenv("SECRETPREFS_KEY_FILE", fixture.keyFile, 1)
      setenv("SECRETPREFS_PASSPHRASE", "not used", 1)
      let place = getenv("SECRETPREFS_PASSPHRASE")!
      let byKey = try fixture.opens(.automatic)
      #expect(byKey)
      #expect(getenv("SECRETPREFS_PASSPHRASE") == nil)
      #expect(place.pointee == 0)

      setenv("SECRETPREFS_KEY_FILE", fixture.directory + "/missing", 1)
      setenv("SECRETPREFS_PASSPHRASE", "not used", 1)
      let missing = code { try fixture.opens(.automatic) }
      #expect(missing == .io)
      #expect(getenv("SECRETPREFS_PASSPHRASE") == nil)
    }
  }

  // LoadCredential= and LoadCredentialEncrypted= make the same files; the second decrypts them first.
  @Test func `a credential of systemd opens the vault`() async {
    await #expect(processExitsWith: .success) {
      let fixture = try Fixture()
      for name in ["SECRETPREFS_KEY_FILE", "SECRETPREFS_PASSPHRASE"] { unsetenv(name) }
      let texts = ["key": try fixture.keyText(), "passphrase": ThrowawayVault.passphrase + "\n"]
      // The service's user owns directory and file; an access list for the user shows as the group's mode.
      for (index, (kind, mode)) in [("key", 0o400), ("key", 0o440), ("passphrase", 0o400)].enumerated() {
        let directory = fixture.directory + "/shop-\(index).service"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        try fixture.write(texts[kind]!, to: "shop-\(index).service/secret-preferences.\(kind)", mode: mode)
        chmod(directory, 0o500)
        setenv("CREDENTIALS_DIRECTORY", directory, 1)
        let opens = try fixture.opens(.automatic)
        #expect(opens, "\(kind) \(mode)")
        chmod(directory, 0o700)
      }
    }
  }

  @Test func `an empty credentials directory counts as none`() async {
    await #expect(processExitsWith: .success) {
      let fixture = try Fixture()
      setenv("CREDENTIALS_DIRECTORY", "", 1)
      // Not the root directory, from which the key file has this name.
      let name = String(fixture.keyFile.dropFirst().dropLast(4))
      #expect(!name.hasPrefix("/"))
      try fixture.write(fixture.keyText(), to: "key.key")
      let credential = try Unlocking.credentialsDirectory(name: name).credential()
      #expect(credential == nil)
    }
  }

  @Test func `the automatic way reads the environment in its order`() async {
    await #expect(processExitsWith: .success) {
      let fixture = try Fixture()
      for name in ["CREDENTIALS_DIRECTORY", "SECRETPREFS_KEY_FILE", "SECRETPREFS_PASSPHRASE"] { unsetenv(name) }
      let nothing = code { try fixture.opens(.automatic) }
      #expect(nothing == .noCredential)

      setenv("SECRETPREFS_PASSPHRASE", ThrowawayVault.passphrase, 1)
      let place = getenv("SECRETPREFS_PASSPHRASE")!
      let byPassphrase = try fixture.opens(.automatic)
      #expect(byPassphrase)
      #expect(getenv("SECRETPREFS_PASSPHRASE") == nil)
      #expect(place.pointee == 0)

      setenv("SECRETPREFS_PASSPHRASE", "wrong", 1)
      setenv("SECRETPREFS_KEY_FILE", fixture.keyFile, 1)
      let byKeyFile = try fixture.opens(.automatic)
      #expect(byKeyFile)

      setenv("SECRETPREFS_KEY_FILE", fixture.directory + "/missing", 1)
      let missing = code { try fixture.opens(.automatic) }
      #expect(missing == .io)

      setenv("CREDENTIALS_DIRECTORY", fixture.directory, 1)
      let emptyDirectory = code { try fixture.opens(.automatic) }
      #expect(emptyDirectory == .io)
      try fixture.write(ThrowawayVault.passphrase + "\n", to: "secret-preferences.passphrase", mode: 0o400)
      let bySystemd = try fixture.opens(.automatic)
      #expect(bySystemd)
      try fixture.write("nonsense", to: "secret-preferences.key")
      let byBadKey = code { try fixture.opens(.automatic) }
      #expect(byBadKey == .invalidKeyText)
    }
  }

  @Test func `without a path the tool's own vault is opened`() async {
    await #expect(processExitsWith: .success) {
      let fixture = try Fixture()
      for name in ["SECRETPREFS_VAULT", "XDG_DATA_HOME"] { unsetenv(name) }
      setenv("HOME", "/home/somebody", 1)
      #expect(try Vault.defaultPath() == "/home/somebody/.local/share/secretprefs/default.spv")
      setenv("XDG_DATA_HOME", "relative", 1)
      #expect(try Vault.defaultPath() == "/home/somebody/.local/share/secretprefs/default.spv")
      setenv("XDG_DATA_HOME", "/data", 1)
      #expect(try Vault.defaultPath() == "/data/secretprefs/default.spv")

      setenv("XDG_DATA_HOME", fixture.directory, 1)
      do throws(VaultError) {
        _ = try Vault.open(unlocking: .key(fixture.vault.key))
        Issue.record("there is no vault at this path")
      } catch {
        #expect(error.code == .notFound)
        #expect(error.message.contains("SECRETPREFS_VAULT names"))
      }

      setenv("SECRETPREFS_VAULT", fixture.vault.path, 1)
      let vault = try Vault.open(unlocking: .key(fixture.vault.key))
      let value = try SecretPreferences(service: "com.example.test", in: vault).string(forKey: "key")
      #expect(value == "v")
    }
  }

  @Test func `an environment that names no vault is an error`() async {
    await #expect(processExitsWith: .success) {
      for name in ["SECRETPREFS_VAULT", "XDG_DATA_HOME"] { unsetenv(name) }
      setenv("HOME", "", 1)
      let homeless = code { try Vault.defaultPath() }
      #expect(homeless == .notFound)
      setenv("HOME", "/home/somebody", 1)
      setenv("SECRETPREFS_VAULT", "", 1)
      let empty = code { try Vault.defaultPath() }
      setenv("SECRETPREFS_VAULT", "postgresql://shop:CANARY@db.example.com/secrets#shop", 1)
      let database = #expect(throws: VaultError.self) { try Vault.defaultPath() }
      #expect(database?.code == .invalidName && database?.message.contains("CANARY") == false)
      #expect(empty == .invalidName)
      setenv("SECRETPREFS_VAULT", "v\u{FFFD}", 1)
      getenv("SECRETPREFS_VAULT")![1] = CChar(bitPattern: 0xFF)
      let noText = code { try Vault.open(unlocking: .automatic) }
      #expect(noText == .invalidName)
    }
  }
}
