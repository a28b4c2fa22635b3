import Foundation
import Preferences
import PreferencesSettings
import Secrets
import SecretsTesting
import SettingsPage

enum Theme: String, CaseIterable, PreferenceConvertible { case system, light, dark }

extension PreferenceKey<Bool> {
  static let isOpen = Self("shop.open", default: true)
}
extension PreferenceKey<Int> {
  static let timeout = Self("shop.timeout", default: 30)
  static let discount = Self("shop.discount", default: 10)
}
extension PreferenceKey<Theme> {
  static let theme = Self("shop.theme", default: .system)
}
extension PreferenceKey<String> {
  static let sender = Self("mail.sender", default: "shop@example.com")
}
extension PreferenceKey<Secret<String>?> {
  static let password = Self("mail.password")
}

/// Serves a page for the settings in a file, and for a password in a vault that lasts as long as the program:
/// SettingsPageExample FILE
@main struct SettingsPageExample {
  static func main() async throws {
    let store = try JSONPreferences(at: CommandLine.arguments[1])
    let watching = try await store.watch()  // changes of other programs
    let vault = try ThrowawayVault()  // use Vault.open in a program that keeps its secrets
    let secrets = try vault.preferences(service: "com.example.shop")
    let groups = [
      SettingGroup(
        "Shop",
        [
          Setting(.isOpen, in: store, title: "Open", info: "Whether customers can order"),
          try Setting(
            .timeout, in: store, title: "Timeout", info: "How long to wait for the bank", bounds: 1...60, step: 5,
            format: { "\($0) s" }),
          try Setting(.discount, in: store, title: "Discount", bounds: 0...50, isSlider: true, format: { "\($0) %" }),
          Setting(.theme, in: store, title: "Theme"),
        ]),
      SettingGroup(
        "Mail",
        [
          Setting(
            .sender, in: store, title: "Sender", info: "The address that customers reply to",
            rules: [.matching(/[^@ ]+@[^@ ]+/, "must be a mail address")]),
          Setting(.password, in: secrets, title: "Password", info: "Of the account at the mail server"),
        ]),
    ]
    let page = try SettingsPageService(groups, title: "Settings of the shop") { url in
      print(url)
      fflush(nil)
    }
    defer { withExtendedLifetime((watching, vault)) {} }
    try await page.run()
  }
}
