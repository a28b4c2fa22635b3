internal import ArgumentParser

/// The options of every command that works on a vault.
struct VaultOptions: ParsableArguments {
  @OptionGroup var location: LocationOptions

  @Flag(help: .json)
  var json = false

  func access() throws(ToolError) -> VaultAccess { try location.access() }
}
