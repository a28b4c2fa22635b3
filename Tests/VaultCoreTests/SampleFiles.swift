import VaultCore
import VaultSealing

/// Bytes of vaults to cut, flip and forge; the raw key ``SealingKey/sample(from:)`` opens them.
enum SampleFiles {
  /// One group with one record, no entries, 64 bytes of reserve if it is a file.
  static func snapshot() throws -> [UInt8] {
    try TemporaryDirectory.with { directory in
      _ = try Vault.sample(at: directory + "/vault.spv")
      return try VaultBytes.read(directory + "/vault.spv")
    }
  }

  /// One group with one record and `count` entries behind it: `key-0`, `key-1`, …
  static func journal(_ count: Int, reserve: Int = 64) throws -> [UInt8] {
    try TemporaryDirectory.with { directory in
      let vault = try Vault.sample(at: directory + "/vault.spv", options: .sample(reserve: reserve))
      for index in 0..<count { try vault.set("value \(index)", forKey: "key-\(index)") }
      return try VaultBytes.read(directory + "/vault.spv")
    }
  }

  /// Groups `default` and `other`, entries in turn: two of each.
  static func twoGroups(seed: String = "two") throws -> [UInt8] {
    try TemporaryDirectory.with { directory in
      let vault = try Vault.sample(
        at: directory + "/vault.spv", groups: [.sample(), .sample("other")], options: .sample(seed: seed))
      for index in 0..<2 {
        try vault.set("value \(index)", forKey: "key-\(index)")
        try vault.set("other \(index)", forKey: "key-\(index)", in: "other")
      }
      return try VaultBytes.read(directory + "/vault.spv")
    }
  }

  /// The error of an owner that opens `file` from a disk and verifies every group.
  static func refusal(opening file: [UInt8], limits: Vault.Limits = .format) throws -> VaultError.Code? {
    try TemporaryDirectory.with { directory in
      try VaultBytes.write(file, to: directory + "/vault.spv")
      var options = Vault.Options.sample()
      options.limits = limits
      let vault: Vault
      do throws(VaultError) {
        vault = try Vault.open(
          in: stored(directory + "/vault.spv", options), credential: .key(text: keyText.span.bytes), options: options)
        _ = try vault.status()
      } catch { return error.code }
      return nil
    }
  }

  /// Runs `body` with a vault opened from `file`.
  static func with<R>(_ file: [UInt8], _ body: (Vault, String) throws -> R) throws -> R {
    try TemporaryDirectory.with { directory in
      try VaultBytes.write(file, to: directory + "/vault.spv")
      return try body(try Vault.opened(at: directory + "/vault.spv"), directory + "/vault.spv")
    }
  }

  private static let keyText = Array(
    "spv-key-1:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f".utf8)
}
