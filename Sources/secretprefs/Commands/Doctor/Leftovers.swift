internal import DurableFiles
internal import Secrets
internal import VaultCore

/// The files with temporary names that interrupted writes left in the directories of a vault, its mark and its key
/// files, in the folder of requests, and in other directories that the user names.
struct Leftovers {
  private let files: [LeftoverFile]
  /// The command that removes them.
  private let repair: String

  init(_ access: VaultAccess, in directories: [String]) throws(ToolError) {
    let files = [access.location.path, access.markPath].compactMap(\.self) + (try access.keyFiles.map(\.path))
    var seen: Set<FileIdentity> = []
    let requests = access.location.path.map { RequestFolder(besideVaultAt: $0, isShared: false).path }
    let own = files.map { ExaminedPath($0).directory.path } + [requests].compactMap(\.self)
    for directory in directories
    where ExaminedPath(directory).status().map({ $0.st_mode & S_IFMT != S_IFDIR }) ?? true {
      throw .usage("\(directory): there is no such directory")
    }
    repair = Repair.leftovers.command + directories.map { " --leftovers-in \(shellPath($0))" }.joined()
    self.files = (own + directories).flatMap { directory -> [LeftoverFile] in
      guard let identity = FileIdentity(at: directory), seen.insert(identity).inserted else { return [] }
      return LeftoverFile.all(in: directory)
    }
  }

  var problems: [Problem] {
    files.map { file in
      file.isCertain
        ? Problem(
          .warning, "leftover", "an interrupted write left \(displayed(file.path))", repair: repair)
        : Problem(
          .advice, "uncertainLeftover",
          "\(displayed(file.path)) has the name of a temporary file, but may be a copy or changed",
          repair: "remove or rename the file")
    }
  }

  /// Removes the files that are certainly leftovers.
  ///
  /// - Returns: descriptions of what was done, and the error that ended it.
  func remove() -> (done: [String], failure: ToolError?) {
    var done: [String] = []
    for file in files where file.isCertain {
      guard file.remove() else { return (done, .io("\(file.path): remove the file", errno)) }
      done.append("removed \(file.path)")
    }
    return (done, nil)
  }
}
