import Foundation
import Secrets
import SecretsTesting
import Testing

/// The key of a machine, `Docs/Format.md` section 7. What reads the environment runs in a process of its own.
struct DeviceKeyTests {
  /// A directory with two key files, and a vault with a value that stays on the device of the first.
  final class Fixture {
    let vault: ThrowawayVault
    let directory: String
    var device: String { directory + "/device" }
    var other: String { directory + "/other" }

    init() throws {
      vault = try ThrowawayVault()
      directory = NSTemporaryDirectory() + "device-key-" + UUID().uuidString
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      for path in [device, other] { try write(try SealingKey(from: .system), to: path) }
      let vault = try opened(try DeviceKey.file(device))
      try vault.transaction(service: Vault.Name("shop"), in: vault.group()) { (batch) throws(VaultError) in
        try batch.set(
          "s3cret".utf8Span.span.bytes, kind: .string, forKey: "disk", accessibility: .whenUnlockedThisDeviceOnly)
      }
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func write(_ key: SealingKey, to path: String, mode: Int = 0o600) throws {
      try KeyText.write(key).withUnsafeBytes { try Data($0).write(to: URL(filePath: path)) }
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    func opened(_ key: SealingKey?) throws -> Vault {
      var options = Vault.Options()
      options.deviceKey = key
      return try Vault.open(at: vault.path, credential: .key(vault.key), options: options)
    }

    /// The value, read with that device key.
    func value(_ key: SealingKey?) throws -> String? {
      let vault = try opened(key)
      return try vault.withValue(service: Vault.Name("shop"), key: "disk", in: vault.group()) { _, bytes in
        bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      }
    }
  }

  @Test func `a value that stays on a device opens with the device's key file`() throws {
    let fixture = try Fixture()
    #expect(try fixture.value(DeviceKey.file(fixture.device)) == "s3cret")
  }

  @Test func `without the device key such a value stays closed`() throws {
    let fixture = try Fixture()
    #expect(code { try fixture.value(nil) } == .deviceKeyMissing)
  }

  @Test func `another machine's key does not open it`() throws {
    let fixture = try Fixture()
    #expect(code { try fixture.value(DeviceKey.file(fixture.other)) } == .wrongDevice)
  }

  @Test(arguments: [0o644, 0o604, 0o620, 0o602]) func `a device key file that others can use is refused`(
    _ mode: Int
  ) throws {
    let fixture = try Fixture()
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: fixture.device)

    #expect(code { _ = try DeviceKey.file(fixture.device) } == .insecurePermissions)
  }

  @Test func `a missing device key file is an error`() throws {
    let fixture = try Fixture()
    #expect(code { _ = try DeviceKey.file(fixture.directory + "/missing") } == .io)
  }

  @Test func `other text is no device key`() throws {
    let fixture = try Fixture()
    try Data("raw".utf8).write(to: URL(filePath: fixture.device))

    #expect(code { _ = try DeviceKey.file(fixture.device) } == .invalidKeyText)
  }

  @Test func `the automatic way reads the environment in its order`() async {
    await #expect(processExitsWith: .success) {
      let fixture = try Fixture()
      for name in ["CREDENTIALS_DIRECTORY", "SECRETPREFS_DEVICE_KEY_FILE"] { unsetenv(name) }
      let nothing = try DeviceKey.automatic() == nil
      #expect(nothing)

      setenv("SECRETPREFS_DEVICE_KEY_FILE", fixture.device, 1)
      let byVariable = try fixture.value(DeviceKey.automatic())
      #expect(byVariable == "s3cret")

      setenv("CREDENTIALS_DIRECTORY", fixture.directory, 1)
      let emptyDirectory = try fixture.value(DeviceKey.automatic())
      #expect(emptyDirectory == "s3cret")

      let credential = fixture.directory + "/secret-preferences-device.key"
      try fixture.write(try DeviceKey.file(fixture.other), to: credential)
      let bySystemd = code { try fixture.value(DeviceKey.automatic()) }
      #expect(bySystemd == .wrongDevice)

      try fixture.write(try DeviceKey.file(fixture.device), to: credential, mode: 0o644)
      let failing = code { _ = try DeviceKey.automatic() }
      #expect(failing == .insecurePermissions)
    }
  }
}
