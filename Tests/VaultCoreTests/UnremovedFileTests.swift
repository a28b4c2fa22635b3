import Glibc
import SyncFaulting
import Testing
import VaultSealing

@testable import VaultCore

/// Failures after which a file that was made cannot be removed again.
struct UnremovedFileTests {
  @Test func `a vault whose mark cannot be made, and that cannot be removed, is said to be there`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try asUser { directory, path in
        var options = Vault.Options.sample()
        options.markPath = directory + "/mark"
        let code = SyncFault.with { descriptor in
          guard !SyncFault.isDirectory(descriptor), access(path, F_OK) == 0 else { return nil }
          chmod(directory, 0o500)
          return EIO
        } during: {
          refusal { try Vault.sample(at: path, options: options) }
        }
        return code == .durabilityUnknown && access(path, F_OK) == 0
      }
    }
  }

  @Test(arguments: [false, true]) func `a restore that fails keeps no copy of the vault, or names it`(
    isReadOnly: Bool
  ) async {
    await #expect(processExitsWith: .exitCode(42)) { [isReadOnly] in
      try asUser { directory, path in
        let vault = try Vault.sample(at: path)
        try vault.backUp(to: directory + "/backup.spv")
        let kept = directory + "/kept.spv"
        let error = SyncFault.with { descriptor in
          guard !SyncFault.isDirectory(descriptor), access(kept, F_OK) == 0 else { return nil }
          if isReadOnly { chmod(directory, 0o500) }
          return EIO
        } during: {
          #expect(throws: VaultError.self) {
            try Vault.restore(
              directory + "/backup.spv", to: path, credential: .key(try .sample()), replacing: true,
              keepingReplacedAt: kept)
          }
        }
        let isKept = access(kept, F_OK) == 0
        return isKept == isReadOnly && error?.message.contains(kept) == isReadOnly
          && error?.code == (isReadOnly ? .durabilityUnknown : .io)
      }
    }
  }
}
