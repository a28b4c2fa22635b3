#if ServiceLifecycle
  import CoreMetrics
  import Logging
  import MetricsTestKit
  import PreferencesTestSupport
  import Secrets
  import SecretsLifecycle
  import Synchronization
  import Testing
  import VaultCore
  import VaultSealing

  /// What the service of a vault records for metrics.
  struct VaultMetricsTests {
    /// A place that counts, and confirms its state when the test says so.
    private final class Counted: VaultStorage {
      private let base = MemoryStorage()
      let state = Mutex((activity: StorageActivity(), age: Duration.zero))

      var name: String { base.name }
      var age: Duration { state.withLock(\.age) }
      var activity: StorageActivity? { state.withLock(\.activity) }
      func load(limit: Int) throws(VaultError) -> StoredVault { try base.load(limit: limit) }
      func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
        try base.changes(since: position, limit: limit)
      }
      func lock(until deadline: LockDeadline) throws(VaultError) -> any LockedStorage { try base.lock(until: deadline) }
      func create(_ bytes: [UInt8]) throws(VaultError) -> (storage: any LockedStorage, version: any StorageVersion) {
        try base.create(bytes)
      }
    }

    private func running(
      over storage: any VaultStorage, _ metrics: TestMetrics, _ body: () async throws -> Void
    ) async throws {
      let key = try SealingKey(from: .system)
      let vault = try await Vault.create(in: storage, slots: [NewSlot(.key(key))])
      let service = VaultService(
        try SecretPreferences(service: "com.example.shop", in: vault), unlocking: .key(key),
        checkingEvery: .milliseconds(20), logger: Journal().logger, metrics: metrics)
      try await SecretsLifecycleTests.running(service, body: body)
    }

    @Test func `the age of the state and what the storage did are recorded at each check`() async throws {
      let (storage, metrics) = (Counted(), TestMetrics())
      try await running(over: storage, metrics) {
        storage.state.withLock { $0 = (StorageActivity(writes: 3, retries: 2, reconnects: 1), .seconds(7)) }
        let vault = [("vault", "vault com.example.shop/default")]
        func total(_ name: String) throws -> Int64 {
          try metrics.expectCounter("secretprefs_vault_\(name)_total", vault).totalValue
        }
        try await until { (try? total("reconnects")) == 1 }
        #expect(try total("writes") == 3 && total("retries") == 2)
        #expect(try metrics.expectGauge("secretprefs_vault_age_seconds", vault).lastValue == 7)
        storage.state.withLock { $0 = (StorageActivity(writes: 5, retries: 2, reconnects: 1), .zero) }
        try await until { (try? total("writes")) == 5 }
        #expect(try total("retries") == 2 && total("reconnects") == 1)
      }
    }

    @Test func `a storage that counts nothing leaves the counters at zero`() async throws {
      let metrics = TestMetrics()
      try await running(over: MemoryStorage(), metrics) {
        let vault = [("vault", "vault com.example.shop/default")]
        try await until { (try? metrics.expectGauge("secretprefs_vault_age_seconds", vault).lastValue) == 0 }
        #expect(try metrics.expectCounter("secretprefs_vault_writes_total", vault).values.isEmpty)
      }
    }
  }
#endif
