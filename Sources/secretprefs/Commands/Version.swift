internal import ArgumentParser
internal import CToolBuild
internal import VaultSealing

/// `secretprefs version`.
struct Version: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "version",
    abstract: "Shows the versions of the tool, the format and the libraries.",
    usage: "secretprefs version [--json]",
    discussion: """
      The commit is that of the sources; "-dirty" at its end means that they had changes besides. It is unknown if the \
      tool was not built by Scripts/build or was built outside of a repository. The versions of libsodium and glibc \
      are those in use.

      EXAMPLE:
        secretprefs version
        secretprefs version --json
      """)

  /// The name of the vault's format, with its version.
  static let format = "SPV1"

  @Flag(help: .json)
  var json = false

  func perform(_ messages: Messages) throws {
    // The standard library's version does not include the patch release.
    let swift = "\(_SwiftStdlibVersion.current)".split(separator: ".").prefix(2).joined(separator: ".")
    let versions: [(String, String?)] = [
      ("version", Root.toolVersion), ("commit", toolbuild_commit().map { String(cString: $0) }),
      ("format", Self.format),
      ("libsodium", GuardedMemory.libraryVersion), ("glibc", toolbuild_glibc().map { String(cString: $0) }),
      ("swift", swift),
    ]
    guard json else {
      return try Output.write(
        Table(rows: versions.map { name, version in [name, version ?? "unknown"] }).text)
    }
    try Output.write(.object(versions.map { name, version in (name, version.map { .string($0) } ?? .null) }))
  }
}
