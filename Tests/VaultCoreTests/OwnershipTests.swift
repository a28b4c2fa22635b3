import Foundation
import Glibc
import Testing
import VaultCore

/// What happens to a shared vault's group when a user outside the group writes the whole file.
@Suite(.enabled(if: isRoot, "only root gives files away")) struct OwnershipTests {
  @Test func `a full write that would give another group the group's rights is refused, and an append is not`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try asStranger(mode: 0o660) { vault, path in
        let code = refusal { try vault.compact() }
        try vault.set("appended", forKey: "a")
        let status = try FileBytes.status(path)
        return try code == .io && status.st_gid == 12345 && status.st_mode & 0o777 == 0o660
          && vault.text("a") == "appended"
      }
    }
  }

  @Test func `a full write leaves the group behind where the group has no rights`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try asStranger(mode: 0o600) { vault, path in
        try vault.compact()
        let status = try FileBytes.status(path)
        return status.st_gid == 65534 && status.st_mode & 0o777 == 0o600
      }
    }
  }
}

/// Runs `body` as the owner of a vault's file, outside the file's group, and ends the process: 42 when it says that
/// all was right.
private func asStranger(mode: mode_t, _ body: (_ vault: Vault, _ path: String) throws -> Bool) throws -> Never {
  var isRight = false
  try TemporaryDirectory.with { directory in
    let path = directory + "/vault.spv"
    _ = try Vault.sample(at: path)
    try #require(chown(path, 65534, 12345) == 0 && chmod(path, mode) == 0 && chown(directory, 65534, 65534) == 0)
    try #require(setgroups(0, nil) == 0 && setgid(65534) == 0 && setuid(65534) == 0)
    var options = Vault.Options.sample(seed: "stranger")
    options.pathPolicy = .relaxed
    isRight = try body(try Vault.opened(at: path, options: options), path)
  }
  exit(isRight ? 42 : 1)
}
