import Foundation
import Secrets
import SecretsTesting
import Testing

/// Identities of holders by public key in files, and the pin that they are used with (`Docs/Format.md` G.1, G.2).
struct IdentityFileTests {
  /// A vault whose group has a holder by public key, and the holder's file.
  final class Fixture {
    let unlocking: UnlockingTests.Fixture
    let identity: VaultIdentity
    let pin: VaultPin

    init() throws {
      unlocking = try UnlockingTests.Fixture()
      identity = try VaultIdentity()
      let vault = try Vault.open(at: unlocking.vault.path, credential: .key(unlocking.vault.key))
      try vault.addSlot(NewSlot(identity.publicKey), granting: vault.group())
      pin = try vault.pin()
    }

    var text: String {
      get throws { try identity.text().withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
    }

    /// Writes the identity, and `rest` behind it.
    @discardableResult
    func write(_ rest: String, to name: String = "shop.identity", mode: Int = 0o600) throws -> String {
      try unlocking.write(text + rest, to: name, mode: mode)
    }

    func opens(_ way: Unlocking) throws -> Bool { try unlocking.opens(way) }
  }

  private static let otherPin =
    "spv-vault-1:00000000000000000000000000000001:82f09ee3ac7b37272fc3b6f4d1580d132b1e89790e9e33391c677c6c65584f0d"

  /// A pin of the same vault that no slot is made for.
  private static func unusedPin(of pin: VaultPin) throws -> VaultPin {
    try VaultPin("spv-vault-1:\(pin.vaultID):\(otherPin.suffix(64))")
  }

  @Test func `an identity file opens the vault with the pin of the program or its own`() throws {
    let fixture = try Fixture()
    for end in ["", "\n"] {
      #expect(try fixture.opens(.identity(fixture.write(end), trusting: fixture.pin)))
      #expect(try fixture.opens(.identity(fixture.write("\n\(fixture.pin)\(end)"))))
    }
    // That of the program comes first.
    let path = try fixture.write("\n\(Self.otherPin)\n")
    #expect(try fixture.opens(.identity(path, trusting: fixture.pin)))
    #expect(code { try fixture.opens(.identity(path)) } == .tampered)
  }

  @Test func `row G3: without a pin there is no credential`() throws {
    let fixture = try Fixture()
    #expect(code { try fixture.opens(.identity(fixture.write("\n"))) } == .noCredential)
  }

  @Test func `a file with the pin that comes next opens the vault before and after its keys are replaced`() throws {
    let fixture = try Fixture()
    let vault = try Vault.open(at: fixture.unlocking.vault.path, credential: .key(fixture.unlocking.vault.key))
    let file = IdentityFile(identity: fixture.identity, pin: fixture.pin, nextPin: try Self.unusedPin(of: fixture.pin))
    let text = try file.text().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    let rest = try String(text.dropFirst(fixture.text.count))
    #expect(try fixture.opens(.identity(fixture.write(rest))))

    let next = try #require(try vault.rotateVault().newPin)
    #expect(code { try fixture.opens(.identity(fixture.write(rest))) } == .credentialRejected)
    for end in ["", "\n"] {
      #expect(try fixture.opens(.identity(fixture.write("\n\(fixture.pin)\n\(next)\(end)"))))
    }
    // That of the program is the only one then.
    let path = try fixture.write("\n\(fixture.pin)\n\(next)\n")
    #expect(code { try fixture.opens(.identity(path, trusting: fixture.pin)) } == .credentialRejected)
    #expect(try IdentityFile(at: path).nextPin == next)
  }

  @Test(arguments: [
    "three", "two vaults", "two in a line", "identity", "nonsense", "empty line", "CRLF", "public key", "key",
  ])
  func `row G3: a file with anything else is refused without repeating it`(kind: String) throws {
    let fixture = try Fixture()
    let rest = try [
      "three": "\n\(fixture.pin)\n\(fixture.pin)\n\(fixture.pin)\n",
      "two vaults": "\n\(fixture.pin)\n\(Self.otherPin)\n",
      "two in a line": "\n\(fixture.pin) \(fixture.pin)\n", "identity": "\n\(fixture.text)\n", "nonsense": "\nx",
      "empty line": "\n\n",
      "CRLF": "\r\n\(fixture.pin)\r\n", "public key": "\n\(fixture.identity.publicKey)\n",
      "key": "\n" + fixture.unlocking.keyText(),
    ][kind]!
    let path = try fixture.write(rest)
    for way in [Unlocking.identity(path), .identity(path, trusting: fixture.pin)] {
      do {
        _ = try way.credential()
        Issue.record("it is accepted")
      } catch {
        #expect(error.code == .invalidKeyText)
        #expect(try !error.description.contains(fixture.text.dropFirst(15).prefix(8)))
      }
    }
  }

  @Test func `an identity where a key file belongs is refused, and a key where an identity belongs`() throws {
    let fixture = try Fixture()
    #expect(code { try fixture.opens(.keyFile(fixture.write("\n"))) } == .invalidKeyText)
    #expect(
      code { try fixture.opens(.identity(fixture.unlocking.keyFile, trusting: fixture.pin)) } == .invalidKeyText)
  }

  @Test(arguments: [0o644, 0o620, 0o602, 0o604]) func `row G12: an identity file that others can use is refused`(
    mode: Int
  ) throws {
    let fixture = try Fixture()
    let path = try fixture.write("\n\(fixture.pin)\n", mode: mode)
    #expect(code { try fixture.opens(.identity(path)) } == .insecurePermissions)
  }

  @Test func `row G12: a link is followed, a FIFO is read, and a directory or an endless file is refused`() throws {
    let fixture = try Fixture()
    let (path, directory) = (try fixture.write("\n\(fixture.pin)\n"), fixture.unlocking.directory)
    try FileManager.default.createSymbolicLink(atPath: directory + "/link", withDestinationPath: path)
    #expect(try fixture.opens(.identity(directory + "/link")))

    mkfifo(directory + "/fifo", 0o600)
    let text = try fixture.text + "\n\(fixture.pin)\n"
    let writer = Thread { try? Data(text.utf8).write(to: URL(filePath: directory + "/fifo"), options: []) }
    writer.start()
    #expect(try fixture.opens(.identity(directory + "/fifo")))

    #expect(code { try fixture.opens(.identity(directory)) } == .insecurePermissions)
    #expect(code { try fixture.opens(.identity("/dev/zero")) } == .insecurePermissions)
    #expect(code { try fixture.opens(.identity(directory + "/missing")) } == .io)
  }

  @Test func `the environment names an identity and a pin`() async {
    await #expect(processExitsWith: .success) {
      let fixture = try Fixture()
      for name in ["CREDENTIALS_DIRECTORY", "SECRETPREFS_KEY_FILE", "SECRETPREFS_PASSPHRASE", "SECRETPREFS_TRUST"] {
        unsetenv(name)
      }
      setenv("SECRETPREFS_IDENTITY_FILE", try fixture.write("\n\(Self.otherPin)\n"), 1)
      let byFile = code { try fixture.opens(.automatic) }
      #expect(byFile == .tampered)

      // Behind the pin of a program, and before that of the file.
      setenv("SECRETPREFS_TRUST", "\(fixture.pin)", 1)
      let byVariable = try fixture.opens(.automatic)
      #expect(byVariable)
      let other = try VaultPin(Self.otherPin)
      let byProgram = code { try fixture.opens(.identityVariable(trusting: other)) }
      #expect(byProgram == .tampered)
      setenv("SECRETPREFS_TRUST", try fixture.text, 1)
      let byMistake = code { try fixture.opens(.automatic) }
      #expect(byMistake == .invalidKeyText)
      setenv("SECRETPREFS_TRUST", "\(fixture.pin)", 1)

      // Before a passphrase, and behind a key file.
      setenv("SECRETPREFS_PASSPHRASE", "wrong", 1)
      let beforePassphrase = try fixture.opens(.automatic)
      #expect(beforePassphrase)
      setenv("SECRETPREFS_KEY_FILE", fixture.unlocking.directory + "/missing", 1)
      let behindKeyFile = code { try fixture.opens(.automatic) }
      #expect(behindKeyFile == .io)
      unsetenv("SECRETPREFS_KEY_FILE")
      setenv("SECRETPREFS_IDENTITY_FILE", fixture.unlocking.directory + "/missing", 1)
      let missing = code { try fixture.opens(.automatic) }
      #expect(missing == .io)
    }
  }

  @Test func `a credential of systemd may be an identity, behind a key and before a passphrase`() async {
    await #expect(processExitsWith: .success) {
      let fixture = try Fixture()
      for name in ["SECRETPREFS_KEY_FILE", "SECRETPREFS_IDENTITY_FILE", "SECRETPREFS_PASSPHRASE"] { unsetenv(name) }
      setenv("CREDENTIALS_DIRECTORY", fixture.unlocking.directory, 1)
      setenv("SECRETPREFS_TRUST", "\(fixture.pin)", 1)
      try fixture.unlocking.write("wrong", to: "secret-preferences.passphrase")
      try fixture.write("\n", to: "secret-preferences.identity", mode: 0o440)
      let byIdentity = try fixture.opens(.automatic)
      #expect(byIdentity)
      try fixture.unlocking.write("nonsense", to: "secret-preferences.key")
      let byKey = code { try fixture.opens(.automatic) }
      #expect(byKey == .invalidKeyText)
    }
  }
}
