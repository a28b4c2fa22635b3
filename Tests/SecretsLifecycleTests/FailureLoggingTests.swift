#if ServiceLifecycle
  import Foundation
  import InMemoryLogging
  import Logging
  import PreferencesTestSupport
  import Secrets
  import SecretsLifecycle
  import SecretsTesting
  import Testing

  extension PreferenceKey<Secret<String>?> {
    fileprivate static var token: Self { .init("token.\(sentinel)") }
  }

  /// Failures of subscripts and property wrappers in swift-log.
  @Suite(.throwawayVault) struct FailureLoggingTests {
    private let journal = Journal()
  }

  extension FailureLoggingTests {
    private struct ForeignError: Error, CustomStringConvertible { let description = sentinel }

    private func logging(_ body: () throws -> Void) rethrows {
      let logger = journal.logger
      try PreferenceFailures.withHandler({ logger.log($0) }, body)
    }

    private func lockedSecrets() throws -> SecretPreferences {
      let secrets = try ThrowawayVault.current.preferences(service: service)
      try secrets.set(Secret(sentinel), for: .token)
      secrets.vault.lock()
      return secrets
    }

    @Test func `a subscript and a wrapper over a locked vault log its code and not the key`() throws {
      let secrets = try lockedSecrets()
      @StoredPreference(.token, in: secrets) var token

      logging {
        let (read, wrapped) = (secrets[.token], token)
        #expect(read == nil && wrapped == nil)
        token = nil
      }

      // The first read of a wrapper also begins its observation, which reads the value as well.
      #expect(journal.lines == Array(repeating: "error A preference could not be read or written", count: 4))
      for entry in journal.entries {
        #expect(
          entry.metadata == [
            "preferences.reader": "vault com.example.test/default", "error.type": "VaultError",
            "error.code": "locked", "error.message": "the vault is locked",
          ])
      }
      #expect(!journal.text.contains(sentinel))
    }

    @Test func `a failed layer of a composite is named with its code`() throws {
      let preferences = CompositePreferences([try lockedSecrets().unclaimed])

      logging { #expect(preferences[.token] == nil) }

      let entry = try #require(journal.entries.first)
      #expect(entry.metadata["error.code"] == "unavailable")
      #expect(entry.metadata["error.cause"] == "locked")
      #expect(!journal.text.contains(sentinel))
    }

    @Test func `of an error of a different module only the type is logged`() throws {
      logging { PreferenceFailures.report(ForeignError(), key: sentinel, reader: "settings") }

      #expect(
        journal.entries.map(\.metadata) == [["preferences.reader": "settings", "error.type": "ForeignError"]])
    }

    @Test func `a refresh failure is logged with its code and not its cause`() throws {
      logging {
        PreferenceFailures.report(RefreshFailure(.rejected, cause: ForeignError()), key: "session", reader: "settings")
      }

      #expect(journal.entries.first?.metadata["error.code"] == "rejected")
      #expect(!journal.text.contains(sentinel))
    }

    @Test func `the key is logged on request, at the level that the program chooses`() throws {
      let settings = DictionaryPreferences(["server.port": "many"])
      let logger = journal.logger

      PreferenceFailures.withHandler({ logger.log($0, level: .notice, includingKey: true) }) {
        #expect(settings[PreferenceKey<Int>("server.port", default: 80)] == 80)
      }

      #expect(journal.lines == ["notice A preference could not be read or written"])
      let metadata = try #require(journal.entries.first).metadata
      #expect(metadata["preferences.key"] == "server.port")
      #expect(metadata["error.code"] == "typeMismatch")
      #expect(try #require(metadata["error.message"]).description.contains("server.port"))
      #expect(!journal.text.contains("many"))
    }
  }
#endif
