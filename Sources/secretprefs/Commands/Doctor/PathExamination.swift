internal import Glibc
internal import VaultCore

/// What the file system tells of a vault: kinds, owners, modes, names and leftovers (`Docs/Format.md` 9).
struct PathExamination {
  private(set) var problems: [Problem] = []

  private let permissions = "secretprefs doctor --repair permissions"

  /// - Parameter path: where something is.
  init(_ path: String) throws {
    let file = FilePlace(path)
    guard let named = file.status(followingLinks: false) else { throw ToolError.io("stat the vault", errno) }
    // What is neither a file nor a link to one, whoever reads it finds out.
    if named.st_mode & S_IFMT == S_IFLNK {
      add(.error, "symbolicLink", "the path is a symbolic link", repair: "name the file itself")
    } else if named.st_mode & S_IFMT == S_IFREG {
      judge(named)
      judgeDirectory(of: file)
      judgeWriting(file)
      judgeLeftovers(of: file)
    }
  }

  private mutating func add(_ severity: Problem.Severity, _ name: String, _ message: String, repair: String) {
    problems.append(Problem(severity, name, message, repair: repair))
  }

  private mutating func judge(_ status: stat) {
    let isOurs = status.st_uid == geteuid()
    if !isOurs, geteuid() != 0 {
      add(.error, "foreignFile", "the file belongs to somebody else", repair: "work as its owner")
    }
    if status.st_mode & 0o077 != 0 {
      add(
        .error, "fileMode", "group or others may use the file: its mode is \(octal(status.st_mode))",
        repair: isOurs ? permissions : "\(permissions), as its owner")
    }
    if status.st_nlink > 1 {
      add(
        .error, "hardLinks", "the file has \(status.st_nlink) names; writing would split them",
        repair: "remove the other names: find -samefile finds them")
    } else if status.st_nlink == 0 {
      add(
        .error, "frozen", "the file was replaced outside while it is mounted by itself; it will not change any more",
        repair: "mount its directory instead")
    }
  }

  private mutating func judgeDirectory(of file: FilePlace) {
    guard let status = file.directory.status() else { return }
    if status.st_uid != geteuid(), status.st_uid != 0 {
      add(
        .error, "foreignDirectory", "the directory belongs to somebody else", repair: "move the vault to one of yours")
    } else if status.st_mode & 0o022 != 0 {
      // What many share is not ours to close.
      let isShared = status.st_mode & S_ISVTX != 0 || status.st_uid != geteuid()
      add(
        .error, "directoryMode",
        "group or others may write to the directory: its mode is \(octal(status.st_mode))",
        repair: isShared ? "move the vault to a directory of its own" : permissions)
    }
  }

  private mutating func judgeWriting(_ file: FilePlace) {
    if file.isOnReadOnlyFileSystem {
      add(.advice, "readOnly", "the file system is read-only: nothing can be written", repair: "mount it writable")
    } else if access(file.path, W_OK) != 0 {
      add(.advice, "readOnly", "the file may not be written", repair: "work as its owner")
    } else if access(file.directory.path, W_OK) != 0 {
      add(
        .advice, "readOnlyDirectory",
        "the directory may not be written: values can be stored, but keys, slots and groups not changed",
        repair: "work as the directory's owner")
    }
  }

  private mutating func judgeLeftovers(of file: FilePlace) {
    if file.hasLeftover {
      add(
        .warning, "leftover", "a temporary file of a write that did not finish lies beside the vault",
        repair: "secretprefs compact, which says so if it may be something else")
    }
    if FilePlace(file.path + ".torn").status(followingLinks: false) != nil {
      add(
        .advice, "tornBytes", "the bytes of a broken journal entry are kept in \(displayed(file.path)).torn",
        repair: "look whether the changes of that time are there; then remove the file")
    }
  }
}
