#if ServiceLifecycle
  import Logging
  import Preferences
  import PreferencesTestSupport
  import Testing

  extension PreferenceKey<Logger.Level?> {
    fileprivate static var auditLevel: Self { .init("log.audit", rawValue: Logger.Level.self) }
  }

  /// The log levels of swift-log as keys, without a conformance of their type.
  struct LogLevelTests {
    @Test(arguments: Logger.Level.allCases) func `a log level is stored as its name`(level: Logger.Level) throws {
      let store = DictionaryPreferences()
      #expect(try store.value(for: .logLevel) == .info)
      #expect(try store.value(for: .auditLevel) == nil)

      try store.set(level, for: .logLevel)
      store[.auditLevel] = level

      #expect(try store.value(for: .logLevel) == level)
      #expect(store[.auditLevel] == level)
      #expect(try store.string(forKey: "log.level") == level.rawValue)
      store[.auditLevel] = nil
      #expect(store.names(of: .plain).map(\.text) == ["log.level"])
    }

    @Test func `a name that is no log level is an error, and a wrapper reads the default`() throws {
      let store = DictionaryPreferences(["log.level": "loud"])
      @StoredPreference(.logLevel, in: store) var level

      #expect(preferencesError { _ = try store.value(for: .logLevel) }?.code == .outOfRange)
      #expect(PreferenceFailures.withHandler({ _ in }) { level } == .info)
    }
  }
#endif
