import Foundation
import Glibc
import Secrets
import SecretsTesting
import Synchronization
import Testing

/// The vaults of tests, and the trait that makes them.
@Suite(.throwawayVault) struct ThrowawayVaultTests {}

extension ThrowawayVaultTests {
  /// The paths that the tests of this suite have met.
  private static let seen = Mutex<Set<String>>([])

  private func isNew() -> Bool {
    Self.seen.withLock { $0.insert(ThrowawayVault.current.path).inserted }
  }

  @Test(arguments: 0..<8) func `each case of a parameterised test has a vault of its own`(number: Int) throws {
    let store = try ThrowawayVault.current.preferences()
    #expect(isNew())
    #expect(try store.keys() == [])
    try store.set(number, forKey: "number")
    #expect(try store.integer(forKey: "number") == number)
  }

  struct Inner {
    @Test func `a test in a suite within a suite has a vault of its own`() throws {
      #expect(try ThrowawayVault.current.preferences().keys() == [])
    }
  }

  @Test(.throwawayVault(groups: ["billing", "support"]), arguments: ["billing", "support"])
  func `a test replaces the vault of its suite by one with access groups`(group: String) throws {
    let store = try ThrowawayVault.current.preferences(accessGroup: group)
    try store.set("t", forKey: "token")
    let error = #expect(throws: VaultError.self) { try ThrowawayVault.current.preferences() }
    #expect(error?.code == .groupNotGranted)
  }

  @Test(.throwawayVault(withPassphrase: true)) func `a passphrase opens the vault of a test that wants one`() throws {
    let path = ThrowawayVault.current.path
    _ = try Vault.open(at: path, credential: .passphrase(ThrowawayVault.passphrase))
  }

  @Test func `child tasks have the vault of the test`() async throws {
    let path = ThrowawayVault.current.path
    async let child = ThrowawayVault.current.path
    #expect(await child == path)
  }

  @Test func `a vault is deleted with everything beside it`() throws {
    let directory: String
    do {
      let vault = try ThrowawayVault()
      directory = URL(filePath: vault.path).deletingLastPathComponent().path
      try Data("torn".utf8).write(to: URL(filePath: vault.path + ".torn"))
    }
    #expect(!FileManager.default.fileExists(atPath: directory))
  }

  @Test func `a vault stays while a store of it is used`() throws {
    let store = try ThrowawayVault().preferences()
    let reopened = try SecretPreferences(service: "com.example.test", in: ThrowawayVault().reopened())
    for store in [store, reopened] {
      try store.set("value", forKey: "key")
      #expect(try store.string(forKey: "key") == "value")
    }
  }

  @Test func `a vault is made in the folder that is given`() throws {
    let folder = FileManager.default.temporaryDirectory.path
    let vault = try ThrowawayVault(in: folder)
    #expect(vault.path.hasPrefix(folder + "/"))
    let error = #expect(throws: VaultError.self) { try ThrowawayVault(in: "/nowhere") }
    #expect(error?.code == .io)
  }

  @Test func `the environment can name the folder of all vaults, which is then the only one tried`() async {
    await #expect(processExitsWith: .success) {
      let folder = FileManager.default.temporaryDirectory.path
      setenv("SECRETS_TESTING_FOLDER", folder, 1)
      let vault = try ThrowawayVault()
      #expect(vault.path.hasPrefix(folder + "/secretprefs-throwaway-"))
      setenv("SECRETS_TESTING_FOLDER", "/nowhere", 1)
      let error = #expect(throws: VaultError.self) { try ThrowawayVault() }
      #expect(error?.code == .io)
    }
  }

  @Test func `a writer waits for the lock that a test holds, until the timeout`() async throws {
    var options = Vault.Options()
    options.lockTimeout = .milliseconds(20)
    let vault = try ThrowawayVault(options: options)
    let store = try vault.preferences()
    try await store.set("old", forKey: "token")

    try await vault.withWriterLock {
      let error = await #expect(throws: VaultError.self) { try await store.set("new", forKey: "token") }
      #expect(error?.code == .lockTimeout)
      let text = try store.string(forKey: "token")
      #expect(text == "old")
    }

    try await store.set("new", forKey: "token")
    #expect(try store.string(forKey: "token") == "new")
  }

  @Test func `the vault of a test is removed after it, even if a task still refers to it`() async throws {
    let trait: ThrowawayVaultTrait = .throwawayVault
    let (test, testCase) = (try #require(Test.current), try #require(Test.Case.current))
    let kept = Mutex<ThrowawayVault?>(nil)
    try await trait.provideScope(for: test, testCase: testCase) { kept.withLock { $0 = ThrowawayVault.current } }
    let vault = try #require(kept.withLock { $0 })
    #expect(!FileManager.default.fileExists(atPath: vault.path))
  }
}
