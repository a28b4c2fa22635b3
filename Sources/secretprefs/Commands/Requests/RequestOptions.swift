internal import ArgumentParser

/// The folder of a command about requests.
struct RequestOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The folder of the requests.", discussion: "Default: the path of the vault with .requests.",
      valueName: "directory"), completion: .directory)
  var folder: String?

  func folder(of location: VaultLocation) throws(ToolError) -> RequestFolder {
    guard let folder else {
      guard let folder = location.requests else {
        throw .usage("a vault in a database has no folder of requests", hint: "name one with --folder")
      }
      return folder
    }
    guard !folder.isEmpty else { throw .usage("--folder is empty") }
    return RequestFolder(path: folder)
  }
}
