#if Configuration
  import Configuration
  import Foundation
  import Preferences
  import PreferencesTestSupport
  import Secrets
  import SecretsConfiguration
  import SecretsTesting
  import Synchronization
  import Testing

  extension PreferenceKey<Int> {
    fileprivate static var port: Self { .init("server.port", default: 80) }
  }

  /// A provider of swift-configuration as a layer.
  struct ConfigProviderPreferencesTests {
    private let environment = ConfigProviderPreferences(
      EnvironmentVariablesProvider(environmentVariables: [
        "SERVER_PORT": "8080", "RATIO": "0.5", "IS_ON": "yes", "BYTES": "AQI=", "SITE": "https://example.com/",
        "START": "2026-01-02T03:04:05Z", "HOSTS": "a,b", "COUNT": "many",
      ]))
    private let memory = ConfigProviderPreferences(
      InMemoryProvider(values: [
        "text": "a", "port": 8080, "ratio": 0.5, "on": true, "bytes": ConfigValue(.bytes([1, 2]), isSecret: false),
        "numbers": ConfigValue(.intArray([1, 2]), isSecret: false),
        "flags": ConfigValue(.boolArray([true]), isSecret: false),
        "chunks": ConfigValue(.byteChunkArray([[1]]), isSecret: false),
      ]))
    private let marked = InMemoryProvider(
      name: "marked", values: ["password": ConfigValue(.string(sentinel), isSecret: true), "user": "ann"])
  }

  extension ConfigProviderPreferencesTests {
    @Test func `lists, structs and elements of lists are parsed from text`() throws {
      struct Server: Codable, Equatable, Sendable { var host: String; var ports: [Int] }
      let layer = ConfigProviderPreferences(
        EnvironmentVariablesProvider(environmentVariables: [
          "PORTS": "80, 8080", "FLAGS": "yes,no", "SHARES": "0.5,1", "LINKS": "https://a,https://b",
          "SERVER": #"{"host": "x", "ports": [1]}"#, "BROKEN": "x",
        ]))
      #expect(try layer.value(forKey: "ports", as: [Int].self) == [80, 8080])
      #expect(try layer.value(forKey: "flags", as: [Bool].self) == [true, false])
      #expect(try layer.value(forKey: "shares", as: [Double].self) == [0.5, 1])
      #expect(try layer.value(forKey: "links", as: [URL].self)?.count == 2)
      #expect(try layer.value(forKey: "ports", decoding: [Int].self) == [80, 8080])
      let server = PreferenceKey<Server>.codable("server", default: Server(host: "", ports: []))
      #expect(try layer.value(for: server) == Server(host: "x", ports: [1]))
      let broken = PreferenceKey<Server>.codable("broken", default: Server(host: "", ports: []))
      #expect(preferencesError { _ = try layer.value(for: broken) }?.code == .typeMismatch)
    }

    @Test func `text is returned as the kind that is wanted`() throws {
      #expect(try environment.value(for: .port) == 8080)
      #expect(try environment.value(for: PreferenceQuery("ratio", as: .double)) == 0.5)
      #expect(try environment.value(for: PreferenceQuery("isOn", as: .bool)) == true)
      #expect(try environment.value(for: PreferenceQuery("bytes", as: .data)) == .data(Data([1, 2])))
      #expect(try environment.value(for: PreferenceKey<URL?>("site"))?.host() == "example.com")
      #expect(try environment.value(for: PreferenceKey<Date?>("start"))?.timeIntervalSince1970 == 1_767_323_045)
      #expect(try environment.value(for: PreferenceKey<[String]>("hosts", default: [])) == ["a", "b"])
      #expect(try environment.value(forKey: "server.port") == "8080")
    }

    /// A value of each kind, as text and as a provider in memory has it, and what is returned.
    private func samples() throws -> [(text: String, content: ConfigContent, value: PreferenceValue)] {
      let url = try #require(URL(string: "https://example.com/?a=b"))
      let (date, whole) = ("2026-01-02T03:04:05Z", "\(UInt64.max)")
      let largest = Double.greatestFiniteMagnitude
      return [
        ("a", .string("a"), .string("a")), ("AP8=", .bytes([0, 255]), .data(Data([0, 255]))),
        ("off", .bool(false), .bool(false)), ("\(Int64.min)", .int(.min), .integer(.min)),
        (whole, .string(whole), .unsignedInteger(.max)), ("\(largest)", .double(largest), .double(largest)),
        (date, .string(date), .date(Date(timeIntervalSince1970: 1_767_323_045))),
        (url.absoluteString, .string(url.absoluteString), .url(url)),
        ("a,b", .stringArray(["a", "b"]), .array(["a", "b"])),
        (#"{"a": "b"}"#, .string(#"{"a": "b"}"#), .dictionary(["a": "b"])),
      ]
    }

    @Test func `a value of each kind is returned, however large`() throws {
      let samples = try samples()
      #expect(samples.map { $0.value.kind } == PreferenceValue.Kind.allCases)
      for (text, content, value) in samples {
        let query = try PreferenceQuery("value", as: value.kind)
        let environment = EnvironmentVariablesProvider(environmentVariables: ["VALUE": text])
        let memory = InMemoryProvider(values: ["value": ConfigValue(content, isSecret: false)])
        #expect(try ConfigProviderPreferences(environment).value(for: query) == value)
        #expect(try ConfigProviderPreferences(memory).value(for: query) == value)
      }
    }

    @Test func `data is decoded by the provider alone`() throws {
      // A wrong digit of this text is one of Base64.
      let provider = EnvironmentVariablesProvider(environmentVariables: ["KEY": "deadbeeG"], bytesDecoder: .hex)
      let query = try PreferenceQuery("key", as: .data)
      #expect(
        preferencesError { _ = try ConfigProviderPreferences(provider).value(for: query) }?.code == .typeMismatch)
    }

    @Test func `a whole number is a number`() throws {
      let layer = ConfigProviderPreferences(InMemoryProvider(values: ["ratio": 1]))
      #expect(try layer.value(for: PreferenceKey("ratio", default: 0.5)) == 1)
    }

    @Test func `typed values are returned as they are`() throws {
      #expect(try memory.value(forKey: "text") == "a")
      #expect(try memory.value(forKey: "port") == 8080)
      #expect(try memory.value(forKey: "ratio") == 0.5)
      #expect(try memory.value(forKey: "on") == true)
      #expect(try memory.value(forKey: "bytes") == .data(Data([1, 2])))
      #expect(try memory.value(for: PreferenceKey<[Int]>("numbers", default: [])) == [1, 2])
      #expect(try memory.value(for: PreferenceKey<[Bool]>("flags", default: [])) == [true])
      #expect(try memory.value(forKey: "chunks") == [.data(Data([1]))])
      #expect(try memory.contains("port"))
    }

    @Test(arguments: PreferenceValue.Kind.allCases)
    func `what the provider lacks is absent`(kind: PreferenceValue.Kind) throws {
      #expect(try environment.value(for: PreferenceQuery("absent", as: kind)) == nil)
      #expect(try memory.value(for: PreferenceQuery("absent", as: kind)) == nil)
      #expect(try !memory.contains("absent"))
    }

    @Test func `a value of a different type is an error, and no lower layer is used`() throws {
      let layers = CompositePreferences([environment, DictionaryPreferences(["count": 1, "site": "x"])])
      #expect(preferencesError { _ = try environment.integer(forKey: "count") }?.code == .typeMismatch)
      #expect(preferencesError { _ = try environment.date(forKey: "count") }?.code == .typeMismatch)
      #expect(preferencesError { _ = try memory.bool(forKey: "text") }?.code == .typeMismatch)
      #expect(
        preferencesError { _ = try layers.value(for: PreferenceKey<Int>("count", default: 2)) }?.code == .typeMismatch)
      #expect(preferencesError { _ = try memory.bool(forKey: "text") }?.message.contains("\"a\"") == false)
    }

    @Test func `a provider that fails ends the lookup`() throws {
      let provider = FailingProvider(["server.port": 8080])
      let layer = ConfigProviderPreferences(provider)
      let layers = CompositePreferences([layer, DictionaryPreferences(["server.port": 1])])
      #expect(try layers.value(for: .port) == 8080)

      provider.fail()

      #expect(throws: FailingProvider.Failure.self) { try layer.value(for: .port) }
      #expect(throws: FailingProvider.Failure.self) { try layer.value(forKey: "server.port") }
      let error = preferencesError { _ = try layers.value(for: .port) }
      #expect(error?.code == .unavailable)
      #expect(error?.cause is FailingProvider.Failure)
    }

    @Test func `names cannot be listed`() throws {
      #expect(try memory.keys() == [])
      #expect(memory.names(of: .plain) == [])
    }

    // MARK: Secrets

    @Test func `a plain layer returns no value that is marked as secret`() throws {
      let layer = ConfigProviderPreferences(marked)
      let layers = CompositePreferences([layer, DictionaryPreferences(["password": "default"])])

      #expect(try layer.value(forKey: "user") == "ann")
      let error = preferencesError { _ = try layer.value(forKey: "password") }
      #expect(error?.code == .unavailable)
      #expect(error?.description.contains(sentinel) == false)
      #expect(preferencesError { _ = try layers.value(forKey: "password") }?.code == .unavailable)
      #expect(try layers.value(for: PreferenceKey<Secret<String>?>("password")) == nil)
    }

    @Test func `a layer of secrets answers what it claims, with or without the mark`() throws {
      let layer = ConfigProviderPreferences(marked, secrecy: .secret)
      let layers = CompositePreferences([
        layer.claiming(.names(["password"])), DictionaryPreferences(["user": "plain"]),
      ])

      let password = try layers.value(for: PreferenceKey<Secret<String>?>("password"))
      #expect(try password?.withValue { $0 } == sentinel)
      #expect(try layers.value(forKey: "password") == .string(sentinel))
      #expect(try layers.value(forKey: "user") == "plain")
      #expect(try layer.value(forKey: "user") == "ann")
      for text in ["\(layer)", dumped(layer), "\(layers)", "\(try layers.explain("password"))"] {
        #expect(!text.contains(sentinel))
      }
    }

    @Test(.throwawayVault) func `a vault goes through both directions`() throws {
      let secrets = try ThrowawayVault.current.preferences()
      try secrets.set(sentinel, forKey: "token")
      let provider = VaultConfigProvider(secrets)

      let back = ConfigProviderPreferences(provider, secrecy: .secret)
      #expect(try back.value(forKey: "token") == .string(sentinel))
      #expect(
        preferencesError { _ = try ConfigProviderPreferences(provider).value(forKey: "token") }?.code == .unavailable)
      secrets.vault.lock()
      #expect(throws: VaultError.self) { try back.value(forKey: "token") }
    }

    // MARK: Changes

    @Test func `changes of the provider reach observers`() async throws {
      let provider = MutableInMemoryProvider(initialValues: ["server.port": 1])
      let layers = CompositePreferences([ConfigProviderPreferences(provider), DictionaryPreferences()])
      var iterator = layers.updates(for: .port).makeAsyncIterator()
      #expect(await iterator.next() == 1)

      provider.setValue(2, forKey: "server.port")
      #expect(await iterator.next() == 2)
      provider.setValue(nil, forKey: "server.port")
      #expect(await iterator.next() == 80)
    }

    @Test func `an observation that has ended is not notified, and ends the watch`() async throws {
      let provider = MutableInMemoryProvider(initialValues: ["server.port": 1])
      let layer = ConfigProviderPreferences(provider)
      let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
      let observation = layer.observe { _ in continuation.yield() }
      for await _ in changes { break }
      #expect("\(provider)".contains("1 watchers"))

      observation.invalidate()

      while !"\(provider)".contains("0 watchers") { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test func `a provider that cannot be watched is reported`() async throws {
      let (failures, continuation) = AsyncStream.makeStream(of: String.self)
      let layer = ConfigProviderPreferences(FailingProvider([:]))

      let observation = PreferenceFailures.withHandler({ continuation.yield("\($0.key) \($0.reader)") }) {
        layer.observe { _ in }
      }

      var iterator = failures.makeAsyncIterator()
      #expect(await iterator.next() == "* configuration FailingProvider")
      observation.invalidate()
    }
  }
#endif
