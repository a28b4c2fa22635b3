// swift-tools-version: 6.2
import PackageDescription

// A second implementation of the format's writing side, for the vectors. It shares no code with the package around it:
// what the two agree on is Docs/Format.md.
let package = Package(
  name: "Vectors",
  targets: [
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .executableTarget(
      name: "make-vectors",
      dependencies: ["CSodium"],
      swiftSettings: [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
