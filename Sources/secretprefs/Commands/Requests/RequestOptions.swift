internal import ArgumentParser
internal import VaultCore

/// The place of a command about requests.
struct RequestOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The folder of the requests.",
      discussion: "Default: the path of the vault with .requests, or the table of the database.",
      valueName: "directory"), completion: .directory)
  var folder: String?

  func place(of access: VaultAccess) throws(ToolError) -> any RequestPlace {
    let isShared = access.pathPolicy == .sharedWithGroup
    guard let folder else { return access.location.requests(isShared: isShared) }
    try OutputFile(folder, as: "--folder").refuseNoPath()
    return RequestFolder(folder, isShared: isShared)
  }
}
