internal import VaultCore
public import VaultSealing

/// Where a machine's device key comes from: what the "this device only" classes of ``Vault/Accessibility`` need besides the
/// vault's own keys.
///
/// It is a raw key (`spv-key-1:…`) in a file that goes where no copy of the vault goes. Assign it to
/// ``Vault/Options/deviceKey``.
public enum DeviceKey {
  /// Reads the key from a file, under the rules of ``Unlocking/keyFile(_:)``.
  public static func file(_ path: String) throws(VaultError) -> SealingKey {
    try CredentialReader.key(at: path, what: "the device key file")
  }

  /// For services: reads `secret-preferences-device.key` in `$CREDENTIALS_DIRECTORY`, else the file that
  /// `SECRETPREFS_DEVICE_KEY_FILE` names; nil when neither is there.
  /// - Throws: the error of the one that is configured and fails; the other is not tried then.
  public static func automatic() throws(VaultError) -> SealingKey? {
    if let directory = Environment.credentialsDirectory {
      let path = directory + "/secret-preferences-device.key"
      if try CredentialReader.exists(path) { return try file(path) }
    }
    guard let path = Environment.value("SECRETPREFS_DEVICE_KEY_FILE") else { return nil }
    return try file(path)
  }
}
