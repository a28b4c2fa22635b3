// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Quickstart",
  dependencies: [
    .package(name: "SecretPreferences", path: "../..", traits: [])
  ],
  targets: [
    .executableTarget(
      name: "Quickstart",
      dependencies: [.product(name: "Secrets", package: "SecretPreferences")],
      swiftSettings: [.treatAllWarnings(as: .error)])
  ],
  swiftLanguageModes: [.v6]
)
