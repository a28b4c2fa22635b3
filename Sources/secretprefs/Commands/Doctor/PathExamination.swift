internal import DurableFiles
internal import VaultCore

/// Checks the file type, owners, modes and links of a vault, and what writes left beside it (`Docs/Format.md` 9).
struct PathExamination {
  /// The names of the problems of a file that is mounted by itself.
  static let mounts = ["frozen", "mountedFile"]

  private(set) var problems: [Problem] = []

  /// The command that repairs modes.
  private let permissions = Repair.permissions.command

  /// - Parameters:
  ///   - path: The path of the vault, which exists.
  ///   - access: Its accepted owners and modes are not the relaxed ones.
  init(_ path: String, _ access: VaultAccess) throws {
    let file = ExaminedPath(path)
    guard let named = file.status(followingLinks: false) else { throw ToolError.io("stat the vault", errno) }
    // Reading the vault reports any other file type.
    if named.st_mode & S_IFMT == S_IFLNK {
      add(.error, "symbolicLink", "the path is a symbolic link", repair: "name the file itself")
    } else if named.st_mode & S_IFMT == S_IFREG {
      if Self.mayBeVault(file) {
        checkLinks(named)
        checkMount(of: file, named)
        if access.pathPolicy == .sharedWithGroup {
          problems += SharingExamination(file, named).problems
        } else if file.isSharedVault {
          // A repair would shut its other users out.
          add(
            .error, "groupAccess", "the group of the directory has access to the file, and --shared is not used",
            repair: "\(Hints.shared); otherwise \(permissions), as its owner")
        } else {
          checkFile(named)
          checkDirectory(of: file)
        }
        checkWriting(file)
      }
      checkLeftovers(of: file)
    }
  }

  /// Another file has been named by mistake: its modes are as its owner wants them. The check of its bytes reports it.
  private static func mayBeVault(_ file: ExaminedPath) -> Bool {
    file.start(VaultLocation.signature.count).map { VaultLocation.isVault($0) } ?? true
  }

  private mutating func add(_ severity: Problem.Severity, _ name: String, _ message: String, repair: String) {
    problems.append(Problem(severity, name, message, repair: repair))
  }

  private mutating func checkFile(_ status: stat) {
    let isOurs = status.st_uid == geteuid()
    if !isOurs, geteuid() != 0 {
      add(.error, "foreignFile", "the file belongs to a different user", repair: "run as its owner")
    }
    if status.st_mode & 0o077 != 0 {
      add(
        .error, "fileMode", "group or others have access to the file: its mode is \(octal(status.st_mode))",
        repair: isOurs ? permissions : "\(permissions), as its owner")
    }
  }

  private mutating func checkLinks(_ status: stat) {
    if status.st_nlink > 1 {
      add(
        .error, "hardLinks", "the file has \(status.st_nlink) hard links; writing would separate them",
        repair: "remove the other links; find -samefile lists them")
    }
  }

  private mutating func checkMount(of file: ExaminedPath, _ status: stat) {
    if status.st_nlink == 0 {
      add(
        .error, "frozen", "the file is mounted by itself and was replaced outside the mount; it no longer changes",
        repair: "mount the directory instead")
    } else if file.isMountPoint {
      // What cannot be written at all has a finding of its own.
      let writes =
        file.isWritable && !file.isOnReadOnlyFileSystem
        ? "values can be stored, but keys, slots and groups cannot be changed, and " : ""
      add(
        .advice, "mountedFile",
        "the file is mounted by itself: \(writes)the mount does not see that the file is replaced outside",
        repair: "mount the directory instead")
    }
  }

  private mutating func checkDirectory(of file: ExaminedPath) {
    guard let status = file.directory.status() else { return }
    if status.st_uid != geteuid(), status.st_uid != 0 {
      add(
        .error, "foreignDirectory", "the directory belongs to a different user",
        repair: file.status()?.st_uid == status.st_uid
          ? "run as its owner" : "move the vault to your own directory")
    } else if status.st_mode & 0o022 != 0 {
      // A shared directory must stay open for its other users.
      let isShared = status.st_mode & S_ISVTX != 0 || status.st_uid != geteuid()
      add(
        .error, "directoryMode",
        "group or others may write to the directory: its mode is \(octal(status.st_mode))",
        repair: isShared ? "move the vault to a private directory" : permissions)
    }
  }

  private mutating func checkWriting(_ file: ExaminedPath) {
    if file.isOnReadOnlyFileSystem {
      add(.advice, "readOnly", "the file system is read-only: the vault cannot be changed", repair: "mount it writable")
    } else if !file.isWritable {
      let isOurs = file.status()?.st_uid == geteuid()
      add(
        .advice, "readOnly", "the file is not writable",
        repair: isOurs ? "chmod u+rw \(shellPath(file.path))" : "run as its owner")
    } else if !file.directory.isWritable {
      let isOurs = file.directory.status()?.st_uid == geteuid()
      add(
        .advice, "readOnlyDirectory",
        "the directory is not writable: values can be stored, but keys, slots and groups cannot be changed",
        repair: isOurs ? "chmod u+w \(shellPath(file.directory.path))" : "run as the directory's owner")
    }
  }

  private mutating func checkLeftovers(of file: ExaminedPath) {
    if ExaminedPath(file.path + ".tmp").status(followingLinks: false) != nil {
      add(
        .advice, "earlierLeftover",
        "\(displayed(file.path)).tmp may be what an interrupted write of an earlier version left; no command uses it",
        repair: "remove the file if it is not yours")
    }
    let torn = tornNames(of: file)
    if !torn.isEmpty {
      add(
        .advice, "tornBytes", "\(listed(torn.map(displayed))) may have the bytes of a broken journal entry",
        repair: "check whether the changes of that time are present, then remove what is not yours")
    }
  }

  /// What has a name in which a write saves the bytes of a broken entry: `.torn`, then `.torn.2` and so on.
  private func tornNames(of file: ExaminedPath) -> [String] {
    let name = PathName.last(of: file.path) + ".torn"
    let ends = (PathName.names(in: file.directory.path) ?? []).filter { $0.hasPrefix(name) }.map {
      $0.dropFirst(name.count)
    }
    return ends.filter { $0.isEmpty || $0.first == "." && Int($0.dropFirst()) != nil }.sorted()
      .map { file.path + ".torn" + $0 }
  }
}
