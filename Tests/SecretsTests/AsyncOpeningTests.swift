import Foundation
import Secrets
import SecretsTesting
import Synchronization
import Testing

/// Opening in an `async` context, with sources of credentials that wait.
struct AsyncOpeningTests {}

extension AsyncOpeningTests {
  @Test func `sources that wait stop no other task`() async throws {
    let (throwaway, count) = (try ThrowawayVault(), ProcessInfo.processInfo.activeProcessorCount + 4)
    let begun = Tally()
    let isReady = DispatchSemaphore(value: 0)
    try await withThrowingTaskGroup { group in
      for _ in 0..<count {
        group.addTask {
          begun.count.add(1, ordering: .relaxed)
          let unlocking = Unlocking { () throws(VaultError) in
            isReady.wait()
            return .key(throwaway.key)
          }
          _ = try await Vault.open(at: throwaway.path, unlocking: unlocking).groups()
        }
      }
      // This task goes on only if the others block no thread of the cooperative pool.
      while begun.count.load(ordering: .relaxed) < count { await Task.yield() }
      for _ in 0..<count { isReady.signal() }
      try await group.waitForAll()
    }
  }

  @Test func `a key file that is a FIFO is waited for`() async throws {
    let fixture = try UnlockingTests.Fixture()
    let (vault, key) = (fixture.directory + "/vault-key", fixture.directory + "/device-key")
    for path in [vault, key] { try #require(mkfifo(path, 0o600) == 0) }
    let path = fixture.vault.path
    async let opened = Vault.open(at: path, unlocking: .keyFile(vault))
    async let deviceKey = DeviceKey.file(key)
    let text = try fixture.keyText()
    // On a thread of its own: opening a FIFO for writing waits for its reader, which needs a thread of the pool.
    Thread.detachNewThread {
      #expect(throws: Never.self) {
        for path in [vault, key] {
          let writer = try #require(FileHandle(forWritingAtPath: path))
          try writer.write(contentsOf: Data(text.utf8))
          try writer.close()
        }
      }
    }
    #expect(try await SecretPreferences(service: "com.example.test", in: opened).string(forKey: "key") == "v")
    #expect(try await KeyText.write(deviceKey).withUnsafeBytes { Array($0) } == Array(text.utf8))
  }

  @Test func `the environment names the vault, its key and the device key`() async {
    await #expect(processExitsWith: .success) {
      let fixture = try UnlockingTests.Fixture()
      unsetenv("CREDENTIALS_DIRECTORY")
      setenv("SECRETPREFS_VAULT", fixture.vault.path, 1)
      setenv("SECRETPREFS_KEY_FILE", fixture.keyFile, 1)
      setenv("SECRETPREFS_DEVICE_KEY_FILE", fixture.keyFile, 1)
      let vault = try await Vault.open(unlocking: .automatic)
      let value = try SecretPreferences(service: "com.example.test", in: vault).string(forKey: "key")
      #expect(value == "v")
      let deviceKey = try await DeviceKey.automatic()
      #expect(deviceKey != nil)
    }
  }

  @Test(arguments: [
    (Unlocking.first(of: []), VaultError.Code.noCredential),
    (Unlocking { () throws(VaultError) in throw VaultError(.io, "the service does not answer") }, .io),
    (Unlocking { () throws(VaultError) in try .passphrase("wrong") }, .credentialRejected),
  ]) func `the errors are those of the blocking form`(unlocking: Unlocking, expected: VaultError.Code) async throws {
    let throwaway = try ThrowawayVault(withPassphrase: true)
    var code: VaultError.Code?
    do throws(VaultError) { _ = try await Vault.open(at: throwaway.path, unlocking: unlocking) } catch {
      code = error.code
    }
    #expect(code == expected)
    #expect(SecretsTests.code { try Vault.open(at: throwaway.path, unlocking: unlocking) } == expected)
  }

  @Test func `a source sees that its task is cancelled, and the call completes if it does not mind`() async throws {
    let throwaway = try ThrowawayVault()
    let cancellations = Tally()
    let isReady = DispatchSemaphore(value: 0)
    let opening = Task {
      try await Vault.open(
        at: throwaway.path,
        unlocking: Unlocking { () throws(VaultError) in
          isReady.wait()
          if Task.isCancelled { cancellations.count.add(1, ordering: .relaxed) }
          return .key(throwaway.key)
        })
    }
    opening.cancel()
    isReady.signal()
    #expect(try await opening.value.isLocked == false)
    #expect(cancellations.count.load(ordering: .relaxed) == 1)
  }

  @Test func `a keychain sets and removes without blocking`() async throws {
    let throwaway = try ThrowawayVault()
    let keychain = try Keychain(service: "com.example.test", in: throwaway.vault)
    try await keychain.label("label").set("text", key: "text")
    try await keychain.set(Data([0xFF, 0]), key: "data")
    #expect(try keychain.get("text") == "text")
    #expect(keychain[attributes: "text"]?.label == "label")
    #expect(try keychain.getData("data") == Data([0xFF, 0]))
    try await keychain.remove("text")
    #expect(keychain.allKeys() == ["data"])
    try await keychain.removeAll()
    #expect(keychain.allKeys() == [])
  }
}

/// A number that several tasks change.
final class Tally: Sendable { let count = Atomic(0) }
