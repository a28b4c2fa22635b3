// swift-tools-version: 6.2
import PackageDescription

// The vault's own sources, by links, and what Scripts/vectors runs on them. It needs no
// other package, and can be copied and changed.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableExperimentalFeature("Lifetimes"),
]

let package = Package(
  name: "Harness",
  targets: [
    .systemLibrary(name: "CVaultSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .target(name: "CDurableFiles"),
    .target(name: "DurableFiles", dependencies: ["CDurableFiles"], swiftSettings: settings),
    .target(name: "VaultSealing", dependencies: ["CVaultSodium", "DurableFiles"], swiftSettings: settings),
    .target(name: "VaultCore", dependencies: ["VaultSealing", "DurableFiles"], swiftSettings: settings),
    .executableTarget(name: "run-vectors", dependencies: ["VaultCore", "VaultSealing"], swiftSettings: settings),
    .executableTarget(name: "write-vaults", dependencies: ["VaultCore", "VaultSealing"], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
