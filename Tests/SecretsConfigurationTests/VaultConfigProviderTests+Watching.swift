#if Configuration
  import Configuration
  import Foundation
  import PreferencesTestSupport
  import Secrets
  import SecretsConfiguration
  import SecretsTesting
  import Synchronization
  import Testing
  import VaultCore

  extension VaultConfigProviderTests {
    @Test func `a watched value follows the writes of another handle`() async throws {
      let secrets = try store()
      let writer = try SecretPreferences(service: service, in: try ThrowawayVault.current.reopened())
      try await writer.set("1", forKey: "token")

      try await VaultConfigProvider(secrets).watchValue(forKey: "token", type: .string) { updates in
        var iterator = updates.makeAsyncIterator()
        func next() async throws -> ConfigContent? {
          try await iterator.next(isolation: #isolation)?.get().value?.content
        }

        #expect(try await next() == .string("1"))
        try await writer.set("2", forKey: "token")
        #expect(try await next() == .string("2"))
        try await writer.set(3, forKey: "token")
        let wrong = await iterator.next(isolation: #isolation)
        #expect(throws: PreferencesError.self) { try wrong?.get() }
        try await secrets.removeValue(forKey: "token")
        #expect(try await next() == nil)
        try await writer.set("4", forKey: "token")
        #expect(try await next() == .string("4"))
      }
    }

    @Test func `a watched value has no element for a write that does not change it`() async throws {
      let secrets = try store()
      try await secrets.set("1", forKey: "token")
      let provider = VaultConfigProvider(secrets)
      let (begun, begins) = AsyncStream.makeStream(of: Void.self)
      let watch = Task {
        try await provider.watchValue(forKey: "token", type: .string) { updates in
          var seen: [ConfigContent?] = []
          for try await update in updates {
            seen.append(try update.get().value?.content)
            begins.yield()
            if seen.last == .string("2") { break }
          }
          return seen
        }
      }
      for await _ in begun { break }

      for number in 0..<50 {
        try await secrets.set("1", forKey: "token")
        try await secrets.set(.integer(Int64(number)), forKey: "another")
      }
      try await secrets.set("2", forKey: "token")

      #expect(try await watch.value == [.string("1"), .string("2")])
    }

    @Test func `a watched snapshot follows the writes of another handle in each service`() async throws {
      let (shop, billing) = (try store("shop"), try store("billing"))
      let vault = try ThrowawayVault.current.reopened()

      try await VaultConfigProvider(shop, billing).watchSnapshot { snapshots in
        var iterator = snapshots.makeAsyncIterator()
        /// The first snapshot in which the key has this text.
        func reaches(_ wanted: String, _ key: AbsoluteConfigKey) async throws {
          while let snapshot = await iterator.next(isolation: #isolation) {
            if try snapshot.string(key) == wanted { return }
          }
          Issue.record("the snapshots have ended")
        }

        #expect(try await iterator.next(isolation: #isolation)?.string("token") == nil)
        try await SecretPreferences(service: "shop", in: vault).set("1", forKey: "token")
        try await reaches("1", "token")
        try await SecretPreferences(service: "billing", in: vault).set("2", forKey: "token")
        try await reaches("2", AbsoluteConfigKey(["token"], context: ["service": "billing"]))
      }
    }

    @Test func `a watch ends with its task`() async throws {
      let provider = VaultConfigProvider(try store())
      let (begun, begins) = AsyncStream.makeStream(of: Void.self)
      let watch = Task {
        try await provider.watchSnapshot { snapshots in
          for await _ in snapshots { begins.yield() }
        }
      }
      for await _ in begun { break }

      watch.cancel()

      try await watch.value
    }
  }
#endif
