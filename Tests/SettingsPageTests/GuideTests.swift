#if SettingsPage
  import Foundation
  import Hummingbird
  import Logging
  import PreferencesSettings
  import Preferences
  import Secrets
  import SecretsTesting
  import ServiceLifecycle
  import SettingsPage
  import Testing
  import UnixSignals

  /// The code of the catalog, word for word: Scripts/documents guide compares the two.
  struct GuideTests {
    private let store = DictionaryPreferences()
    private let vault: ThrowawayVault
    private let secrets: SecretPreferences
    private let logger = Logger(label: "test")

    init() throws {
      vault = try ThrowawayVault()
      secrets = try vault.preferences()
    }
  }

  extension GuideTests {
    private func groups() throws -> [SettingGroup] {
      let groups = [
        SettingGroup(
          "Shop",
          [
            Setting(.isOpen, in: store, title: "Open", info: "Whether customers can order"),
            try Setting(.timeout, in: store, title: "Timeout", bounds: 1...60, step: 5, format: { "\($0) s" }),
          ]),
        SettingGroup("Mail", [Setting(.password, in: secrets, title: "Password")]),
      ]
      return groups
    }

    @Test func `a page is a service of a group`() async throws {
      let groups = try groups()
      let (lines, printed) = AsyncStream.makeStream(of: String.self)
      @Sendable func print(_ line: String) { printed.yield(line) }

      let serving = Task { [logger] in
        let page = try SettingsPageService(groups, title: "Shop") { url in
          print("Settings: \(url)")
        }
        let group = ServiceGroup(services: [page], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
      }
      for await line in lines {
        #expect(line.hasPrefix("Settings: http://127.0.0.1:"))
        break
      }
      serving.cancel()
      _ = await serving.result
    }

    @Test func `a page is a part of a server`() throws {
      let groups = try groups()
      let router = Router()
      let publicURL = try #require(URL(string: "http://127.0.0.1:8080/settings"))

      let page = try SettingsPageService(groups, title: "Shop", publicURL: publicURL)
      page.addRoutes(to: router)

      #expect(page.url?.hasPrefix("http://127.0.0.1:8080/settings/?token=") == true)
    }
  }
#endif
