#if ServiceLifecycle
  public import CoreMetrics
  public import Logging
  internal import Preferences
  public import Secrets
  public import ServiceLifecycle
  internal import VaultCore

  /// A vault in a `ServiceGroup`: unlocked while the group runs, and locked when it ends.
  ///
  /// ```swift
  /// let vaultService = VaultService(secrets, unlocking: unlocking, logger: logger) {
  ///   try await database.use(secrets.required(.databasePassword))
  /// }
  /// let group = ServiceGroup(
  ///   services: [vaultService, database, server], gracefulShutdownSignals: [.sigterm], logger: logger)
  /// ```
  ///
  /// **Start.** Unlocks the vault if it is locked, verifies it as ``Vault/health()`` does and calls `reload`. If one of
  /// these fails, ``run()`` throws the error, which ends the group. A group starts its services at the same time and
  /// waits for none of them, so open the vault before you create the group: then every service can read it from its
  /// first line on, and a missing key stops the program before any service has started.
  ///
  /// **Changes.** `reload` is called again after each change of a granted access group, by this process or any other,
  /// and never twice at the same time. Changes during a call lead to one more call. If it throws, the failure is logged
  /// and `reload` is called again at the next check.
  ///
  /// **Keys.** If the vault no longer opens with its key, because the slot was replaced or removed, the service unlocks
  /// it with the credential that `unlocking` finds then, and tries again at the next regular check if that fails. This
  /// restarts no limit of the vault. A vault that was locked, by `Vault.lock()` or a limit, also while the service
  /// looks for the credential, stays locked until the program unlocks it.
  ///
  /// **Shutdown.** The vault is locked when ``run()`` returns or throws. A group shuts down in reverse order, so a
  /// service that is listed after this one can read secrets until it has ended. If the group is cancelled instead, all
  /// services end at the same time.
  ///
  /// **Metrics** of swift-metrics are recorded at each check, with the dimension `vault`: the gauge
  /// `secretprefs_vault_age_seconds`, which says how long ago the place of the vault confirmed the state that reads
  /// see, and the counters `secretprefs_vault_writes_total`, `secretprefs_vault_retries_total` and
  /// `secretprefs_vault_reconnects_total` (``StorageActivity``), which stay at zero unless the vault is in a database.
  ///
  /// Each change of ``Vault/health()`` is logged once. No line contains a value, a credential or the name of a record.
  public struct VaultService: Service {
    private let secrets: SecretPreferences
    private let unlocking: Unlocking
    private let interval: Duration
    private let logger: Logger
    private let metrics: any MetricsFactory
    private let reload: @Sendable () async throws -> Void

    private var vault: Vault { secrets.vault }

    /// Creates the service of the vault that holds `secrets`. A vault needs only one.
    ///
    /// - Parameters:
    ///   - unlocking: finds the credential, at the start and whenever the vault has to be unlocked again.
    ///   - interval: the time between two checks. Changes of the service of `secrets` on a local file system are
    ///     noticed at once, and a check finds the rest: changes of other services and groups, a vault that was locked,
    ///     and changes that the system does not report.
    ///   - metrics: gets the metrics; by default those of the program.
    ///   - reload: applies the secrets, for example to a pool of connections. An error that it throws is logged with
    ///     its type alone, unless it is one of this package.
    public init(
      _ secrets: SecretPreferences, unlocking: Unlocking = .automatic, checkingEvery interval: Duration = .seconds(30),
      logger: Logger, metrics: any MetricsFactory = MetricsSystem.factory,
      reload: @escaping @Sendable () async throws -> Void = {}
    ) {
      self.secrets = secrets
      self.unlocking = unlocking
      self.interval = interval
      var logger = logger
      logger[metadataKey: "vault"] = "\(secrets.name)"
      self.logger = logger
      self.metrics = metrics
      self.reload = reload
    }

    /// Runs until the group shuts down or is cancelled, and then locks the vault.
    ///
    /// - Throws: ``VaultError`` if the vault cannot be unlocked or read at the start; the error of the first `reload`.
    public func run() async throws {
      defer {
        vault.lock()
        logger.info("The vault was locked")
      }
      try await cancelWhenGracefulShutdown {
        // A client that is cancelled may throw an error of its own.
        do { try await serve() } catch _ where Task.isCancelled {}
      }
    }

    /// Why the vault is checked.
    private enum Wake { case regular, notice }

    private func serve() async throws {
      // One pending wake is sufficient, because each check examines everything.
      let (wakes, wake) = AsyncStream.makeStream(of: Wake.self, bufferingPolicy: .bufferingNewest(1))
      let observation = secrets.observe { _ in
        // A regular wake does more than a notice, so a notice must not take its place.
        if case .dropped(.regular) = wake.yield(.notice) { wake.yield(.regular) }
      }
      defer { observation.invalidate() }
      var seen = Seen(metrics: VaultMetrics(secrets.name, metrics))
      try await start(&seen)
      async let _ = wakeRegularly(wake)
      seen.metrics.record(vault)
      for await wake in wakes {
        await check(&seen, at: wake)
        seen.metrics.record(vault)
      }
    }

    private func wakeRegularly(_ wake: AsyncStream<Wake>.Continuation) async {
      while !Task.isCancelled {
        // Throws only if the task is cancelled.
        do { try await Task.sleep(for: interval) } catch { return }
        wake.yield(.regular)
      }
    }

    // MARK: Checks

    private struct Seen {
      var metrics: VaultMetrics
      /// The health that was logged last.
      var health = ""
      /// The content of the granted groups for which `reload` last succeeded.
      var content: [Vault.Tag] = []
      /// Why the vault could not be unlocked again. Only a regular check tries again: each write of another process is
      /// a notice, and must not stretch the passphrase once more.
      var refusal: VaultError?
    }

    private func start(_ seen: inout Seen) async throws {
      if vault.isLocked { try await unlock() }
      let health = await health(&seen, at: .regular)
      switch health {
      case .ready(let status), .degraded(let status, _):
        logger.info(
          "The vault is unlocked",
          metadata: [
            "vault.id": "\(status.vaultID)", "vault.isOwner": "\(status.isOwner)",
            "vault.groups": "\(status.groups.count)",
          ])
        try await reload()
        if case .degraded = health { log(health) }
        seen.health = "\(health)"
        seen.content = status.content
      case .locked: throw VaultError(.locked, "the vault was locked while its service started")
      case .failing(let error): throw error
      }
    }

    private func check(_ seen: inout Seen, at wake: Wake) async {
      let health = await health(&seen, at: wake)
      if "\(health)" != seen.health {
        seen.health = "\(health)"
        log(health)
      }
      guard let status = health.status, status.content != seen.content else { return }
      do {
        try await reload()
        seen.content = status.content
        logger.debug("The secrets were reloaded")
      } catch _ where Task.isCancelled {} catch {
        logger.error("The secrets could not be reloaded", metadata: error.metadata())
      }
    }

    /// Returns the health of the vault. If only its key no longer opens it, unlocks it again first, unless it is locked
    /// meanwhile.
    private func health(_ seen: inout Seen, at wake: Wake) async -> VaultHealth {
      let health = await secrets.reading { $0.vault.health() }
      guard case .failing(let error) = health, [.credentialRejected, .staleCredential].contains(error.code) else {
        seen.refusal = nil
        return health
      }
      if wake == .notice, let refusal = seen.refusal { return .failing(refusal) }
      do throws(VaultError) { try await unlockAgain() } catch {
        seen.refusal = error
        return .failing(error)
      }
      seen.refusal = nil
      return await secrets.reading { $0.vault.health() }
    }

    private func unlock() async throws(VaultError) {
      try await vault.unlock(unlocking)
      logUnlocking()
    }

    private func unlockAgain() async throws(VaultError) {
      if try await vault.unlockAgain(unlocking) { logUnlocking() }
    }

    private func logUnlocking() { logger.notice("The vault was unlocked with its present key") }

    private func log(_ health: VaultHealth) {
      switch health {
      case .ready: logger.notice("The vault is ready again")
      case .degraded(_, let error):
        logger.warning("The vault can be read, but has a problem", metadata: error.metadata())
      case .locked: logger.warning("The vault is locked")
      case .failing(let error): logger.error("The vault cannot be read", metadata: error.metadata())
      }
    }
  }

  extension VaultService: CustomStringConvertible, CustomReflectable {
    /// `VaultService[vault SERVICE/GROUP]`. No key and no value.
    public var description: String { "VaultService[\(secrets.name)]" }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
  }

  extension VaultStatus {
    /// Differs if any granted group was written.
    fileprivate var content: [Vault.Tag] { groups.map(\.tag) }
  }
#endif
