// Exit tests capture values since Swift 6.3.
#if compiler(>=6.3)
  import Foundation
  import Secrets
  import Testing
  import VaultMemorySearching

  /// What reading and refreshing leave in the memory of a process that has seen neither token before.
  struct TokenMemoryTests {
    @Test func `the access token is on one guarded page while it is held, and nothing is left of either token`()
      async throws
    {
      let folder = try TemporaryFolder()
      let search = MemorySearch()
      let texts = ["access", "refresh"].map { name in
        let text = (0..<48).map { _ in UInt8.random(in: 97...122) }
        search.add(name, text)
        return String(decoding: text, as: UTF8.self)
      }
      try search.save(to: folder.path + "/notes")
      let key = try SealingKey(from: .system)
      try key.withUnsafeBytes { try Data($0).write(to: URL(filePath: folder.path + "/key")) }
      let vault = try await Vault.create(at: folder.path + "/vault.spv", slots: [NewSlot(.key(key))])
      let token = RefreshingToken("github", in: try SecretPreferences(service: "shop", in: vault)) { _ in
        throw RefreshFailure(.rejected)
      }
      try await token.set(.init(access: texts[0], refresh: texts[1], expires: Date() + 3600))

      await #expect(processExitsWith: .success) { [path = folder.path as String] in
        let search = try MemorySearch(from: path + "/notes")
        let key = try Data(contentsOf: URL(filePath: path + "/key")).withUnsafeBytes { try SealingKey(copying: $0) }
        // Blocking, as a program opens its vault before it starts tasks: the search covers the stacks of all threads.
        let open = { try Vault.open(at: path + "/vault.spv", credential: .key(key)) }
        let vault = try open()
        let token = RefreshingToken("github", in: try SecretPreferences(service: "shop", in: vault)) { refreshToken in
          try #require(refreshToken.withBytes { $0.byteCount } == 48)
          return try .init(access: "new", refresh: "next", expires: Date() + 3600)
        }
        var held: Secret<String>? = try await token.accessToken()
        let whileHeld = try search.finds()
        withExtendedLifetime(held) {}
        held = nil
        let afterReading = try search.finds()
        let text = try await token.accessToken(replacing: token.accessToken()).withValue { $0 }
        let afterRefreshing = try search.finds()

        #expect(whileHeld.map(\.secret) == ["access"], "\(whileHeld)")
        #expect(afterReading == [], "\(afterReading)")
        #expect(text == "new")
        #expect(afterRefreshing == [], "\(afterRefreshing)")
        withExtendedLifetime(token) {}
      }
    }
  }
#endif
