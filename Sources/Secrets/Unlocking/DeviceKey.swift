internal import DurableFiles
internal import VaultCore
public import VaultSealing

/// Reads a machine's device key. The "this device only" classes of ``Vault/Accessibility`` need this key in addition to
/// the vault's own keys.
///
/// The device key is a raw key (`spv-key-1:…`) in a file that is kept apart from every copy of the vault. Assign the
/// key to ``Vault/Options/deviceKey``.
public enum DeviceKey {
  /// Reads the key from a file, under the rules of ``Unlocking/keyFile(_:)``.
  public static func file(_ path: String) throws(VaultError) -> SealingKey {
    try CredentialReader.key(at: path, kind: .deviceKey)
  }

  /// The asynchronous form of `file(_:)`. Cancelling the task does not stop it.
  public static func file(_ path: String) async throws(VaultError) -> SealingKey {
    try await HelperPool.waiting(for: path).run { () throws(VaultError) in try file(path) }
  }

  /// For services: reads `secret-preferences-device.key` in `$CREDENTIALS_DIRECTORY`, else the file named by
  /// `SECRETPREFS_DEVICE_KEY_FILE`. Returns `nil` if neither is configured.
  /// - Throws: the error of the configured file if reading fails; the other file is not tried then.
  ///   ``VaultError/Code/invalidName`` if a variable is not UTF-8.
  public static func automatic() throws(VaultError) -> SealingKey? {
    if let directory = try Environment.credentialsDirectory {
      let path = ServiceCredential.deviceKey.path(in: directory)
      if try CredentialReader.exists(path) { return try file(path) }
    }
    guard let path = try Environment.text("SECRETPREFS_DEVICE_KEY_FILE") else { return nil }
    return try file(path)
  }

  /// The asynchronous form of `automatic()`. Cancelling the task does not stop it.
  public static func automatic() async throws(VaultError) -> SealingKey? {
    try await HelperPool.waiting.run { () throws(VaultError) in try automatic() }
  }
}
