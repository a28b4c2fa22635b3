// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// The name of the package above, which is that of its folder. What is for the package alone is for its tool, too.
let parent = Context.packageDirectory.split(separator: "/").dropLast().last?.lowercased() ?? ""

/// For sources of the package above.
///
/// - Parameters:
///   - module: what the sources call a module, and `target` the target that stands for it here.
func shared(_ module: String, _ target: String) -> SwiftSetting {
  .unsafeFlags(["-package-name", parent, "-module-alias", "\(module)=\(target)"])
}

let package = Package(
  name: "Fuzzing",
  dependencies: [
    .package(name: "SecretPreferences", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .target(name: "FuzzDriver", swiftSettings: strict),
    .executableTarget(
      name: "VaultCoreFuzzer",
      dependencies: ["FuzzDriver", .product(name: "VaultCore", package: "SecretPreferences")],
      swiftSettings: strict),
    .executableTarget(
      name: "secretprefsFuzzer", dependencies: ["FuzzDriver", "FuzzedTool"], packageAccess: false,
      swiftSettings: strict + [shared("secretprefs", "FuzzedTool")]),
    // The sources of the tool, whose target is an executable, which no other package may import. Its targets of C have
    // other names here, because those of two packages must be different.
    .systemLibrary(name: "FuzzedMessageDigests"),
    .systemLibrary(name: "FuzzedQRCodes"),
    .target(name: "FuzzedToolBuild"),
    .target(
      name: "FuzzedTool",
      dependencies: [
        .product(name: "Preferences", package: "SecretPreferences"),
        .product(name: "PreferencesSettings", package: "SecretPreferences"),
        .product(name: "Secrets", package: "SecretPreferences"),
        .product(name: "VaultCore", package: "SecretPreferences"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        "FuzzedMessageDigests", "FuzzedQRCodes", "FuzzedToolBuild",
      ],
      exclude: ["Main.swift"], packageAccess: false,
      swiftSettings: strict + [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        shared("CToolBuild", "FuzzedToolBuild"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
