// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

let secrets = Target.Dependency.product(name: "Secrets", package: "SecretPreferences")
let services: [Target.Dependency] = [
  .product(name: "Logging", package: "swift-log"),
  .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
]

let package = Package(
  name: "TokenServer",
  dependencies: [
    // In a package of your own: url: "https://github.com/secretpreferences/SecretPreferences", from: …, and of the traits only
    // PostgreSQL and ServiceLifecycle. These are those of Scripts/swift, so that both packages can share one build folder.
    .package(
      name: "SecretPreferences", path: "../..",
      traits: ["Configuration", "HTTP", "PostgreSQL", "ServiceLifecycle", "SettingsPage"]),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .target(
      name: "UserTokens",
      dependencies: services + [
        secrets,
        .product(name: "SecretsLifecycle", package: "SecretPreferences"),
        .product(name: "VaultPostgres", package: "SecretPreferences"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOFoundationCompat", package: "swift-nio"),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "TokenServer",
      dependencies: services + [
        secrets, "UserTokens",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ], swiftSettings: strict),
    .executableTarget(
      name: "TokenWorker", dependencies: services + [secrets, "UserTokens"], swiftSettings: strict),
    .executableTarget(
      name: "OAuthServer",
      dependencies: [
        "UserTokens",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ], swiftSettings: strict),
    .testTarget(
      name: "TokenServerTests",
      dependencies: [
        secrets, "TokenServer", "TokenWorker", "OAuthServer",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "secretprefs", package: "SecretPreferences"),
      ], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
