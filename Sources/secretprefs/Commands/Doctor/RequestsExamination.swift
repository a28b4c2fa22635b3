internal import DurableFiles
internal import VaultCore

/// Checks the folder of requests for access beside a vault.
struct RequestsExamination {
  private(set) var problems: [Problem] = []
  private(set) var unseen: [(part: String, reason: String)] = []

  /// - Parameter isShared: Whether a group shares the vault. Its members can replace that as well.
  init(_ folder: RequestFolder, isShared: Bool) throws {
    guard let status = ExaminedPath(folder.path).status(followingLinks: false) else { return }
    let isFolder = status.st_mode & S_IFMT == S_IFDIR
    if isFolder, status.st_mode & (isShared ? 0o002 : 0o022) != 0, status.st_mode & S_ISVTX == 0 {
      problems.append(
        Problem(
          .warning, "requestsMode",
          "users can remove and replace each other's requests: the mode of \(displayed(folder.path)) is "
            + octal(status.st_mode),
          repair: "chmod +t \(shellPath(folder.path))"))
    }
    guard isFolder else {
      problems.append(
        Problem(
          .warning, "requestsFolder", "\(displayed(folder.path)) is not a directory, so no request can be left",
          repair: "move it elsewhere"))
      return
    }
    let contents: RequestFolder.Contents
    do { contents = try folder.contents() } catch let error as VaultError {
      unseen.append(("requests for access", displayed(error.message)))
      return
    }
    let keys = Set(contents.requests.map(\.publicKey)).count
    if keys > 0 {
      problems.append(
        Problem(
          .advice, "requests", "\(counted(keys, "public key has", "public keys have")) a request for access",
          repair: "secretprefs requests list"))
    }
    if !contents.refused.isEmpty {
      problems.append(
        Problem(
          .advice, "otherRequests",
          "\(displayed(folder.path)) has \(counted(contents.refused.count, "file that is", "files that are")) not "
            + (contents.refused.count == 1 ? "a request" : "requests"),
          repair: "secretprefs requests list names them; remove them"))
    }
    if !contents.isWhole {
      problems.append(
        Problem(
          .warning, "manyRequests",
          "\(displayed(folder.path)) has more than \(RequestFolder.mostFiles) files, and the rest is not read",
          repair: "find out who writes there, and remove what is not needed"))
    }
  }
}
