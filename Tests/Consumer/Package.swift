// swift-tools-version: 6.2
import PackageDescription

// A package as its author would write it, without the package traits. Scripts/consumer builds and runs it.
// Examples/TokenServer is the one that depends on the packages that servers use.

let everyModule: [Target.Dependency] = [
  "Preferences", "PreferencesFoundation", "PreferencesOperators", "PreferencesSettings", "Secrets", "SecretsTesting",
  "VaultCore",
].map { .product(name: $0, package: "SecretPreferences") }

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
  name: "Consumer",
  dependencies: [.package(name: "SecretPreferences", path: "../..")],
  targets: [
    // One page of ordinary lines three times: without this package, beside a file that imports it, and importing it.
    .target(name: "OrdinaryAlone", swiftSettings: strict),
    .target(name: "OrdinaryBeside", dependencies: everyModule, swiftSettings: strict),
    .target(name: "OrdinaryWithin", dependencies: everyModule, swiftSettings: strict + [.define("EVERY_MODULE")]),
    .executableTarget(
      name: "Consumer", dependencies: ["OrdinaryAlone", "OrdinaryBeside", "OrdinaryWithin"], swiftSettings: strict),
  ]
)
