import Foundation
import Secrets
import SecretsTesting
import Synchronization
import Testing

extension PreferenceKey<Secret<String>?> {
  static let stripe = Self("stripe")
}

/// Three workers that repeat a call until the test ends.
private final class Load: Sendable {
  private let counts = Mutex([0, 0, 0])
  private let isDone = Mutex(false)

  func run(_ worker: Int, _ call: () throws -> Void) async throws {
    while !isDone.withLock({ $0 }) {
      try call()
      await Task.yield()
      counts.withLock { $0[worker] += 1 }
    }
  }

  /// Waits for three calls of each worker.
  func goesOn() async throws {
    let before = counts.withLock { $0 }
    while zip(before, counts.withLock { $0 }).contains(where: { $1 - $0 < 3 }) {
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  func end() { isDone.withLock { $0 = true } }
}

/// The code of Secrets.docc, word for word: Scripts/documents guide compares the two.
extension GuideTests {
  /// A vault with a key file that opens it.
  private typealias Fixture = UnlockingTests.Fixture

  // What reads the environment runs in a process of its own.
  @Test func `getting started: a token is stored and read back`() async {
    await #expect(processExitsWith: .success) {
      let fixture = try Fixture()
      for name in ["CREDENTIALS_DIRECTORY", "SECRETPREFS_PASSPHRASE"] { unsetenv(name) }
      setenv("SECRETPREFS_VAULT", fixture.vault.path, 1)
      setenv("SECRETPREFS_KEY_FILE", fixture.keyFile, 1)

      let vault = try Vault.open(unlocking: .automatic)
      let tokens = try SecretPreferences(service: "com.example.shop", in: vault)

      try tokens.set("ghp_example", forKey: "github")
      let github = try tokens.string(forKey: "github")

      #expect(github == "ghp_example")
      #expect(vault.isLocked == false)
    }
  }

  @Test func `getting started: a program whose vault does not open ends with the exit code of the failure`() async {
    await #expect(processExitsWith: .exitCode(78)) {
      for name in ["CREDENTIALS_DIRECTORY", "SECRETPREFS_PASSPHRASE", "SECRETPREFS_KEY_FILE"] { unsetenv(name) }

      func openVault() -> Vault {
        do { return try Vault.open(unlocking: .automatic) } catch {
          FileHandle.standardError.write(Data("the vault cannot be opened: \(error)\n".utf8))
          exit(error.failureClass.exitCode)  // such as 78: no credential is configured
        }
      }

      _ = openVault()
    }
  }

  @Test func `the landing page: a token is read, and a different one is stored`() async {
    await #expect(processExitsWith: .success) {
      let fixture = try Fixture()
      for name in ["CREDENTIALS_DIRECTORY", "SECRETPREFS_PASSPHRASE"] { unsetenv(name) }
      setenv("SECRETPREFS_VAULT", fixture.vault.path, 1)
      setenv("SECRETPREFS_KEY_FILE", fixture.keyFile, 1)

      let vault = try Vault.open(unlocking: .automatic)
      let tokens = try SecretPreferences(service: "com.example.shop", in: vault)

      let github = try tokens.string(forKey: "github")  // nil means absent; every failure throws
      try tokens.set("sk_example", forKey: "stripe")  // durable when it returns

      #expect(github == nil)
      let stripe = try tokens.string(forKey: "stripe")
      #expect(stripe == "sk_example")
    }
  }

  @Test func `getting started: a key gives a secret its type`() throws {
    let tokens = try ThrowawayVault.current.preferences()
    #expect(throws: PreferencesError.self) { try tokens.required(.stripe) }

    try tokens.set(Secret("sk_example"), for: .stripe)
    let stripe = try tokens.required(.stripe)  // if absent, the error names the key
    let length = try stripe.withValue { $0.count }

    #expect(length == 10)
    #expect("\(stripe)" == "<redacted>")
  }

  @Test func `getting started: settings are read beside secrets`() throws {
    let tokens = try ThrowawayVault.current.preferences()
    try tokens.set("ghp_example", forKey: "github")

    let preferences = CompositePreferences([
      tokens.claiming(.names(["github", "stripe"])),
      EnvironmentPreferences(prefix: "SHOP"),
      DictionaryPreferences(["server.port": 8080]),
    ])
    let port = try preferences.integer(forKey: "server.port")  // SHOP_SERVER_PORT, or 8080

    #expect(port == 8080)
    #expect(try preferences.string(forKey: "github") == "ghp_example")
  }

  @Test func `unlocking: the first way that is configured is used`() async {
    await #expect(processExitsWith: .success) {
      unsetenv("SHOP_PASSPHRASE_FD")
      let fixture = try Fixture()
      let (path, keyFile) = (fixture.vault.path, fixture.keyFile)

      let unlocking = Unlocking.first(of: [
        .passphraseDescriptor(fromVariable: "SHOP_PASSPHRASE_FD"),  // skipped if the variable is not set
        .keyFile(ifPresent: "/run/secrets/shop.key"),  // skipped if there is no such file
        .keyFile(keyFile),  // never skipped
      ])
      let vault = try Vault.open(at: path, unlocking: unlocking)

      #expect(vault.isLocked == false)
      setenv("SHOP_PASSPHRASE_FD", "none", 1)
      let failure = code { try Vault.open(at: path, unlocking: unlocking) }
      #expect(failure == .io)
    }
  }

  @Test func `unlocking: a source of your own is skipped without its address, and throws if it fails`() throws {
    func opened(_ address: String?, orElse other: Unlocking) throws -> Vault {
      let own = ThrowawayVault.current.key
      @Sendable func key(from address: String) throws(VaultError) -> SealingKey {
        guard address == "kms" else { throw VaultError(.io, "the service does not answer") }
        return own
      }

      let unlocking = Unlocking { () throws(VaultError) in
        guard let address else { return nil }
        return .key(try key(from: address))
      }

      return try Vault.open(at: ThrowawayVault.current.path, unlocking: .first(of: [unlocking, other]))
    }
    let right = Unlocking.key(ThrowawayVault.current.key)
    let wrong = Unlocking.key(try SealingKey(from: .system))

    #expect(try opened("kms", orElse: wrong).isLocked == false)
    #expect(try opened(nil, orElse: right).isLocked == false)
    #expect(code { try opened("elsewhere", orElse: right) } == .io)
    #expect(code { try opened(nil, orElse: wrong) } == .credentialRejected)
  }

  @Test func `unlocking: what is needed all the time stays readable after a lock`() throws {
    let (path, unlocking) = (ThrowawayVault.current.path, Unlocking.key(ThrowawayVault.current.key))

    var options = Vault.Options()
    options.idleLimit = .seconds(15 * 60)
    let vault = try Vault.open(at: path, unlocking: unlocking, options: options)
    let always = try SecretPreferences(service: "com.example.shop", accessibility: .afterFirstUnlock, in: vault)
    try always.set("sk_example", forKey: "stripe")

    vault.lock()
    let stripe = try always.string(forKey: "stripe")
    try vault.unlock(unlocking)

    #expect(stripe == "sk_example")
    #expect(vault.isLocked == false)
    let others = try SecretPreferences(service: "com.example.shop", in: vault)
    try others.set("v", forKey: "key")
    vault.lock()
    #expect(code { try others.string(forKey: "key") } == .locked)
  }

  @Test func `containers: the same program finds its key at a desk`() throws {
    let fixture = try Fixture()
    let (path, home) = (fixture.vault.path, fixture.directory)
    try fixture.write(fixture.keyText(), to: "shop.key")

    let vault = try Vault.open(
      at: path,
      unlocking: .first(of: [
        .keyFile(ifPresent: "/run/secrets/shop.key"),  // in the container
        .keyFile(home + "/shop.key"),
      ]))

    #expect(vault.isLocked == false)
  }

  @Test func `containers: a health check finds no problem in a vault, and throws for a locked one`() throws {
    func problems(of vault: Vault) throws -> [String] {
      let status = try vault.status()  // verifies the vault; throws if it is locked or was changed
      var problems: [String] = []
      if status.isFrozen { problems.append("a single file is mounted instead of its directory: writes are refused") }
      if status.hasTornTail { problems.append("the last write was interrupted, or the file is damaged at its end") }
      if GuardedMemory.unlockedBlocks > 0 { problems.append("memory may be swapped out: raise --ulimit memlock") }
      return problems
    }

    func problemsOfFile(_ vault: Vault) throws -> Int {
      try problems(of: vault).count { !$0.hasPrefix("memory") }
    }
    let (vault, path) = (ThrowawayVault.current.vault, ThrowawayVault.current.path)
    try ThrowawayVault.current.preferences().set("v", forKey: "key")
    #expect(try problemsOfFile(vault) == 0)
    let summary = try VaultInfo(at: path)
    var torn = try Data(contentsOf: URL(filePath: path))
    torn[summary.snapshotBytes + summary.journalBytes - 1] ^= 1
    try torn.write(to: URL(filePath: path), options: [])
    #expect(try problemsOfFile(ThrowawayVault.current.reopened()) == 1)
    vault.lock()
    #expect(code { try problems(of: vault) } == .locked)
  }

  /// A vault with the group `billing`, and the slot and key file of a worker.
  private func withWorker(_ body: (Fixture, Vault.Identifier, _ workerKeyFile: String) throws -> Void) throws {
    let fixture = try Fixture()
    let owner = fixture.vault.vault

    let billing = try owner.createGroup("billing")
    let workerKey = try SealingKey(from: .system)
    let slot = try owner.addSlot(NewSlot(.key(workerKey), label: "billing worker"), granting: billing)

    let text = try KeyText.write(workerKey).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    try body(fixture, slot, try fixture.write(text, to: "worker.key"))
  }

  @Test func `access groups: a worker reads and writes its own group, and no other`() throws {
    try withWorker { fixture, _, workerKeyFile in
      let path = fixture.vault.path

      let vault = try Vault.open(at: path, unlocking: .keyFile(workerKeyFile))
      let invoices = try SecretPreferences(service: "com.example.shop", accessGroup: "billing", in: vault)
      try invoices.set("sk_example", forKey: "stripe")

      let seen = try SecretPreferences(service: "com.example.shop", accessGroup: "billing", in: fixture.vault.vault)
      #expect(try seen.string(forKey: "stripe") == "sk_example")
      #expect(try vault.groups().map(\.name.text) == ["billing"])
      for group in ["default", "missing"] {
        #expect(code { try SecretPreferences(service: "s", accessGroup: group, in: vault) } == .groupNotGranted)
      }
      #expect(code { try vault.createGroup("other") } == .ownerRequired)
      #expect(code { try vault.slots() } == .ownerRequired)
    }
  }

  @Test func `rotating: a removed worker opens an old copy only`() throws {
    try withWorker { fixture, slot, workerKeyFile in
      let owner = fixture.vault.vault
      let copy = fixture.directory + "/copy.spv"
      try owner.backUp(to: copy)

      let report = try owner.removeSlot(slot)  // the group has a new key
      try owner.compact()  // values that are not kept are no longer in the file

      #expect(report.droppedSlots.isEmpty)
      let unlocking = Unlocking.keyFile(workerKeyFile)
      #expect(code { try Vault.open(at: fixture.vault.path, unlocking: unlocking) } == .credentialRejected)
      #expect(try Vault.open(at: copy, unlocking: unlocking).isLocked == false)
      #expect(try fixture.vault.preferences().string(forKey: "key") == "v")
    }
  }

  @Test func `rotating: a service gets a new key while it works, and no call fails`() async throws {
    let fixture = try Fixture()
    let owner = fixture.vault.vault
    let billing = try await owner.createGroup("billing")
    let (oldKey, newKey) = (try SealingKey(from: .system), try SealingKey(from: .system))
    let oldSlot = try await owner.addSlot(NewSlot(.key(oldKey), label: "billing"), granting: billing)
    let vault = try await Vault.open(at: fixture.vault.path, credential: .key(oldKey))
    let store = try SecretPreferences(service: "com.example.shop", accessGroup: "billing", in: vault)
    try await store.set("0", forKey: "count")

    let load = Load()
    try await withThrowingTaskGroup { group in
      for worker in 0..<3 {
        group.addTask {
          try await load.run(worker) {
            if worker == 0 { try store.set("0", forKey: "count") }
            #expect(try store.string(forKey: "count") == "0")
          }
        }
      }
      group.addTask {
        defer { load.end() }
        try await load.goesOn()
        try add(newKey, to: billing, by: owner)
        try await load.goesOn()

        try await vault.unlock(with: .key(newKey))

        try await load.goesOn()
        try remove(oldSlot, by: owner)
        try await load.goesOn()
      }
      try await group.waitForAll()
    }
    await #expect(throws: VaultError.self) { try await Vault.open(at: fixture.vault.path, credential: .key(oldKey)) }
  }

  private func add(_ newKey: SealingKey, to billing: AccessGroup, by owner: Vault) throws {
    try owner.addSlot(NewSlot(.key(newKey), label: "billing, 2027"), granting: billing)
  }

  private func remove(_ oldSlot: Vault.Identifier, by owner: Vault) throws {
    try owner.removeSlot(oldSlot)
  }

  @Test func `rotating: an owner whose credential is not given loses its slot`() throws {
    let fixture = try Fixture()
    let owner = fixture.vault.vault
    let recoveryCredential = Vault.Credential.key(try SealingKey(from: .system))
    try owner.addSlot(NewSlot(recoveryCredential, label: "recovery"))

    #expect(code { try owner.rotateVault(keeping: [recoveryCredential], droppingOthers: false) } == .conflict)
    let report = try owner.rotateVault(keeping: [recoveryCredential])
    for slot in report.droppedSlots { print("removed: \(slot.label)") }

    #expect(report.droppedSlots.map(\.label) == ["throwaway passphrase"])
    #expect(try Vault.open(at: fixture.vault.path, credential: recoveryCredential).isLocked == false)
    #expect(try fixture.vault.preferences().string(forKey: "key") == "v")
  }

  @Test func `protection: a secret is not printed, and its bytes are lent`() throws {
    let tokens = try ThrowawayVault.current.preferences()
    try tokens.set("ghp_example", forKey: "github")
    var sent = 0
    func send(_ bytes: RawSpan) { sent = bytes.byteCount }

    let token = try tokens.required(PreferenceKey<Secret<String>?>("github"))
    print("using \(token)")  // using <redacted>
    try tokens.withBytes(forKey: "github") { bytes in send(bytes) }  // locked memory, wiped afterwards

    #expect("using \(token)" == "using <redacted>")
    #expect(sent == 11)
  }

  @Test func `protection: with a mark, an older copy is refused`() throws {
    let fixture = try Fixture()
    let (path, markPath) = (fixture.vault.path, fixture.directory + "/vault.mark")
    let unlocking = Unlocking.keyFile(fixture.keyFile)
    let old = try Data(contentsOf: URL(filePath: path))
    try fixture.vault.preferences().set("new", forKey: "key")

    try Vault.open(at: path, unlocking: unlocking).createMark(at: markPath)  // once

    var options = Vault.Options()
    options.markPath = markPath
    let vault = try Vault.open(at: path, unlocking: unlocking, options: options)

    #expect(vault.markFailure == nil)
    try old.write(to: URL(filePath: path), options: [])
    #expect(code { try Vault.open(at: path, unlocking: unlocking, options: options) } == .rolledBack)
    let restored = try Vault.open(at: path, unlocking: unlocking)
    try restored.acceptMark(at: markPath)
    #expect(try Vault.open(at: path, unlocking: unlocking, options: options).isLocked == false)
  }
}
