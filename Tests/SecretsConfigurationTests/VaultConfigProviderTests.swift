#if Configuration
  import Configuration
  import ConfigurationTesting
  import Foundation
  import PreferencesTestSupport
  import Secrets
  import SecretsConfiguration
  import SecretsTesting
  import Synchronization
  import Testing
  import VaultCore

  /// A vault as a provider of swift-configuration.
  @Suite(.throwawayVault) struct VaultConfigProviderTests {}

  extension VaultConfigProviderTests {
    func store(_ service: String = service) throws -> SecretPreferences {
      try ThrowawayVault.current.preferences(service: service)
    }

    /// The code of the error that `body` throws; `nil` if it throws none.
    private func code(_ body: () throws -> Void) -> String? {
      do {
        try body()
        return nil
      } catch let error as VaultError { return error.code.rawValue } catch let error as PreferencesError {
        return error.code.rawValue
      } catch { return "another error" }
    }

    @Test func `the package's own suite passes`() async throws {
      let secrets = try store()
      let (magic, magic2) = (PreferenceValue.data(Data("magic".utf8)), PreferenceValue.data(Data("magic2".utf8)))
      try await secrets.set([
        "string": "Hello", "other.string": "Other Hello", "int": 42, "other.int": 24, "double": 3.14,
        "other.double": 2.72, "bool": true, "other.bool": false, "bytes": magic, "other.bytes": magic2,
        "stringy.array": ["Hello", "World"], "other.stringy.array": ["Hello", "Swift"], "inty.array": [42, 24],
        "other.inty.array": [16, 32], "doubly.array": [3.14, 2.72], "other.doubly.array": [0.9, 1.8],
        "booly.array": [true, false], "other.booly.array": [false, true, true], "byteChunky.array": [magic, magic2],
        "other.byteChunky.array": [magic, magic2, magic],
      ])

      try await ProviderCompatTest(provider: VaultConfigProvider(secrets)).runTest()
    }

    @Test func `a claimed name comes from the vault alone, and others never ask it`() throws {
      let shop = try store("shop")
      try shop.set("sealed", forKey: "database.password")
      try shop.set("not claimed", forKey: "server.host")
      let provider = VaultConfigProvider(shop, claiming: .prefix("database."))
      let later = InMemoryProvider(values: ["database.password": "left behind", "server.host": "plain"])
      let config = ConfigReader(providers: [provider, later])
      #expect(try config.requiredString(forKey: "database.password") == "sealed")
      #expect(try config.requiredString(forKey: "server.host") == "plain")
      #expect(config.snapshot().string(forKey: "server.host") == "plain")

      shop.vault.lock()
      #expect(throws: VaultError.self) { try config.requiredString(forKey: "database.password") }
      #expect(throws: VaultError.self) { try config.snapshot().requiredString(forKey: "database.password") }
      #expect(try config.requiredString(forKey: "server.host") == "plain")
      #expect(try config.snapshot().requiredString(forKey: "server.host") == "plain")
    }

    // MARK: Keys

    @Test func `components are joined by dots, and the context selects a service`() throws {
      let (shop, billing) = (try store("shop"), try store("billing"))
      try shop.set("in shop", forKey: "database.password")
      try billing.set("in billing", forKey: "database.password")
      let provider = VaultConfigProvider(shop, billing)

      func text(_ components: [String], _ context: [String: ConfigContextValue] = [:]) throws -> String? {
        let key = AbsoluteConfigKey(components, context: context)
        let result = try provider.value(forKey: key, type: .string)
        #expect(result.encodedKey == components.joined(separator: "."))
        #expect(try provider.snapshot().value(forKey: key, type: .string) == result)
        guard case .string(let text)? = result.value?.content else { return nil }
        return text
      }

      #expect(try text(["database", "password"]) == "in shop")
      #expect(try text(["database.password"]) == "in shop")
      #expect(try text(["database", "password"], ["service": "billing"]) == "in billing")
      #expect(try text(["database", "password"], ["service": "shop", "region": "eu"]) == "in shop")
      #expect(try text(["password"]) == nil)
      let reader = ConfigReader(provider: provider).scoped(to: "database")
      #expect(try reader.requiredString(forKey: ConfigKey("password", context: ["service": "billing"])) == "in billing")
    }

    @Test(arguments: [
      AbsoluteConfigKey([]), AbsoluteConfigKey(["a\n"]), AbsoluteConfigKey(["a"], context: ["service": "unknown"]),
      AbsoluteConfigKey(["a"], context: ["service": 1]),
    ])
    func `a key that cannot name a record throws`(key: AbsoluteConfigKey) throws {
      let provider = VaultConfigProvider(try store())

      #expect(code { _ = try provider.value(forKey: key, type: .string) } == "invalidKey")
      #expect(code { _ = try provider.snapshot().value(forKey: key, type: .string) } == "invalidKey")
    }

    // MARK: Types

    @Test func `a value of a different type throws, and exact numbers convert`() throws {
      let secrets = try store()
      try secrets.set(["text": "5", "number": 5, "fraction": 0.5, "mixed": ["a", 1]])
      let provider = VaultConfigProvider(secrets)

      for reader in [provider.value, provider.snapshot().value] {
        #expect(try reader("number", .double).value?.content == .double(5))
        #expect(try reader("text", .int).value?.content == .int(5))
        #expect(try reader("text", .intArray).value?.content == .intArray([5]))
        #expect(code { _ = try reader("text", .bytes) } == "typeMismatch")
        #expect(code { _ = try reader("number", .string) } == "typeMismatch")
        #expect(code { _ = try reader("fraction", .int) } != nil)
        #expect(code { _ = try reader("mixed", .stringArray) } == "typeMismatch")
      }
    }

    // MARK: Secrecy

    @Test func `no description, report or error shows a value`() async throws {
      let secrets = try store()
      try await secrets.set([
        "token": .string(sentinel), "data": .data(Data(sentinel.utf8)), "list": [.string(sentinel)],
      ])
      let reporter = CollectingReporter()
      let provider = VaultConfigProvider(secrets)
      let reader = ConfigReader(provider: provider, accessReporter: reporter)
      var shown = ["\(provider)", dumped(provider), provider.providerName, "\(reader)"]

      for type in [ConfigType.string, .bytes, .stringArray, .int] {
        for key in ["token", "data", "list"] as [AbsoluteConfigKey] {
          shown.append("\(Result { try provider.value(forKey: key, type: type) })")
          shown.append("\(Result { try provider.snapshot().value(forKey: key, type: type) })")
        }
      }
      shown += ["\(provider.snapshot())", dumped(provider.snapshot())]
      #expect(reader.string(forKey: "token") == sentinel)
      #expect(reader.int(forKey: "token", default: 1) == 1)
      #expect(reader.bytes(forKey: "data")?.count == sentinel.utf8.count)
      #expect(reader.stringArray(forKey: "list") == [sentinel])
      #expect(try await reader.fetchString(forKey: "token") == sentinel)
      #expect(reader.snapshot().string(forKey: "token") == sentinel)
      #expect(throws: (any Error).self) { try reader.requiredInt(forKey: "token") }
      try await reader.watchString(forKey: "token") { updates in
        for try await text in updates {
          #expect(text == sentinel)
          break
        }
      }

      #expect(reporter.text.contains("<REDACTED>"))
      for text in shown + [reporter.text] {
        #expect(!text.contains(sentinel))
        #expect(!text.contains(Data(sentinel.utf8).prefix(4).map { String($0, radix: 16) }.joined()))
      }
    }

    @Test(arguments: ["fetch", "watch a value", "watch a snapshot"])
    func `what waits for the log blocks no cooperative thread`(_ way: String) async throws {
      var options = Vault.Options()
      options.lockTimeout = .seconds(600)
      let throwaway = try ThrowawayVault(options: options)
      let store = try throwaway.preferences(service: service)
      try await store.set("value", forKey: "token")
      try await throwaway.vault.setAuditing(.failClosed)
      _ = try store.value(forKey: "token")
      let provider = VaultConfigProvider(store)
      try await HeldLog.withCalls(beside: throwaway.path) { _ in
        switch way {
        case "fetch": #expect(try await provider.fetchValue(forKey: "token", type: .string).value != nil)
        case "watch a value":
          let first = try await provider.watchValue(forKey: "token", type: .string) { updates in
            var iterator = updates.makeAsyncIterator()
            return await iterator.next(isolation: #isolation)
          }
          #expect(try first?.get().value != nil)
        default:
          let first = try await provider.watchSnapshot { updates in
            var iterator = updates.makeAsyncIterator()
            return await iterator.next(isolation: #isolation)
          }
          #expect(first != nil)
        }
      }
    }

    // MARK: Failures

    @Test func `a locked vault throws, and no later provider is used`() async throws {
      let secrets = try store()
      try await secrets.set("from the vault", forKey: "token")
      let provider = VaultConfigProvider(secrets)
      let reporter = CollectingReporter()
      let reader = ConfigReader(
        providers: [provider, InMemoryProvider(values: ["token": "fallback", "other": "fallback"])],
        accessReporter: reporter)
      #expect(try reader.requiredString(forKey: "token") == "from the vault")
      #expect(try reader.requiredString(forKey: "other") == "fallback")

      secrets.vault.lock()

      for key in ["token", "other"] as [AbsoluteConfigKey] {
        #expect(code { _ = try provider.value(forKey: key, type: .string) } == "locked")
        #expect(code { _ = try provider.snapshot().value(forKey: key, type: .string) } == "locked")
        let first = try await provider.watchValue(forKey: key, type: .string) { updates in
          var iterator = updates.makeAsyncIterator()
          return await iterator.next(isolation: #isolation)
        }
        #expect(code { _ = try first?.get() } == "locked")
      }
      #expect(code { _ = try reader.requiredString(forKey: "token") } == "locked")
      await #expect(throws: VaultError.self) { try await reader.fetchRequiredString(forKey: "other") }
      // What the documentation warns of: the getters that cannot throw return nil or the default.
      #expect(reader.string(forKey: "token") == nil)
      #expect(reader.string(forKey: "token", default: "default") == "default")
      #expect(reporter.text.contains("the vault is locked"))
    }

    @Test func `a vault that was deleted is not an absent value`() throws {
      let provider = VaultConfigProvider(try store())
      try FileManager.default.removeItem(atPath: ThrowawayVault.current.path)

      #expect(code { _ = try provider.value(forKey: "token", type: .string) } == "notFound")
      #expect(code { _ = try provider.snapshot().value(forKey: "token", type: .string) } == "notFound")
    }

    @Test func `a value that cannot be read does not hide the others in a snapshot`() throws {
      let throwaway = ThrowawayVault.current
      try throwaway.vault.transaction(service: Vault.Name(service), in: throwaway.vault.group()) {
        batch throws(VaultError) in
        try batch.set("a".utf8Span.span.bytes, kind: .string, forKey: "expired")
        var edit = RecordEdit()
        edit.expiry = .set(1)
        try batch.edit("expired", edit)
        try batch.set("b".utf8Span.span.bytes, kind: .string, forKey: "valid")
      }
      var options = Vault.Options()
      options.expiredRecords = .refuse
      let vault = try throwaway.reopened(options: options)
      let provider = VaultConfigProvider(try SecretPreferences(service: service, in: vault))

      #expect(code { _ = try provider.value(forKey: "expired", type: .string) } == "expired")
      let snapshot = provider.snapshot()
      #expect(code { _ = try snapshot.string("expired") } == "expired")
      #expect(try snapshot.string("valid") == "b")
    }

    @Test func `building opens the vault, and fails there`() async throws {
      let throwaway = ThrowawayVault.current
      try await store().set("hello", forKey: "token")

      let provider = try await VaultConfigProvider(service: service, at: throwaway.path, unlocking: .key(throwaway.key))
      #expect(try provider.snapshot().string("token") == "hello")
      let wrong = try SealingKey(from: .system)
      for (group, path, key, expected) in [
        ("default", throwaway.path, wrong, VaultError.Code.credentialRejected),
        ("billing", throwaway.path, throwaway.key, .groupNotGranted),
        ("default", throwaway.path + ".none", throwaway.key, .notFound),
      ] {
        let error = await #expect(throws: VaultError.self) {
          try await VaultConfigProvider(service: service, accessGroup: group, at: path, unlocking: .key(key))
        }
        #expect(error?.code == expected)
      }
    }

    // MARK: Changes

    // MARK: Snapshots

    @Test func `a snapshot keeps its values`() throws {
      let secrets = try store()
      try secrets.set(["user": "ann", "password": "1"])
      let snapshot = VaultConfigProvider(secrets).snapshot()

      try secrets.set(["user": "bob", "password": "2"])
      try secrets.removeValue(forKey: "user")
      try secrets.set("new", forKey: "other")

      #expect(try snapshot.string("user") == "ann")
      #expect(try snapshot.string("password") == "1")
      #expect(try snapshot.string("other") == nil)
    }

    @Test func `a snapshot mixes no two writes`() async throws {
      let secrets = try store()
      let writer = try SecretPreferences(service: service, in: try ThrowawayVault.current.reopened())
      let keys = (0..<20).map { "key\($0)" }
      func write(_ number: Int) throws {
        try writer.set(Dictionary(uniqueKeysWithValues: keys.map { ($0, PreferenceValue.string("\(number)")) }))
      }
      var seen: Set<String> = []
      func look() throws {
        let snapshot = VaultConfigProvider(secrets).snapshot()
        let texts = Set(try keys.map { try #require(try snapshot.string(AbsoluteConfigKey([$0]))) })
        #expect(texts.count == 1)
        seen.formUnion(texts)
      }
      try write(0)
      try look()
      let isDone = Mutex(false)
      let writing = Task {
        for number in 1...200 { try write(number) }
        isDone.withLock { $0 = true }
      }

      while !isDone.withLock({ $0 }) {
        try look()
        await Task.yield()
      }

      try await writing.value
      try look()
      #expect(seen.isSuperset(of: ["0", "200"]))
    }
  }
#endif
