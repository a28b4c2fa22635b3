#if Configuration
  import Configuration
  import Preferences
  import Secrets
  import SecretsTesting
  import Synchronization

  let service = "com.example.test"

  /// Collects what swift-configuration reports of each access.
  final class CollectingReporter: AccessReporter {
    private let lines = Mutex<[String]>([])
    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    func report(_ event: AccessEvent) {
      let results = event.providerResults.map { "\($0.providerName): \($0.result)" }
      lines.withLock { $0 += ["\(event)", "\(event.result)", "\(event.conversionError, default: "-")"] + results }
    }
  }

  /// A provider that fails after it was told to.
  final class FailingProvider: ConfigProvider {
    struct Failure: Error {}
    private let base: InMemoryProvider
    private let fails = Mutex(false)

    init(_ values: [AbsoluteConfigKey: ConfigValue]) { base = InMemoryProvider(values: values) }

    func fail() { fails.withLock { $0 = true } }

    var providerName: String { "FailingProvider" }

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
      if fails.withLock({ $0 }) { throw Failure() }
      return try base.value(forKey: key, type: type)
    }

    func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
      try value(forKey: key, type: type)
    }

    func watchValue<Return: ~Copyable>(
      forKey key: AbsoluteConfigKey, type: ConfigType,
      updatesHandler: (ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>) async throws -> Return
    ) async throws -> Return { throw Failure() }

    func snapshot() -> any ConfigSnapshot { base.snapshot() }

    func watchSnapshot<Return: ~Copyable>(
      updatesHandler: (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
    ) async throws -> Return { throw Failure() }
  }

  extension ConfigSnapshot {
    func string(_ key: AbsoluteConfigKey) throws -> String? {
      guard case .string(let text)? = try value(forKey: key, type: .string).value?.content else { return nil }
      return text
    }
  }
#endif
