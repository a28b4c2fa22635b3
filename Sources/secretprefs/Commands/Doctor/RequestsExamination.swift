internal import DurableFiles
internal import VaultCore

/// Checks the requests for access to a vault, and the folder that they are in.
struct RequestsExamination {
  private(set) var problems: [Problem] = []
  private(set) var unseen: [(part: String, reason: String)] = []

  private let listing = "secretprefs requests list"

  init(_ access: VaultAccess) throws {
    let isShared = access.pathPolicy == .sharedWithGroup
    let place = access.location.requests(isShared: isShared)
    var name = "the database"
    if let folder = place as? RequestFolder {
      guard let status = ExaminedPath(folder.path).status(followingLinks: false) else { return }
      check(folder, status, isShared: isShared)
      guard status.st_mode & S_IFMT == S_IFDIR else { return }
      name = displayed(folder.path)
    }
    do { add(try place.contents(), of: name) } catch let error as VaultError {
      unseen.append(("requests for access", displayed(error.message)))
    }
  }

  /// - Parameter isShared: Whether a group shares the vault. Its members can replace that as well.
  private mutating func check(_ folder: RequestFolder, _ status: stat, isShared: Bool) {
    guard status.st_mode & S_IFMT == S_IFDIR else {
      problems.append(
        Problem(
          .warning, "requestsFolder", "\(displayed(folder.path)) is not a directory, so no request can be left",
          repair: "move it elsewhere"))
      return
    }
    guard status.st_mode & (isShared ? 0o002 : 0o022) != 0, status.st_mode & S_ISVTX == 0 else { return }
    problems.append(
      Problem(
        .warning, "requestsMode",
        "users can remove and replace each other's requests: the mode of \(displayed(folder.path)) is "
          + octal(status.st_mode),
        repair: "chmod +t \(shellPath(folder.path))"))
  }

  /// - Parameter name: of the place, in messages.
  private mutating func add(_ contents: RequestContents, of name: String) {
    let keys = Set(contents.requests.map(\.publicKey)).count
    if keys > 0 {
      problems.append(
        Problem(
          .advice, "requests", "\(counted(keys, "public key has", "public keys have")) a request for access",
          repair: listing))
    }
    let others = contents.refused.count
    if others > 0 {
      problems.append(
        Problem(
          .advice, "otherRequests",
          "\(name) has \(counted(others, "\(contents.part) that is", "\(contents.part)s that are")) not "
            + (others == 1 ? "a request" : "requests"),
          repair: "\(listing) names them; remove them"))
    }
    let unread = contents.unread.count
    if unread > 0 {
      unseen.append(
        (
          "\(counted(unread, "\(contents.part) that may be a request", "\(contents.part)s that may be requests")) "
            + "for access, in \(name)", "\(listing) says why"
        ))
    }
    if !contents.isWhole {
      problems.append(
        Problem(
          .warning, "manyRequests",
          "\(name) has more than \(RequestContents.most) \(contents.part)s, and the rest is not read",
          repair: "find out who writes there, and remove what is not needed"))
    }
  }
}
