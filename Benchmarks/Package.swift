// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Benchmarks",
  traits: [
    .trait(
      name: "GRDB",
      description: "The same work with GRDB and a sealed column, beside ours. Needs libsqlite3-dev."),
    .trait(name: "PostgreSQL", description: "Vaults in PostgreSQL, beside the same work by hand. Needs libpq-dev."),
    .default(enabledTraits: []),
  ],
  dependencies: [
    .package(
      name: "SecretPreferences", path: "..",
      traits: [.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    // Fetched only with its trait, so that a build of this target, which CI makes, does not wait for it.
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .systemLibrary(name: "CLimits", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "CLimits", .target(name: "CLibpq", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "Secrets", package: "SecretPreferences"),
        .product(name: "Preferences", package: "SecretPreferences"),
        .product(name: "PreferencesFoundation", package: "SecretPreferences"),
        .product(name: "VaultCore", package: "SecretPreferences"),
        .product(
          name: "VaultPostgres", package: "SecretPreferences", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["GRDB"])),
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
