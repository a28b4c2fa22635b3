// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "SettingsPageExample",
  dependencies: [
    // In a package of your own, only the trait SettingsPage. These are those of Scripts/swift, so that both packages can
    // share one build folder.
    .package(
      name: "SecretPreferences", path: "../..",
      traits: ["Configuration", "HTTP", "PostgreSQL", "ServiceLifecycle", "SettingsPage"])
  ],
  targets: [
    .executableTarget(
      name: "SettingsPageExample",
      dependencies: [
        "Preferences", "PreferencesSettings", "Secrets", "SecretsTesting", "SettingsPage",
      ].map {
        .product(name: $0, package: "SecretPreferences")
      },
      swiftSettings: [.treatAllWarnings(as: .error)])
  ],
  swiftLanguageModes: [.v6]
)
