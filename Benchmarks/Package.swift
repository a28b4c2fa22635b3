// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Benchmarks",
  dependencies: [.package(name: "SecretPreferences", path: "..")],
  targets: [
    .systemLibrary(name: "CLimits", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "CLimits",
        .product(name: "Secrets", package: "SecretPreferences"),
        .product(name: "Preferences", package: "SecretPreferences"),
        .product(name: "PreferencesFoundation", package: "SecretPreferences"),
        .product(name: "VaultCore", package: "SecretPreferences"),
      ],
      swiftSettings: [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
