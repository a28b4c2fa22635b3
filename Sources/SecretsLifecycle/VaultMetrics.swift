#if ServiceLifecycle
  internal import CoreMetrics
  internal import Secrets
  internal import VaultCore

  /// The metrics of a vault, with its name as the dimension `vault`.
  struct VaultMetrics {
    /// What was added to the counters already.
    private var recorded = StorageActivity()
    private let age: Gauge
    private let writes: Counter
    private let retries: Counter
    private let reconnects: Counter

    init(_ name: String, _ factory: any MetricsFactory) {
      let dimensions = [("vault", name)]
      age = Gauge(label: "secretprefs_vault_age_seconds", dimensions: dimensions, factory: factory)
      writes = Counter(label: "secretprefs_vault_writes_total", dimensions: dimensions, factory: factory)
      retries = Counter(label: "secretprefs_vault_retries_total", dimensions: dimensions, factory: factory)
      reconnects = Counter(label: "secretprefs_vault_reconnects_total", dimensions: dimensions, factory: factory)
    }

    /// Records how old the state is, and what the storage has done since the last time.
    mutating func record(_ vault: Vault) {
      age.record(vault.age / .seconds(1))
      guard let activity = vault.storageActivity else { return }
      writes.increment(by: Int64(clamping: activity.writes &- recorded.writes))
      retries.increment(by: Int64(clamping: activity.retries &- recorded.retries))
      reconnects.increment(by: Int64(clamping: activity.reconnects &- recorded.reconnects))
      recorded = activity
    }
  }
#endif
