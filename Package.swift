// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]

/// For non-escapable types: views of bytes that a different object owns.
let views: [SwiftSetting] = [.enableExperimentalFeature("Lifetimes")]

/// Test files whose exit tests capture values, which Swift 6.2 does not support.
func excludedBeforeSwift63(_ files: [String]) -> [String] {
  #if compiler(>=6.3)
    return []
  #else
    return files
  #endif
}

let package = Package(
  name: "SecretPreferences",
  products: [
    .library(name: "Preferences", targets: ["Preferences"]),
    .library(name: "PreferencesOperators", targets: ["PreferencesOperators"]),
    .library(name: "PreferencesSettings", targets: ["PreferencesSettings"]),
    .library(name: "PreferencesFoundation", targets: ["PreferencesFoundation"]),
    .library(name: "VaultCore", targets: ["VaultCore"]),
    .library(name: "Secrets", targets: ["Secrets"]),
    .library(name: "VaultPostgres", targets: ["VaultPostgres"]),
    .library(name: "SecretsTesting", targets: ["SecretsTesting"]),
    .library(name: "SecretsConfiguration", targets: ["SecretsConfiguration"]),
    .library(name: "SecretsLifecycle", targets: ["SecretsLifecycle"]),
    .library(name: "PreferencesHTTP", targets: ["PreferencesHTTP"]),
    .library(name: "SettingsPage", targets: ["SettingsPage"]),
    .executable(name: "secretprefs", targets: ["secretprefs"]),
  ],
  traits: [
    .trait(name: "Configuration", description: "SecretsConfiguration: vaults and layers for swift-configuration."),
    .trait(name: "HTTP", description: "PreferencesHTTP: remote settings fetched by AsyncHTTPClient."),
    .trait(name: "PostgreSQL", description: "VaultPostgres: vaults in a PostgreSQL database, with libpq."),
    .trait(
      name: "ServiceLifecycle",
      description: "SecretsLifecycle: a vault as a service, its health and metrics, and failures in swift-log."),
    .trait(name: "SettingsPage", description: "SettingsPage: a page in the browser for settings, with Hummingbird."),
    .default(enabledTraits: []),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    // Each is fetched only with its trait: Docs/Decisions/0037
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CVaultSodium", pkgConfig: "libsodium",
      providers: [.apt(["libsodium-dev"])]),
    // For one-time codes and QR codes of the tool.
    .systemLibrary(name: "CMessageDigests", providers: [.apt(["libmd-dev"])]),
    .systemLibrary(name: "CQRCodes", providers: [.apt(["libqrcodegen-dev"])]),
    .target(name: "CDurableFiles"),
    .target(
      name: "DurableFiles", dependencies: ["CDurableFiles"], swiftSettings: strict + [.strictMemorySafety()]),
    .target(name: "Preferences", dependencies: ["DurableFiles"], swiftSettings: strict),
    .target(name: "PreferencesOperators", dependencies: ["Preferences"], swiftSettings: strict),
    .target(name: "PreferencesSettings", dependencies: ["Preferences"], swiftSettings: strict),
    .target(
      name: "PreferencesFoundation",
      dependencies: ["Preferences", "DurableFiles"],
      swiftSettings: strict),
    .target(
      name: "VaultSealing", dependencies: ["CVaultSodium", "DurableFiles"],
      swiftSettings: strict + views + [.strictMemorySafety()]),
    .target(
      name: "VaultCore", dependencies: ["VaultSealing", "DurableFiles"],
      swiftSettings: strict + views + [.strictMemorySafety()]),
    // Empty without the trait, which needs the headers of libpq. Loads the library when it is first used.
    .target(name: "CPostgres", cSettings: [.define("SECRETPREFS_POSTGRESQL", .when(traits: ["PostgreSQL"]))]),
    .target(
      name: "VaultPostgres",
      dependencies: [
        "VaultCore", "DurableFiles", .target(name: "CPostgres", condition: .when(traits: ["PostgreSQL"])),
      ], swiftSettings: strict + [.strictMemorySafety()]),
    .target(
      name: "Secrets",
      dependencies: [
        "Preferences", "VaultCore", "VaultSealing", "DurableFiles",
      ], swiftSettings: strict),
    .target(
      name: "SecretsTesting",
      dependencies: [
        "Secrets", "VaultCore", "VaultSealing", "Preferences", "DurableFiles",
      ], swiftSettings: strict),
    .target(
      name: "SecretsConfiguration",
      dependencies: [
        "Secrets", "VaultCore", "Preferences",
        .product(name: "Configuration", package: "swift-configuration", condition: .when(traits: ["Configuration"])),
      ], swiftSettings: strict),
    .target(
      name: "SecretsLifecycle",
      dependencies: [
        "Secrets", "VaultCore", "Preferences",
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["ServiceLifecycle"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["ServiceLifecycle"])),
        .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["ServiceLifecycle"])),
      ], swiftSettings: strict),
    .target(
      name: "PreferencesHTTP",
      dependencies: [
        "Preferences",
        .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["HTTP"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["HTTP"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["HTTP"])),
      ], swiftSettings: strict),
    .target(
      name: "SettingsPage",
      dependencies: [
        "PreferencesSettings", "Preferences", "VaultSealing", "DurableFiles",
        .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["SettingsPage"])),
        .product(name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: ["SettingsPage"])),
        .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["SettingsPage"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["SettingsPage"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["SettingsPage"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SettingsPage"])),
      ],
      resources: [.embedInCode("Web/page.css"), .embedInCode("Web/page.js"), .embedInCode("Web/icon.svg")],
      swiftSettings: strict),
    .target(name: "CToolBuild"),
    .executableTarget(
      name: "secretprefs",
      dependencies: [
        "Secrets", "VaultCore", "VaultSealing", "Preferences", "PreferencesSettings", "DurableFiles", "CMessageDigests",
        "CQRCodes", "CToolBuild", .target(name: "VaultPostgres", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict,
      // All functions are bound at the start. Binding one later would write registers with bytes of values to the stack.
      // Other packages may not use a product with such flags, but no product that they need has this target.
      linkerSettings: [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"], .when(platforms: [.linux]))]),
    .target(
      name: "VaultMemorySearching", dependencies: ["VaultSealing"], path: "Tests/VaultMemorySearching",
      swiftSettings: strict),
    .target(name: "SyncFaulting", path: "Tests/SyncFaulting", swiftSettings: strict),
    .target(
      name: "PreferencesTestSupport", dependencies: ["Preferences"], path: "Tests/PreferencesTestSupport",
      swiftSettings: strict),
    .target(
      name: "PreferenceLayerLaws",
      dependencies: ["Preferences", "PreferencesOperators", "PreferencesTestSupport"],
      path: "Tests/PreferenceLayerLaws",
      swiftSettings: strict),
    .executableTarget(
      name: "PreferencesWriter", dependencies: ["Preferences", "PreferencesFoundation"],
      path: "Tests/PreferencesWriter", swiftSettings: strict),
    .executableTarget(
      name: "PostgresWorker", dependencies: ["VaultPostgres", "Secrets"], path: "Tests/PostgresWorker",
      swiftSettings: strict),
    .testTarget(name: "DurableFilesTests", dependencies: ["DurableFiles"], swiftSettings: strict),
    .testTarget(
      name: "PreferencesTests",
      dependencies: [
        "Preferences", "PreferencesOperators", "PreferenceLayerLaws", "PreferencesTestSupport", "SyncFaulting",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "PreferencesSettingsTests",
      dependencies: [
        "PreferencesSettings", "Preferences", "Secrets", "VaultCore", "SecretsTesting", "PreferencesTestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "PreferencesFoundationTests",
      dependencies: [
        "PreferencesFoundation", "Preferences", "PreferencesOperators", "PreferencesTestSupport", "SyncFaulting",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "PreferencesHTTPTests",
      dependencies: [
        "PreferencesHTTP", "Preferences", "PreferencesTestSupport",
        .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["HTTP"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["HTTP"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["HTTP"])),
      ], swiftSettings: strict),
    .testTarget(name: "VaultSealingTests", dependencies: ["VaultSealing"], swiftSettings: strict),
    .testTarget(
      name: "VaultCoreTests",
      dependencies: [
        "VaultCore", "VaultPostgres", "VaultSealing", "DurableFiles", "CVaultSodium", "VaultMemorySearching",
        "SyncFaulting", "PreferencesTestSupport",
      ],
      exclude: excludedBeforeSwift63(["HolderMemoryTests.swift", "MemoryScanTests.swift"]),
      resources: [.copy("Vectors")], swiftSettings: strict),
    .testTarget(
      name: "VaultPostgresTests",
      dependencies: [
        "VaultPostgres", "VaultCore", "VaultSealing", "Secrets", "SecretsTesting", "DurableFiles",
        .target(name: "CPostgres", condition: .when(traits: ["PostgreSQL"])),
      ], swiftSettings: strict),
    .testTarget(
      name: "SecretsTests",
      dependencies: [
        "Secrets", "SecretsTesting", "Preferences", "PreferencesOperators", "PreferencesFoundation", "VaultCore",
        "VaultSealing", "PreferenceLayerLaws", "PreferencesTestSupport", "VaultMemorySearching",
      ], exclude: excludedBeforeSwift63(["SecretMemoryTests.swift", "SecretMigrationKillTests.swift"]),
      swiftSettings: strict),
    .testTarget(
      name: "SecretsTestingTests",
      dependencies: [
        "SecretsTesting", "Secrets", "Preferences", "PreferencesOperators", "PreferencesFoundation",
        "PreferencesTestSupport",
      ], swiftSettings: strict),
    .testTarget(
      name: "SecretsConfigurationTests",
      dependencies: [
        "SecretsConfiguration", "Secrets", "SecretsTesting", "Preferences", "VaultCore", "PreferencesTestSupport",
        .product(name: "Configuration", package: "swift-configuration", condition: .when(traits: ["Configuration"])),
        .product(
          name: "ConfigurationTesting", package: "swift-configuration", condition: .when(traits: ["Configuration"])),
      ], swiftSettings: strict),
    .testTarget(
      name: "SecretsLifecycleTests",
      dependencies: [
        "SecretsLifecycle", "Secrets", "SecretsTesting", "Preferences", "VaultCore", "VaultSealing",
        "PreferencesTestSupport",
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["ServiceLifecycle"])),
        .product(
          name: "UnixSignals", package: "swift-service-lifecycle", condition: .when(traits: ["ServiceLifecycle"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["ServiceLifecycle"])),
        .product(name: "InMemoryLogging", package: "swift-log", condition: .when(traits: ["ServiceLifecycle"])),
        .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["ServiceLifecycle"])),
        .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["ServiceLifecycle"])),
      ], swiftSettings: strict),
    .testTarget(
      name: "SettingsPageTests",
      dependencies: [
        "SettingsPage", "PreferencesSettings", "Preferences", "Secrets", "SecretsTesting", "PreferencesTestSupport",
        .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["SettingsPage"])),
        .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["SettingsPage"])),
        .product(name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: ["SettingsPage"])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["SettingsPage"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["SettingsPage"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["SettingsPage"])),
        .product(name: "InMemoryLogging", package: "swift-log", condition: .when(traits: ["SettingsPage"])),
        .product(
          name: "UnixSignals", package: "swift-service-lifecycle", condition: .when(traits: ["SettingsPage"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SettingsPage"])),
      ], swiftSettings: strict),
    .testTarget(
      name: "secretprefsTests",
      dependencies: [
        "secretprefs", "DurableFiles", "PreferencesSettings", "Preferences", "Secrets", "VaultCore",
        "VaultMemorySearching", "PreferencesTestSupport",
      ],
      resources: [.copy("Exports"), .copy("Transcripts")], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
