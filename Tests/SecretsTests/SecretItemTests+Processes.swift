// Exit tests capture values since Swift 6.3.
#if compiler(>=6.3)
  import Foundation
  import Glibc
  import Secrets
  import SecretsTesting
  import Testing

  extension SecretItemTests {
    @Test func `item 117: two processes that write at once lose no secret`() async throws {
      let vault = ThrowawayVault.current
      let key = vault.key.withUnsafeBytes { Data($0) }
      let path = vault.path

      await withTaskGroup { group in
        for process in 0..<2 {
          group.addTask {
            await #expect(processExitsWith: .success) {
              [path = path as String, key = key as Data, process = process as Int] in
              let key = try key.withUnsafeBytes { try SealingKey(copying: $0) }
              let vault = try await Vault.open(at: path, credential: .key(key))
              let store = try SecretPreferences(service: "com.example.test", in: vault)
              for number in 0..<50 {
                try await store.set(number, forKey: "\(process).\(number)")
                try await store.update(PreferenceKey("count", default: 0)) { $0 += 1 }
              }
            }
          }
        }
      }

      let store = try vault.preferences()
      #expect(try store.keys().count == 101)
      #expect(try store.integer(forKey: "count") == 100)
    }

    @Test func `item 116: a process that is killed during a rotation leaves every secret`() async throws {
      let vault = ThrowawayVault.current
      let store = try vault.preferences()
      try await store.set("old", forKey: "key")
      try await store.set(String(repeating: "x", count: 100_000), forKey: "long")
      let key = vault.key.withUnsafeBytes { Data($0) }

      await #expect(processExitsWith: .signal(SIGXFSZ)) { [path = vault.path as String, key = key as Data] in
        let key = try key.withUnsafeBytes { try SealingKey(copying: $0) }
        let vault = try Vault.open(at: path, credential: .key(key))
        // The kernel kills it in the middle of the file that it writes, if no thread and no parent ignores the signal.
        signal(SIGXFSZ, SIG_DFL)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGXFSZ)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        var limit = rlimit(rlim_cur: 50_000, rlim_max: 50_000)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        try vault.rotateVault()
      }

      #expect(try store.string(forKey: "key") == "old")
      let reopened = try SecretPreferences(service: "com.example.test", in: vault.reopened())
      #expect(try reopened.string(forKey: "key") == "old")
      try await vault.vault.rotateVault()
      #expect(try store.string(forKey: "key") == "old")
      #expect(try store.string(forKey: "long")?.count == 100_000)
    }
  }
#endif
