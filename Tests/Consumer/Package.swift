// swift-tools-version: 6.2
import PackageDescription

// A server's package as its author would write it: SecretPreferences beside the packages that servers use, without a
// module alias. Scripts/consumer resolves, builds and runs it.

let everyModule: [Target.Dependency] = [
  "PreferenceAdapters", "PreferenceMigrations", "PreferenceOperators", "PreferenceSyncing", "Preferences",
  "PreferencesFoundation", "Secrets", "SecretsTesting", "VaultCore", "VaultSealing",
].map { .product(name: $0, package: "SecretPreferences") }

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
  name: "Consumer",
  dependencies: [
    .package(name: "SecretPreferences", path: "../.."),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.0.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.25.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
  ],
  targets: [
    // One page of ordinary lines three times: without this package, beside a file that imports it, and importing it.
    .target(name: "OrdinaryAlone", swiftSettings: strict),
    .target(name: "OrdinaryBeside", dependencies: everyModule, swiftSettings: strict),
    .target(name: "OrdinaryWithin", dependencies: everyModule, swiftSettings: strict + [.define("EVERY_MODULE")]),
    .executableTarget(
      name: "Consumer",
      dependencies: everyModule + [
        "OrdinaryAlone", "OrdinaryBeside", "OrdinaryWithin",
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ], swiftSettings: strict),
    // Resolved with the rest, and built by `Scripts/consumer all` alone: two copies of BoringSSL take minutes.
    .executableTarget(
      name: "Client",
      dependencies: everyModule + [
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      swiftSettings: strict),
  ]
)
