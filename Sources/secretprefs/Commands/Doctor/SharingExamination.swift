internal import DurableFiles
internal import VaultCore

/// Checks group, modes and directory of a vault that a Unix group shares: `PathPolicy.sharedWithGroup`.
struct SharingExamination {
  private(set) var problems: [Problem] = []

  private let permissions = Repair.permissions.command

  /// - Parameter status: of the file at the place.
  init(_ file: ExaminedPath, _ status: stat) {
    let path = shellPath(file.path)
    let mode = "its mode is \(octal(status.st_mode))"
    if status.st_mode & 0o007 != 0 {
      add(
        .error, "fileMode", "others have access to the file: \(mode)",
        repair: status.st_uid == geteuid() ? permissions : "\(permissions), as its owner")
    }
    if status.st_mode & 0o060 != 0o060 {
      add(
        .warning, "groupMode", "the group cannot read and write the file: \(mode)",
        repair: "chmod 660 \(path), as its owner")
    }
    let place = file.directory
    guard let directory = place.status() else { return }
    if status.st_gid != directory.st_gid {
      add(
        .error, "fileGroup",
        "the file belongs to group \(status.st_gid), and its directory to group \(directory.st_gid)",
        repair: "chgrp \(directory.st_gid) \(path), as its owner")
    }
    check(directory, shellPath(place.path))
  }

  private mutating func check(_ directory: stat, _ path: String) {
    let mode = "its mode is \(octal(directory.st_mode))"
    if directory.st_mode & 0o002 != 0 {
      let isOurs = directory.st_uid == geteuid() && directory.st_mode & S_ISVTX == 0
      add(
        .error, "directoryMode", "others may write to the directory: \(mode)",
        repair: isOurs ? permissions : "chmod o-w \(path), as its owner, or move the vault to a directory of the group")
    }
    if directory.st_mode & 0o030 != 0o030 {
      add(
        .warning, "groupDirectory",
        "the group may not write to the directory, so only its owner can change keys, slots and groups: \(mode)",
        repair: "chmod 2770 \(path), as its owner")
    } else if directory.st_mode & S_ISVTX != 0 {
      add(
        .warning, "stickyDirectory",
        "with the sticky bit, only the owner of the file can change keys, slots and groups: \(mode)",
        repair: "chmod 2770 \(path), as its owner")
    } else if directory.st_mode & S_ISGID == 0 {
      add(
        .advice, "directoryGroup",
        "files that other programs create in the directory do not get its group: \(mode)",
        repair: "chmod g+s \(path), as its owner")
    }
  }

  private mutating func add(_ severity: Problem.Severity, _ name: String, _ message: String, repair: String) {
    problems.append(Problem(severity, name, message, repair: repair))
  }
}
